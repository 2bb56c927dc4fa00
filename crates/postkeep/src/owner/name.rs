//! Names of mailboxes as path components, reversible, and safe on every file system: whatever a mailbox is called, its
//! component is lower-case ASCII without a separator, is hidden nowhere, and is no device. It touches no file.
//!
//! What is not a lower-case letter, a digit or one of `-_@.` is written as `%` and two hexadecimal digits. A name too
//! long for one component goes on in the next: a `%` at the end of a component says so.

use std::fmt::Write as _;

#[cfg(test)]
mod tests;

/// Bytes of one component, room for an ending such as `.mbox` left: file systems take 255.
const COMPONENT_MAX: usize = 200;
/// Bytes of a name: a mailbox's longest, whole address, quotes and backslashes, is shorter.
const NAME_MAX: usize = 512;

/// Directories of a Maildir, and names that Windows keeps for devices, whatever ending they carry. A mailbox of such a
/// name is written with an escape.
const RESERVED: [&str; 7] = ["cur", "new", "tmp", "con", "prn", "aux", "nul"];

/// Why a name is no path, or a path no name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum BadPath {
    /// Longer than any mailbox is called.
    #[error("its name is longer than a mailbox's can be")]
    TooLong,
    /// A `%` that no two hexadecimal digits follow, or what is not UTF-8.
    #[error("its name cannot be read: a % stands for a byte, as %20 does for a space")]
    Encoding,
}

/// The components for a name: nearly always one, never none.
pub(super) fn components(name: &str) -> Result<Vec<String>, BadPath> {
    if name.len() > NAME_MAX || name.is_empty() {
        return Err(BadPath::TooLong);
    }
    let mut all = Vec::new();
    let mut component = String::new();
    for (index, byte) in name.bytes().enumerate() {
        if component.len() > COMPONENT_MAX - 4 {
            component.push('%');
            all.push(std::mem::take(&mut component));
        }
        let begins = component.is_empty();
        let ends = index + 1 == name.len();
        if is_plain(byte, begins, ends) && !(begins && is_reserved(&name[index..])) {
            component.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(component, "%{byte:02x}");
        }
    }
    all.push(component);
    Ok(all)
}

/// The name that components stand for, the last of them last. Of a component before it that goes on it is the end.
pub(super) fn name<'a>(components: impl DoubleEndedIterator<Item = &'a str>) -> Result<String, BadPath> {
    let mut parts: Vec<&str> = Vec::new();
    for (index, component) in components.rev().enumerate() {
        match component.strip_suffix('%') {
            Some(part) if index > 0 => parts.push(part),
            None if index == 0 => parts.push(component),
            None => break,
            Some(_) => return Err(BadPath::Encoding),
        }
        if parts.len() * COMPONENT_MAX > NAME_MAX * 4 {
            return Err(BadPath::TooLong);
        }
    }
    let mut bytes = Vec::new();
    for part in parts.iter().rev() {
        decode(part, &mut bytes)?;
    }
    if bytes.len() > NAME_MAX {
        return Err(BadPath::TooLong);
    }
    String::from_utf8(bytes).map_err(|_| BadPath::Encoding)
}

/// What the escapes of a text stand for.
pub(super) fn decode(text: &str, into: &mut Vec<u8>) -> Result<(), BadPath> {
    let mut pieces = text.split('%');
    into.extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2).ok_or(BadPath::Encoding)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(BadPath::Encoding);
        }
        into.push(u8::from_str_radix(digits, 16).map_err(|_| BadPath::Encoding)?);
        into.extend_from_slice(rest.as_bytes());
    }
    Ok(())
}

/// A dot at the beginning hides a file or climbs, at the end Windows drops it; a dash at the beginning makes an option.
fn is_plain(byte: u8, begins: bool, ends: bool) -> bool {
    match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'_' | b'@' => true,
        b'.' => !begins && !ends,
        b'-' => !begins,
        _ => false,
    }
}

/// Whether a component that begins so is taken for something else: `con`, `con.txt`, `com1`, `lpt9.log`.
fn is_reserved(rest: &str) -> bool {
    let stem = rest.split('.').next().unwrap_or_default();
    let numbered = |port| stem.strip_prefix(port).is_some_and(|number| number.len() == 1);
    RESERVED.contains(&stem) || numbered("com") || numbered("lpt")
}
