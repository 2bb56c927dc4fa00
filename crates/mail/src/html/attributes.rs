//! The attributes of one tag, in order, their values decoded. Of two with one name both come; the caller says which counts.

use std::borrow::Cow;

use super::decode;

/// Name in lower case, and value; a name alone has an empty value.
pub(crate) struct Attributes<'a> {
    rest: &'a str,
}

impl<'a> Attributes<'a> {
    /// Of what follows the name of a tag.
    pub(super) fn of(rest: &'a str) -> Self {
        Self { rest }
    }

    fn name(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start_matches(|letter: char| letter.is_ascii_whitespace() || letter == '/');
        let end = self.rest.find(|letter: char| letter.is_ascii_whitespace() || matches!(letter, '=' | '>' | '/'));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        // A `=` where a name should be is passed over with its value.
        (!name.is_empty() || rest.starts_with('=')).then(|| name.to_ascii_lowercase())
    }

    fn value(&mut self) -> Cow<'a, str> {
        let Some(rest) = self.rest.trim_ascii_start().strip_prefix('=') else { return Cow::Borrowed("") };
        let rest = rest.trim_ascii_start();
        let (value, rest) = match rest.as_bytes().first() {
            Some(&quote @ (b'"' | b'\'')) => {
                let quoted = &rest[1..];
                quoted.split_once(char::from(quote)).unwrap_or((quoted, ""))
            }
            _ => rest.split_at(
                rest.find(|letter: char| letter.is_ascii_whitespace() || letter == '>').unwrap_or(rest.len()),
            ),
        };
        self.rest = rest;
        decode(value)
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (String, Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.name()?;
        Some((name, self.value()))
    }
}
