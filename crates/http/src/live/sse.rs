//! Server-sent events as bytes: a field a line, an empty line behind each event.
//!
//! Data is JSON of our own writer, which escapes every control character, and an id is made of cursors, so neither can
//! hold the end of a line. It knows no mail.

use crate::json::Json;

/// Events that are sent together.
#[derive(Default)]
pub(super) struct Frames(Vec<u8>);

impl Frames {
    /// One event.
    pub(super) fn event(&mut self, name: &'static str, id: &str, data: Json) {
        self.field("event", name.as_bytes());
        self.field("id", id.as_bytes());
        self.field("data", &data.into_bytes());
        self.0.push(b'\n');
    }

    /// A sign of life, which no reader hears of, and where it may go on: an id without data is remembered and raises no
    /// event. So a quiet stream can be gone on from as well as a busy one.
    pub(super) fn beat(&mut self, id: &str) {
        self.0.extend_from_slice(b":\n");
        self.field("id", id.as_bytes());
        self.0.push(b'\n');
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn field(&mut self, name: &str, value: &[u8]) {
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b": ");
        self.0.extend_from_slice(value);
        self.0.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_a_line_whatever_it_holds() {
        let mut frames = Frames::default();
        let mut data = Json::with_capacity(0);
        data.raw("{\"subject\":").string("a\r\ndata: forged\n\nevent: delete\u{85}\u{2028}").raw("}");
        frames.event("deliver", "AQ.AR", data);
        frames.beat("AS");
        let text = String::from_utf8(frames.into_bytes()).unwrap();
        let expected = "event: deliver\nid: AQ.AR\n\
            data: {\"subject\":\"a\\r\\ndata: forged\\n\\nevent: delete\u{85}\u{2028}\"}\n\n:\nid: AS\n\n";
        assert_eq!(text, expected);
    }
}
