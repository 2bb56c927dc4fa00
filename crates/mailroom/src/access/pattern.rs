//! Which mailboxes a scope is about: one by its name, or all whose names begin or end alike. Held against the canonical
//! name, so that no other spelling leads round it.

use std::borrow::Cow;

use mail::address::Charset;
use mail::mailbox::BadName;
use mail::{Address, Mailbox, Naming};

/// Octets of a pattern; no name is longer.
const PATTERN_MAX: usize = 320;

/// Some mailboxes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Pattern {
    /// `*`: every mailbox.
    All,
    /// The one of this name.
    Exact(Box<str>),
    /// `ci-*`: those whose names begin so.
    Prefix(Box<str>),
    /// `*@team.test`: those whose names end so.
    Suffix(Box<str>),
}

/// This text is no pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadPattern {
    /// Nothing, or too much.
    #[error("a pattern has 1 to {PATTERN_MAX} characters: a name, a name with a star at one end, or a star alone")]
    Length,
    /// More than one star, or one in the middle.
    #[error("a pattern has one star, at its beginning or at its end, as ci-* or *@team.test")]
    Star,
    /// It names a domain where domains name no mailbox.
    #[error(
        "domains name no mailbox here, so this would be about those of all domains: write the part before the @ alone, or \
         set mailbox.naming to \"full\""
    )]
    Domain,
    /// It names a tag.
    #[error("a + begins a tag, which is no part of a mailbox's name: leave it out, and what is behind it")]
    Tag,
    /// What stands there can be no name.
    #[error(transparent)]
    Name(#[from] BadName),
}

impl Pattern {
    /// Read one, where mailboxes are named so.
    pub fn parse(text: &str, naming: Naming) -> Result<Self, BadPattern> {
        if text.is_empty() || text.len() > PATTERN_MAX {
            return Err(BadPattern::Length);
        }
        if text == "*" {
            return Ok(Self::All);
        }
        let (leading, trailing) = (text.strip_prefix('*'), text.strip_suffix('*'));
        let literal = leading.or(trailing).unwrap_or(text);
        match (leading, trailing) {
            _ if literal.contains('*') => Err(BadPattern::Star),
            _ if naming != Naming::Domain && literal.contains('+') => Err(BadPattern::Tag),
            (None, None) => exact(text, naming),
            _ if naming == Naming::Local && literal.contains('@') => Err(BadPattern::Domain),
            (Some(_), _) => Ok(Self::Suffix(folded(literal))),
            (None, Some(_)) => Ok(Self::Prefix(folded(literal))),
        }
    }

    /// As [`Pattern::parse`] takes it back.
    pub fn spelled(&self, naming: Naming) -> Cow<'_, str> {
        match self {
            Self::All => "*".into(),
            Self::Exact(name) => naming.spelling(&Mailbox::from_canonical(name)).into_owned().into(),
            Self::Prefix(prefix) => format!("{prefix}*").into(),
            Self::Suffix(suffix) => format!("*{suffix}").into(),
        }
    }

    /// Whether this mailbox is one of them.
    pub fn covers(&self, mailbox: &Mailbox) -> bool {
        let name = mailbox.as_str();
        match self {
            Self::All => true,
            Self::Exact(exact) => name == &**exact,
            Self::Prefix(prefix) => name.starts_with(&**prefix),
            Self::Suffix(suffix) => name.ends_with(&**suffix),
        }
    }
}

fn exact(text: &str, naming: Naming) -> Result<Pattern, BadPattern> {
    if naming == Naming::Local && Address::parse(text, Charset::Utf8).is_ok() {
        return Err(BadPattern::Domain);
    }
    Ok(Pattern::Exact(naming.named(text)?.as_str().into()))
}

/// A piece of a name as it stands in a canonical one. A domain is canonical as a whole; of a piece of one, or of a name,
/// all that can be said is that it is in lower case.
fn folded(literal: &str) -> Box<str> {
    if let Some(canonical) = literal.strip_prefix('@').and_then(|domain| Naming::Domain.named(domain).ok()) {
        return format!("@{canonical}").into();
    }
    match Naming::Local.named(literal) {
        Ok(canonical) if !literal.contains('@') => canonical.as_str().into(),
        _ => literal.to_lowercase().into(),
    }
}
