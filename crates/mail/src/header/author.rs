//! The mailboxes of an address list (RFC 5322 §3.4, §4.4): names, groups, comments, routes. One pass, no recursion.

use crate::address::{self, Address, Charset};
use crate::summary::{Author, clean};

use super::words;

#[cfg(test)]
mod tests;

/// The first address that can be read in an unfolded field value. Structure comes before decoding, so that an encoded
/// word can bring neither a comma nor an address.
pub(crate) fn first(value: &str) -> Option<Author> {
    plain(value).or_else(|| all(value).next())
}

/// Every address that can be read in an unfolded field value, those of groups among the others.
pub fn all(value: &str) -> impl Iterator<Item = Author> {
    List { rest: value, one: Candidate::default(), is_over: false }
}

/// `Name <user@host>` or `user@host` in plain words, which most are: nothing is made but the result.
fn plain(value: &str) -> Option<Author> {
    let is_odd = |byte: u8| !matches!(byte, b' '..=b'~') || b"()\"\\,;:[]=".contains(&byte);
    if value.bytes().any(is_odd) || value.contains("  ") {
        return None;
    }
    let (name, email) = match value.split_once('<') {
        Some((name, rest)) => (name.trim(), rest.strip_suffix('>')?),
        None => ("", value),
    };
    address::is_plain(email).then(|| Author { name: name.to_owned(), email: email.to_owned() })
}

/// A list as far as it was read.
struct List<'a> {
    rest: &'a str,
    one: Candidate,
    is_over: bool,
}

impl Iterator for List<'_> {
    type Item = Author;

    fn next(&mut self) -> Option<Author> {
        while let Some(special) = self.rest.bytes().next() {
            let rest = self.rest;
            let mut found = None;
            let length = match special {
                b'(' => self.one.comment(rest),
                b'"' => self.one.quoted(rest),
                b'<' => {
                    let length = angle_length(rest);
                    found = self.one.angle(&rest[1..length]);
                    length
                }
                b',' | b';' => {
                    found = std::mem::take(&mut self.one).bare();
                    1
                }
                // What came before was the name of a group.
                b':' => {
                    self.one = Candidate::default();
                    1
                }
                b' ' | b'\t' => self.one.blank(),
                _ => self.one.atom(rest),
            };
            self.rest = &rest[length..];
            if found.is_some() {
                return found;
            }
        }
        let is_last = !std::mem::replace(&mut self.is_over, true);
        std::mem::take(&mut self.one).bare().filter(|_| is_last)
    }
}

/// One member of the list, as far as it was read.
#[derive(Default)]
struct Candidate {
    /// Its words as a display name, quotes gone, blanks kept.
    phrase: String,
    /// Its words as an address: quotes kept, blanks gone.
    address: String,
    comment: String,
    after_blank: bool,
    /// Two words stood apart: it is no address without angle brackets.
    is_phrase: bool,
    /// Its address was read; what stands behind it says nothing.
    is_done: bool,
}

impl Candidate {
    fn blank(&mut self) -> usize {
        self.after_blank = true;
        1
    }

    /// A comment may nest (RFC 5322 §3.2.2); one without an end takes the rest.
    fn comment(&mut self, rest: &str) -> usize {
        let mut depth = 0_usize;
        let mut bytes = rest.bytes().enumerate();
        let mut length = rest.len();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'\\' => drop(bytes.next()),
                b'(' => depth += 1,
                b')' if depth == 1 => {
                    length = at + 1;
                    break;
                }
                b')' => depth -= 1,
                _ => {}
            }
        }
        if self.comment.is_empty() {
            self.comment = rest[1..length].strip_suffix(')').unwrap_or(&rest[1..length]).to_owned();
        }
        self.blank();
        length
    }

    fn quoted(&mut self, rest: &str) -> usize {
        let mut text = String::new();
        let mut letters = rest.char_indices().skip(1);
        let mut length = rest.len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    length = at + 1;
                    break;
                }
                '\\' => text.extend(letters.next().map(|(_, escaped)| escaped)),
                _ => text.push(letter),
            }
        }
        self.word(&text, &rest[..length]);
        length
    }

    /// Everything up to the next special. An encoded word stays whole, whatever it holds, and so does a literal in
    /// brackets with its colons.
    fn atom(&mut self, rest: &str) -> usize {
        let bytes = rest.as_bytes();
        let special = |byte: &u8| b"(\"<,;:[ \t".contains(byte);
        let length = words::length(bytes).unwrap_or_else(|| match bytes[0] {
            b'[' => memchr::memchr(b']', bytes).map_or(bytes.len(), |end| end + 1),
            _ => bytes.iter().position(special).unwrap_or(bytes.len()),
        });
        self.word(&rest[..length], &rest[..length]);
        length
    }

    fn word(&mut self, shown: &str, written: &str) {
        if self.after_blank && !self.phrase.is_empty() {
            self.phrase.push(' ');
            let joins = |byte: Option<u8>| matches!(byte, Some(b'@' | b'.'));
            self.is_phrase |= !joins(self.address.bytes().last()) && !joins(written.bytes().next());
        }
        self.after_blank = false;
        self.phrase.push_str(shown);
        self.address.push_str(written);
    }

    /// The author when an address in angle brackets follows the name.
    fn angle(&mut self, inside: &str) -> Option<Author> {
        if self.is_done {
            return None;
        }
        let inside = inside.strip_suffix('>').unwrap_or(inside).trim();
        // A source route goes, as it does in SMTP.
        let route = if inside.starts_with('@') { inside.find(':').map_or(0, |colon| colon + 1) } else { 0 };
        let email = email(&inside[route..])?;
        let name = if self.phrase.is_empty() { &self.comment } else { &self.phrase };
        self.is_done = true;
        Some(Author { name: shown(name), email })
    }

    /// The author when there was nothing but an address, and maybe a comment that tells the name.
    fn bare(&self) -> Option<Author> {
        if self.is_phrase || self.is_done {
            return None;
        }
        Some(Author { email: email(&self.address)?, name: shown(&self.comment) })
    }
}

/// A name as people read it.
fn shown(name: &str) -> String {
    clean(if name.contains("=?") { words::decode(name.as_bytes()) } else { name.to_owned() })
}

/// Up to the closing bracket outside quotes, or all.
fn angle_length(rest: &str) -> usize {
    let mut quoted = false;
    let mut bytes = rest.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if quoted => drop(bytes.next()),
            b'>' if !quoted => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// An address that is one by SMTP's grammar, or at least looks like one: headers are written more loosely.
fn email(text: &str) -> Option<String> {
    if let Ok(address) = Address::parse(text, Charset::Utf8) {
        return Some(address.to_string());
    }
    let (local, domain) = text.split_once('@')?;
    let is_odd = |letter: char| letter.is_control() || letter.is_whitespace() || "<>\"\\(),;:[]".contains(letter);
    let is_sound = !local.is_empty() && !domain.is_empty() && !domain.contains('@') && !text.contains(is_odd);
    is_sound.then(|| text.to_owned())
}
