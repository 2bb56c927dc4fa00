//! Server-sent events out of pieces of bytes, within limits. It knows no event by name.

use std::collections::VecDeque;

/// Bytes of one event.
const EVENT_MAX: usize = 4 << 20;

/// One event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sent {
    pub(super) event: String,
    pub(super) id: Option<String>,
    pub(super) data: String,
}

/// What has come so far.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// A line that has not ended.
    line: Vec<u8>,
    /// An event that has not ended.
    open: Sent,
    whole: VecDeque<Sent>,
}

impl Reader {
    /// The next whole event.
    pub(super) fn take(&mut self) -> Option<Sent> {
        self.whole.pop_front()
    }

    /// Take in some bytes.
    pub(super) fn feed(&mut self, piece: &[u8]) -> Result<(), &'static str> {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.len() + self.open.data.len() > EVENT_MAX {
                return Err("an event that is too large");
            }
            if self.line.last() == Some(&b'\n') {
                let line = std::mem::take(&mut self.line);
                self.line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']));
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &str) {
        if line.is_empty() {
            let sent = std::mem::take(&mut self.open);
            if !sent.data.is_empty() || !sent.event.is_empty() {
                self.whole.push_back(sent);
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.open.event = value.to_owned(),
            "id" => self.open.id = Some(value.to_owned()),
            "data" => {
                let parting = if self.open.data.is_empty() { "" } else { "\n" };
                self.open.data.push_str(parting);
                self.open.data.push_str(value);
            }
            // Comments, which begin with a colon, keep the connection alive.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str =
        ": hi\n\nevent: hello\ndata: {\"a\":1}\n\n:\n\nevent:deliver\r\nid: AQ\r\ndata: x\r\ndata: é\r\n\r\nevent: cut";

    #[test]
    fn events_come_whole_however_the_bytes_are_cut() {
        for size in 1..STREAM.len() {
            let mut reader = Reader::default();
            let mut events = Vec::new();
            for piece in STREAM.as_bytes().chunks(size) {
                reader.feed(piece).unwrap();
                events.extend(std::iter::from_fn(|| reader.take()));
            }
            let hello = Sent { event: "hello".into(), id: None, data: "{\"a\":1}".into() };
            let deliver = Sent { event: "deliver".into(), id: Some("AQ".into()), data: "x\né".into() };
            assert_eq!(events, [hello, deliver], "{size}");
        }
    }

    #[test]
    fn an_endless_event_is_no_event() {
        let mut reader = Reader::default();
        let line = format!("data: {}\n", "x".repeat(1 << 20));
        assert!((0..5).any(|_| reader.feed(line.as_bytes()).is_err()));
        let mut reader = Reader::default();
        assert!((0..5).any(|_| reader.feed(&[b'x'; 1 << 20]).is_err()));
    }
}
