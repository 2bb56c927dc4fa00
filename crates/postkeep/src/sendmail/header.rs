//! The header of a message as it is to be sent: its fields one by one, each with its folds and line ends, so that one can
//! be left out and the others stay to the octet. It ends where the server's reader says too: at the first empty line, or
//! before the first line that is no field.

use memchr::memchr;

/// Octets of a header. All of it is read: a Bcc must be found wherever it stands.
pub(super) const HEADER_MAX: usize = 1 << 20;

/// The header is larger than that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the header is larger than {} KiB; send fewer or shorter fields", HEADER_MAX >> 10)]
pub(super) struct TooLarge;

/// A message taken apart.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub(super) fields: Vec<Field<'a>>,
    /// What stands behind the header, with the empty line if there is one.
    pub(super) rest: &'a [u8],
}

/// One field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    /// Behind the colon, with its folds.
    pub(super) value: &'a [u8],
    /// All of it, with its line end.
    pub(super) whole: &'a [u8],
}

/// Take a message apart.
pub(super) fn read(raw: &[u8]) -> Result<Message<'_>, TooLarge> {
    let mut fields = Vec::new();
    let mut rest = raw;
    while let Some((name, colon)) = field_name(rest) {
        let end = field_end(rest, colon);
        fields.push(Field { name, value: &rest[colon + 1..end], whole: &rest[..end] });
        rest = &rest[end..];
        if raw.len() - rest.len() > HEADER_MAX {
            return Err(TooLarge);
        }
    }
    Ok(Message { fields, rest })
}

impl Field<'_> {
    /// Whether this is the field of that name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

impl Message<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.is(name))
    }

    /// Whether an empty line parts header and body, or nothing follows.
    pub(super) fn is_parted(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with(b"\n") || self.rest.starts_with(b"\r\n")
    }
}

/// The name of the field that a line begins with, and where its colon is. White space before the colon is forgiven
/// (RFC 5322 §4.5.8); two hyphens begin a delimiter and no field.
fn field_name(line: &[u8]) -> Option<(&str, usize)> {
    let length = line.iter().take(HEADER_MAX).position(|byte| *byte == b':' || !byte.is_ascii_graphic())?;
    let blanks = line[length..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if length == 0 || line.starts_with(b"--") || line.get(length + blanks) != Some(&b':') {
        return None;
    }
    Some((std::str::from_utf8(&line[..length]).ok()?, length + blanks))
}

/// Behind the line end that no fold follows.
fn field_end(text: &[u8], colon: usize) -> usize {
    let mut end = colon;
    loop {
        end = memchr(b'\n', &text[end..]).map_or(text.len(), |found| end + found + 1);
        if !matches!(text.get(end), Some(b' ' | b'\t')) {
            return end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, names: &[&str], rest: &str) {
        let message = read(raw.as_bytes()).unwrap();
        assert_eq!(message.fields.iter().map(|field| field.name).collect::<Vec<_>>(), names, "{raw:?}");
        assert_eq!(message.rest, rest.as_bytes(), "{raw:?}");
        let whole: Vec<u8> = message.fields.iter().flat_map(|field| field.whole).copied().collect();
        assert_eq!([&whole, message.rest].concat(), raw.as_bytes(), "nothing is lost");
    }

    #[test]
    fn fields_end_where_the_body_begins() {
        check("", &[], "");
        check("hello\r\n", &[], "hello\r\n");
        check("\r\nA: b\r\n", &[], "\r\nA: b\r\n");
        check("A: b\r\nB:\r\n c\r\n\td\r\n\r\nbody\r\n", &["A", "B"], "\r\nbody\r\n");
        check("A: b\n\nbody", &["A"], "\nbody");
        check("A : b\r\nno field\r\nB: c\r\n", &["A"], "no field\r\nB: c\r\n");
        check("A: b", &["A"], "");
        check(" A: b\r\n", &[], " A: b\r\n");
        check("A: b\r\n--x: y\r\n", &["A"], "--x: y\r\n");
        check("Ä: b\r\n", &[], "Ä: b\r\n");
    }

    #[test]
    fn a_header_is_bounded() {
        let fold = format!("A: {}\r\n", "x".repeat(HEADER_MAX - 5));
        assert_eq!(fold.len(), HEADER_MAX);
        assert_eq!(read(fold.as_bytes()).unwrap().fields.len(), 1);
        assert_eq!(read(format!("{fold}B: c\r\n").as_bytes()).unwrap_err(), TooLarge);
        assert_eq!(read("A: b\r\n".repeat(HEADER_MAX).as_bytes()).unwrap_err(), TooLarge);
    }
}
