//! Bytes to text: every charset a mail may name, decoded here and nowhere else, always to UTF-8.

use std::borrow::Cow;

use encoding_rs::{Encoding, REPLACEMENT, UTF_16BE, UTF_16LE, WINDOWS_1252};

#[cfg(test)]
mod tests;

/// The charset of a label. UTF-7 is none of them on purpose: it would turn harmless text into markup.
pub(crate) fn named(label: &[u8]) -> Option<&'static Encoding> {
    let label = label.trim_ascii();
    // Those who say ASCII and send more mostly send UTF-8, so it is looked at like an unnamed charset.
    if label.eq_ignore_ascii_case(b"us-ascii") || label.eq_ignore_ascii_case(b"ascii") {
        return None;
    }
    Encoding::for_label(label).filter(|found| *found != REPLACEMENT)
}

/// Decode; what is invalid becomes U+FFFD. An unnamed or unknown charset is UTF-8 if it can be, else Windows-1252.
pub(crate) fn decode<'a>(charset: Option<&'static Encoding>, bytes: &'a [u8]) -> Cow<'a, str> {
    match charset {
        None => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)),
            Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0,
        },
        // Only here may a byte order mark overrule the label.
        Some(utf16) if utf16 == UTF_16LE || utf16 == UTF_16BE => utf16.decode(bytes).0,
        Some(other) => other.decode_with_bom_removal(bytes).0,
    }
}
