//! From the text of a query to its terms.

use memchr::memmem::Finder;

use crate::near;

use super::fold::fold;
use super::has::{self, Thing};
use super::texts::{ANYWHERE, CLOSE, Column, IS, OPEN};
use super::{TERMS_MAX, TEXT_MAX, Term, Test, values};

/// The keys of the language.
pub const KEYS: [&str; 14] = [
    "from", "to", "cc", "rcpt", "subject", "body", "filename", "header", "has", "larger", "smaller", "after", "before",
    "tag",
];

/// Why a text is no query. Each says what to write instead.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadQuery {
    /// No key of the language.
    #[error(
        "the key \"{key}\" is not known{}; keys are {}; to look for the text itself, put it in quotes",
        meant(nearest),
        KEYS.join(", ")
    )]
    UnknownKey {
        /// As it was written, or its beginning.
        key: String,
        /// The known one that is most like it.
        nearest: Option<&'static str>,
    },
    /// A key, or a sign, without a text behind it.
    #[error("there is nothing behind \"{0}\"; write what to look for right behind it, or put the sign in quotes")]
    Nothing(String),
    /// A quote that never ends.
    #[error("a quote is opened and not closed; write \" at the end of the phrase, and \\\" for a quote inside it")]
    OpenQuote,
    /// No size.
    #[error("\"{0}\" is not a size; write bytes, or a number with KB, MB, KiB or MiB, as {1}:1MB")]
    NotASize(String, &'static str),
    /// No time.
    #[error("\"{0}\" is not a time; write a day, as {1}:2026-11-14, or a time, as {1}:2026-11-14T09:30:00Z")]
    NotATime(String, &'static str),
    /// Nothing that can be had.
    #[error("has:{thing} is not known{}; it can be {}", meant(nearest), has::THINGS.join(", "))]
    UnknownThing {
        /// As it was written, or its beginning.
        thing: String,
        /// The known one that is most like it.
        nearest: Option<&'static str>,
    },
    /// Too many bytes.
    #[error("the query is longer than {TEXT_MAX} bytes; leave something out")]
    TooLong,
    /// Too many terms.
    #[error("the query has more than {TERMS_MAX} terms; leave some out, or put words that stand together in quotes")]
    TooManyTerms,
}

impl BadQuery {
    /// The known word that was probably meant.
    pub fn nearest(&self) -> Option<&'static str> {
        match self {
            Self::UnknownKey { nearest, .. } | Self::UnknownThing { nearest, .. } => *nearest,
            _ => None,
        }
    }
}

fn meant(nearest: &Option<&'static str>) -> String {
    nearest.map(|word| format!(", perhaps {word}")).unwrap_or_default()
}

/// All terms of a query.
pub(super) fn terms(text: &str) -> Result<Vec<Term>, BadQuery> {
    if text.len() > TEXT_MAX {
        return Err(BadQuery::TooLong);
    }
    let mut terms = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if terms.len() == TERMS_MAX {
            return Err(BadQuery::TooManyTerms);
        }
        let wanted = !rest.starts_with('-');
        let (test, behind) = test(rest.strip_prefix('-').unwrap_or(rest))?;
        terms.push(Term { wanted, test });
        rest = behind.trim_start();
    }
    Ok(terms)
}

/// The test that a text begins with, and what follows it.
fn test(text: &str) -> Result<(Test, &str), BadQuery> {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (word, behind) = text.split_at(letters);
    // `https://…` is a word that people look for.
    let Some(value) = behind.strip_prefix(':').filter(|value| letters > 0 && !value.starts_with("//")) else {
        let (value, behind) = value(text)?;
        let needle = fold(&value);
        if needle.is_empty() {
            return Err(BadQuery::Nothing(shown(if text.starts_with('"') { "\"" } else { "-" })));
        }
        return Ok((within(ANYWHERE, needle), behind));
    };
    let key = word.to_ascii_lowercase();
    let Some(known) = KEYS.iter().copied().find(|known| *known == key) else {
        return Err(BadQuery::UnknownKey { key: shown(word), nearest: near::nearest(&key, &KEYS) });
    };
    let (value, behind) = self::value(value)?;
    let value = fold(&value);
    if value.is_empty() {
        return Err(BadQuery::Nothing(format!("{known}:")));
    }
    Ok((keyed(known, value)?, behind))
}

fn keyed(key: &'static str, value: String) -> Result<Test, BadQuery> {
    let size = |value: &str| values::size(value).ok_or_else(|| BadQuery::NotASize(shown(value), key));
    let time = |value: &str| values::time(&value.to_uppercase()).ok_or_else(|| BadQuery::NotATime(shown(value), key));
    Ok(match key {
        "from" => within(&[Column::From], address(value)),
        "to" => within(&[Column::To], address(value)),
        "cc" => within(&[Column::Cc], address(value)),
        "rcpt" => within(&[Column::Rcpt], address(value)),
        "subject" => within(&[Column::Subject], value),
        "body" => within(&[Column::Body], value),
        "filename" => within(&[Column::Filename], value),
        "header" => within(&[Column::Header], header(&value)),
        "tag" => within(&[Column::Tag], format!("{OPEN}{value}{CLOSE}")),
        "larger" => Test::Larger(size(&value)?),
        "smaller" => Test::Smaller(size(&value)?),
        "after" => Test::After(time(&value)?),
        "before" => Test::Before(time(&value)?),
        _ => Test::Has(Thing::named(&value)?),
    })
}

fn within(columns: &'static [Column], needle: String) -> Test {
    Test::Text { columns, finder: Box::new(Finder::new(needle.as_bytes()).into_owned()) }
}

/// A whole address, the domain behind an `@`, or a part of a name or an address.
fn address(value: String) -> String {
    match value.split_once('@') {
        Some(("", _)) => value + &CLOSE.to_string(),
        Some((_, host)) if !host.is_empty() && !value.contains(' ') => format!("{OPEN}{value}{CLOSE}"),
        _ => value,
    }
}

/// `Name=value` is this value and no other; `Name` alone is that the field is there.
fn header(value: &str) -> String {
    match value.split_once('=') {
        Some((name, value)) => format!("{OPEN}{}{IS}{}{CLOSE}", name.trim_end(), value.trim_start()),
        None => format!("{OPEN}{value}{IS}"),
    }
}

/// The value that a text begins with, quoted or up to the next blank, and what follows it. Behind `Name=` a quote may
/// begin as well.
fn value(text: &str) -> Result<(String, &str), BadQuery> {
    let mut value = String::new();
    let mut rest = text;
    loop {
        let plain = rest.find(|letter: char| letter == '"' || letter.is_whitespace()).unwrap_or(rest.len());
        value.push_str(&rest[..plain]);
        rest = &rest[plain..];
        let Some(quoted) = rest.strip_prefix('"') else { return Ok((value, rest)) };
        rest = phrase(quoted, &mut value)?;
    }
}

/// The rest of a phrase up to its closing quote; what follows that.
fn phrase<'a>(text: &'a str, value: &mut String) -> Result<&'a str, BadQuery> {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok(&text[at + 1..]),
            '\\' => value.extend(letters.next().map(|(_, escaped)| escaped)),
            _ => value.push(letter),
        }
    }
    Err(BadQuery::OpenQuote)
}

/// A word of the query in an answer: not all of it when it is long.
fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 40;
    text.chars().take(SHOWN_MAX).collect()
}
