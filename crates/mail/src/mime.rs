//! A message taken apart when it is read: header fields, text, HTML, attachments. One reader for all who read.
//!
//! What it makes of a message is never stored: the raw bytes stay the truth.

use std::borrow::Cow;

use bytes::Bytes;

use crate::charset;
use crate::header;

mod entity;
pub(crate) mod filename;
pub(crate) mod html;
mod params;
mod sniff;
#[cfg(test)]
mod tests;
pub(crate) mod walk;

pub(crate) use entity::{Entity, Kind};
pub use sniff::sniff;
pub use walk::{DEPTH_MAX, PARTS_MAX};

/// A message as readers see it. Made on demand from the raw bytes; the raw bytes stay the truth.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct View {
    /// Top-level header fields in order: name in canonical case, value unfolded, not RFC 2047-decoded.
    pub header: Vec<(String, String)>,
    /// The text, decoded to UTF-8, LF line ends; rendered from the HTML when there is no text part.
    pub text: String,
    /// The HTML, decoded to UTF-8, LF line ends; empty when there is none.
    pub html: String,
    /// The attachments in order of appearance.
    pub attachments: Vec<Attachment>,
}

/// One attachment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attachment {
    /// Decoded, without a path, never empty.
    pub filename: String,
    /// Media type in lower case without parameters, as `image/png`.
    pub content_type: String,
    /// The decoded bytes.
    pub content: Bytes,
}

impl View {
    /// Take a message apart. Total: any bytes give a view, in linear time and bounded depth.
    pub fn of(raw: &[u8]) -> Self {
        let header = header::fields(raw).map(|field| (field.canonical_name(), field.text())).collect();
        let (mut text, mut html, mut attachments) = (None, None, Vec::new());
        for leaf in walk::leaves(raw) {
            if leaf.is_attachment {
                attachments.push(Attachment::of(leaf.entity, leaf.content));
            } else if leaf.entity.kind == Kind::Html {
                html = html.or_else(|| Some(leaf.entity.text(leaf.content)));
            } else if leaf.is_shown {
                append(&mut text, leaf.entity.text(leaf.content));
            }
        }
        let html = html.unwrap_or_default();
        let text = text.unwrap_or_else(|| html::render(&html));
        Self { header, text, html, attachments }
    }
}

impl Attachment {
    fn of(entity: Entity, content: &[u8]) -> Self {
        let filename = filename::safe(entity.name.as_deref().unwrap_or_default(), &entity.content_type);
        let content = Bytes::from(entity.encoding.decode(content).into_owned());
        Self { filename, content_type: entity.content_type, content }
    }
}

impl Entity {
    /// The content as text: transfer decoding, charset, line ends.
    fn text(&self, content: &[u8]) -> String {
        self.text_of(&self.encoding.decode(content))
    }

    /// The text of content whose transfer encoding is undone.
    pub(crate) fn text_of(&self, bytes: &[u8]) -> String {
        let charset = self.charset.as_deref().and_then(charset::named);
        with_lf(charset::decode(charset, bytes))
    }
}

/// Text parts are joined by one blank line.
pub(crate) fn append(text: &mut Option<String>, more: String) {
    match text {
        None => *text = Some(more),
        Some(text) if text.is_empty() => *text = more,
        Some(text) => {
            text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
            text.push_str(&more);
        }
    }
}

/// CRLF, and a CR alone, become LF.
fn with_lf(text: Cow<'_, str>) -> String {
    let Some(mut at) = memchr::memchr(b'\r', text.as_bytes()) else {
        return text.into_owned();
    };
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    loop {
        out.push_str(&text[done..at]);
        done = at + 1;
        if text.as_bytes().get(done) != Some(&b'\n') {
            out.push('\n');
        }
        match memchr::memchr(b'\r', &text.as_bytes()[done..]) {
            Some(found) => at = done + found,
            None => break,
        }
    }
    out.push_str(&text[done..]);
    out
}
