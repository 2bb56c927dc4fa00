//! HTML as a stream of tokens: one pass over the bytes, no tree, so that no nesting and no number of tags can hurt.
//!
//! It knows where tags, references and hidden contents begin and end, and nothing of what elements mean.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem};

mod attributes;
#[cfg(test)]
mod tests;

pub(crate) use attributes::Attributes;

/// Octets of a character reference, `&` and `;` included: the longest names of HTML are below it.
const ENTITY_MAX: usize = 40;

/// Elements whose content is never read as text of the page.
const UNSHOWN: &[&str] = &["style", "script", "title", "template", "textarea", "select", "svg"];

/// What a page is made of. Comments and declarations are nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Token<'a> {
    /// Words as they stand, without markup and references.
    Text(&'a str),
    /// A character reference, decoded; as it stands if there is no such name.
    Reference(String),
    /// `<name …>`.
    Open(Tag<'a>),
    /// `</name>`.
    Close(Tag<'a>),
    /// The content of an element that is not shown, between its `Open` and its `Close`.
    Unshown(&'a str),
}

/// A tag with its name in lower case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tag<'a> {
    pub(crate) name: String,
    /// From `<` to `>`.
    pub(crate) source: &'a str,
}

impl<'a> Tag<'a> {
    /// `marks` is what stands before the name: `<` or `</`.
    fn read(source: &'a str, marks: usize) -> Self {
        let name = &source[marks..];
        let end = name.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(name.len());
        Self { name: name[..end].to_ascii_lowercase(), source }
    }

    /// Name and value of each attribute.
    pub(crate) fn attributes(&self) -> Attributes<'a> {
        Attributes::of(&self.source[(1 + self.name.len()).min(self.source.len())..])
    }
}

/// The tokens of a page in order. Total: any text is a page.
pub(crate) struct Tokens<'a> {
    rest: &'a str,
    /// An element has just been opened whose content is not shown.
    unshown: Option<String>,
}

impl<'a> Tokens<'a> {
    pub(crate) fn of(html: &'a str) -> Self {
        Self { rest: html, unshown: None }
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    fn text(&mut self) -> Token<'a> {
        let length = memchr2(b'<', b'&', self.rest.as_bytes()).unwrap_or(self.rest.len());
        Token::Text(self.take(length))
    }

    /// A character reference, or the `&` alone.
    fn reference(&mut self) -> Token<'a> {
        match reference_length(self.rest) {
            Some(length) => Token::Reference(referred(self.take(length))),
            None => Token::Text(self.take(1)),
        }
    }

    /// A tag, or a `<` alone; nothing for a comment.
    fn markup(&mut self) -> Option<Token<'a>> {
        let bytes = self.rest.as_bytes();
        match bytes.get(1) {
            Some(b'!') if self.rest.starts_with("<!--") => {
                self.take(memmem::find(&bytes[4..], b"-->").map_or(bytes.len(), |found| 4 + found + 3));
                None
            }
            Some(b'!' | b'?') => {
                self.take(memchr(b'>', bytes).map_or(bytes.len(), |end| end + 1));
                None
            }
            Some(b'/') if bytes.get(2).is_some_and(u8::is_ascii_alphabetic) => {
                Some(Token::Close(Tag::read(self.take(tag_length(bytes)), 2)))
            }
            Some(letter) if letter.is_ascii_alphabetic() => {
                let tag = Tag::read(self.take(tag_length(bytes)), 1);
                self.unshown = UNSHOWN.contains(&tag.name.as_str()).then(|| tag.name.clone());
                Some(Token::Open(tag))
            }
            _ => Some(Token::Text(self.take(1))),
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(name) = self.unshown.take() {
            let length = unshown_length(self.rest.as_bytes(), name.as_bytes());
            return Some(Token::Unshown(self.take(length)));
        }
        loop {
            match self.rest.as_bytes().first()? {
                b'<' => {
                    if let Some(token) = self.markup() {
                        return Some(token);
                    }
                }
                b'&' => return Some(self.reference()),
                _ => return Some(self.text()),
            }
        }
    }
}

/// A text with its character references decoded.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    if memchr(b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = reference_length(rest);
        match length {
            Some(length) => out.push_str(&referred(&rest[..length])),
            None => out.push('&'),
        }
        rest = &rest[length.unwrap_or(1)..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn referred(reference: &str) -> String {
    let mut decoded = String::new();
    mail_parser::add_html_token(&mut decoded, reference.as_bytes(), false);
    decoded
}

/// The length of the reference that the text begins with.
fn reference_length(text: &str) -> Option<usize> {
    let end = text.bytes().take(ENTITY_MAX).position(|byte| byte == b';')?;
    let name = &text[1..end];
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#');
    is_name.then_some(end + 1)
}

/// Up to the `>` that ends a tag; one in a quoted attribute value does not.
fn tag_length(tag: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr2(b'>', b'=', &tag[at..]) {
        at += found + 1;
        if tag[at - 1] == b'>' {
            return at;
        }
        at += tag[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if let Some(&quote @ (b'"' | b'\'')) = tag.get(at) {
            at = memchr(quote, &tag[at + 1..]).map_or(tag.len(), |end| at + end + 2);
        }
    }
    tag.len()
}

/// The length of an element's content that is not shown, its end tag excluded.
fn unshown_length(content: &[u8], name: &[u8]) -> usize {
    memmem::find_iter(content, b"</")
        .find(|at| {
            let tag = &content[at + 2..];
            tag.len() >= name.len() && tag[..name.len()].eq_ignore_ascii_case(name)
        })
        .unwrap_or(content.len())
}
