//! The local part alone: a dot-string or a quoted string (RFC 5321 §4.1.2), read without its quoting and written back.

use std::borrow::Cow;

use super::{BadAddress, LOCAL_MAX, is_blank, is_forbidden};

/// A local part at the start of a text, and what stands behind it.
pub(crate) struct Local<'a> {
    /// Without its quoting, never empty, at most [`LOCAL_MAX`] octets.
    pub(crate) name: Cow<'a, str>,
    /// From the `@` on, or empty.
    pub(crate) rest: &'a str,
}

/// Read the local part that a text begins with.
pub(crate) fn read(text: &str) -> Result<Local<'_>, BadAddress> {
    let local = if text.starts_with('"') { quoted(text)? } else { plain(text)? };
    if local.name.len() > LOCAL_MAX { Err(BadAddress::TooLong) } else { Ok(local) }
}

fn plain(text: &str) -> Result<Local<'_>, BadAddress> {
    let (name, rest) = text.split_at(memchr::memchr(b'@', text.as_bytes()).unwrap_or(text.len()));
    if is_dot_string(name) { Ok(Local { name: Cow::Borrowed(name), rest }) } else { Err(BadAddress::Syntax) }
}

/// A text that opens with a quote. An empty quoted string is refused: it could name nothing.
fn quoted(text: &str) -> Result<Local<'_>, BadAddress> {
    let mut name = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        let letter = match letter {
            '"' if name.is_empty() => break,
            '"' => return Ok(Local { name: Cow::Owned(name), rest: &text[at + 1..] }),
            '\\' => letters.next().ok_or(BadAddress::Syntax)?.1,
            plain => plain,
        };
        if is_forbidden(letter) {
            break;
        }
        name.push(letter);
    }
    Err(BadAddress::Syntax)
}

/// Whether a local part can stand without quotes.
fn is_dot_string(text: &str) -> bool {
    let mut atom_open = false;
    for byte in text.bytes() {
        match byte {
            b'.' if !atom_open => return false,
            b'.' => atom_open = false,
            _ if is_atext(byte) => atom_open = true,
            _ => return false,
        }
    }
    atom_open && (text.is_ascii() || !text.chars().any(is_blank))
}

/// RFC 5322 §3.2.3 `atext`, and by RFC 6531 §3.3 everything beyond ASCII.
fn is_atext(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

/// A local part as it must stand before an `@`.
pub(crate) fn quote(name: &str) -> Cow<'_, str> {
    if is_dot_string(name) {
        return Cow::Borrowed(name);
    }
    let mut quoted = String::with_capacity(name.len() + 2);
    quoted.push('"');
    for letter in name.chars() {
        if matches!(letter, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted.push('"');
    Cow::Owned(quoted)
}
