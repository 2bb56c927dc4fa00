//! The header block of a message: where it ends, its fields in order, unfolded. The one reader of headers: the summary
//! of a message and its view see the same fields.
//!
//! A header ends at the first empty line, or before the first line that is no field: what follows is body, as mail
//! servers have it that put the missing empty line there.

use std::borrow::Cow;

use memchr::memchr;

mod author;
#[cfg(test)]
mod tests;
mod words;

pub use author::all as authors;
pub(crate) use author::first as first_author;
pub use words::decode as decode_words;
pub(crate) use words::hex;

/// Fields that are read; the raw message has them all.
pub const FIELDS_MAX: usize = 1000;
/// Octets of a header that are read.
pub const PARSED_MAX: usize = 100_000;

/// One header field, not yet unfolded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field<'a> {
    /// As written: printable ASCII without a colon, never empty.
    pub name: &'a str,
    /// Folds kept, without the white space around it.
    pub value: &'a [u8],
}

/// The fields of a header in order, at most [`FIELDS_MAX`] of them and from at most [`PARSED_MAX`] octets.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    scan: Scan<'a>,
    left: usize,
}

/// The fields of the header that `raw` begins with.
pub fn fields(raw: &[u8]) -> Fields<'_> {
    Fields { scan: Scan { raw, at: 0 }, left: FIELDS_MAX }
}

/// How many `Received` fields a header has, in any spelling: a message that has many runs in a loop.
pub fn received_count(raw: &[u8]) -> usize {
    Scan { raw, at: 0 }.filter(|field| field.is("Received")).count()
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let start = self.scan.at;
        if self.left == 0 || start >= PARSED_MAX {
            return None;
        }
        self.left -= 1;
        let mut field = self.scan.next()?;
        let room = PARSED_MAX - start;
        field.value = &field.value[..field.value.len().min(room)];
        Some(field)
    }
}

impl Fields<'_> {
    /// Where the body begins. Fields that were not read for their number are passed over.
    pub fn body(mut self) -> usize {
        while self.scan.next().is_some() {}
        let rest = &self.scan.raw[self.scan.at..];
        self.scan.at + empty_line(rest).unwrap_or(0)
    }
}

impl Field<'_> {
    /// Whether this is the field of that name.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The value with each fold made one space; octets that are no UTF-8 become U+FFFD.
    pub fn text(&self) -> String {
        match unfold(self.value) {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    /// The name with capitals at the start and after each hyphen, as `Message-Id`.
    pub fn canonical_name(&self) -> String {
        let mut at_start = true;
        let case = |letter: char| {
            let cased = if at_start { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
            at_start = letter == '-';
            cased
        };
        self.name.chars().map(case).collect()
    }
}

/// All fields, without a limit; it stays where the header ends.
#[derive(Clone, Debug)]
struct Scan<'a> {
    raw: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Scan<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let rest = &self.raw[self.at..];
        let (name, colon) = field_name(rest)?;
        let mut end = colon;
        loop {
            end = memchr(b'\n', &rest[end..]).map_or(rest.len(), |found| end + found + 1);
            if !matches!(rest.get(end), Some(b' ' | b'\t')) {
                break;
            }
        }
        self.at += end;
        Some(Field { name, value: rest[colon + 1..end].trim_ascii() })
    }
}

/// The length of the empty line that a text begins with.
fn empty_line(text: &[u8]) -> Option<usize> {
    match text {
        [b'\n', ..] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        _ => None,
    }
}

/// The name of the field that a line begins with and where its colon is. White space before the colon is forgiven
/// (RFC 5322 §4.5.8); two hyphens begin a delimiter, whose boundary may hold a colon, and no field.
fn field_name(line: &[u8]) -> Option<(&str, usize)> {
    let length = line.iter().position(|byte| *byte == b':' || !byte.is_ascii_graphic())?;
    let blanks = line[length..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if length == 0 || line.starts_with(b"--") || line.get(length + blanks) != Some(&b':') {
        return None;
    }
    Some((std::str::from_utf8(&line[..length]).ok()?, length + blanks))
}

/// Each fold, white space around it included, becomes one space (RFC 5322 §2.2.3).
pub fn unfold(value: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'\n', value).is_none() {
        return Cow::Borrowed(value);
    }
    let mut flat = Vec::with_capacity(value.len());
    for line in value.split(|byte| *byte == b'\n') {
        if !flat.is_empty() {
            flat.push(b' ');
        }
        flat.extend_from_slice(line.trim_ascii());
    }
    Cow::Owned(flat)
}
