//! Where a message is broken, in words for the person who sent it. Mail is read all the same.

use crate::charset;
use crate::header;
use crate::mime::Entity;
use crate::mime::walk::{DEPTH_MAX, Fault, PARTS_MAX};

/// Defects that are told of one message.
pub(super) const DEFECTS_MAX: usize = 20;
/// Letters of a word of the message that a defect repeats.
const WORD_MAX: usize = 40;

/// A field that may stand once stands more often.
pub(super) fn twice(name: &str, times: usize) -> String {
    format!("header: {name} stands {times} times; the first one counts")
}

/// A field that is there cannot be read.
pub(super) fn unreadable(name: &str, expected: &str) -> String {
    format!("header: {name} cannot be read; write {expected}")
}

/// The header does not end with an empty line.
pub(super) fn header_end(raw: &[u8]) -> Option<String> {
    let body = header::fields(raw).body();
    let head = &raw[..body];
    let is_empty_line = matches!(head, b"\n" | b"\r\n") || head.ends_with(b"\n\n") || head.ends_with(b"\n\r\n");
    (!is_empty_line && body < raw.len())
        .then(|| "header: it ends at a line that is no field; put an empty line between header and body".to_owned())
}

/// The structure is broken.
pub(super) fn structure(fault: &Fault) -> String {
    match fault {
        Fault::NoBoundary(part) => format!("part {part}: a multipart without a boundary is read as text"),
        Fault::NoParts(part) => format!("part {part}: the boundary of this multipart never comes, it is read as text"),
        Fault::NotClosed(part) => format!("part {part}: this multipart does not end with its boundary and two hyphens"),
        Fault::TooDeep(part) => {
            format!("part {part}: more than {DEPTH_MAX} multiparts stand around it, it is not opened")
        }
        Fault::TooMany => format!("there are more than {PARTS_MAX} parts; the others are only in the source"),
    }
}

/// A transfer encoding that is unknown, or base64 that is none.
pub(super) fn encoding(part: &str, entity: &Entity, content: &[u8]) -> Option<String> {
    if let Some(name) = &entity.odd_encoding {
        return Some(format!(
            "part {part}: the transfer encoding {} is unknown, its content is left as it is",
            word(name)
        ));
    }
    let is_foreign =
        |byte: &u8| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'/' | b'=' | b'\r' | b'\n' | b' ' | b'\t');
    let is_broken = entity.encoding == mail_parser::Encoding::Base64 && content.iter().any(is_foreign);
    is_broken.then(|| format!("part {part}: there are characters in its base64 that are none of base64"))
}

/// A charset that is unknown, or octets that are none of it.
pub(super) fn charset(part: &str, entity: &Entity, text: &str) -> Option<String> {
    let label = entity.charset.as_deref().unwrap_or_default().trim_ascii();
    let is_ascii = label.eq_ignore_ascii_case(b"us-ascii") || label.eq_ignore_ascii_case(b"ascii");
    if !label.is_empty() && !is_ascii && charset::named(label).is_none() {
        let name = word(&String::from_utf8_lossy(label));
        return Some(format!("part {part}: the charset {name} is unknown, it is read as UTF-8 or Windows-1252"));
    }
    let is_broken = !label.is_empty() && text.contains('\u{fffd}');
    is_broken.then(|| format!("part {part}: there are octets that are no {}", word(&String::from_utf8_lossy(label))))
}

/// A word of the message, so that it can neither be long nor hide anything.
fn word(text: &str) -> String {
    let shown: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(WORD_MAX).collect();
    format!("{shown:?}")
}
