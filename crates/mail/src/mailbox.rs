//! Mailboxes and the naming policy that leads an address to one. The one canonicaliser of the house.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::address::{self, Address, BadAddress, Charset, Domain, LOCAL_MAX, Local};

#[cfg(test)]
mod tests;

/// A mailbox by its canonical name: local part unquoted, NFC, lower case; domain lower case, U-labels.
///
/// Only [`Naming`] makes one from text that came from outside, so two spellings of a name are one value. The canonical
/// form is kept for ever: stored mail is found by it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mailbox(Arc<str>);

/// What of an address names its mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Naming {
    /// The local part without its `+tag`.
    #[default]
    Local,
    /// The local part without its `+tag`, `@`, and the domain.
    Full,
    /// The domain.
    Domain,
}

/// This text can name no mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadName {
    /// Neither a dot-string nor a quoted string nor an address of one (RFC 5321 §4.1.2).
    #[error("a mailbox name is the part of an address before the @, or a whole address")]
    Syntax,
    /// A tag alone, as `+news`.
    #[error("a tag alone names no mailbox")]
    TagAlone,
    /// A local part over 64 octets or a domain over 255.
    #[error("the name is too long: 64 octets before the @, 255 behind it")]
    TooLong,
    /// A local part alone where mailboxes are named by whole addresses.
    #[error("mailboxes are named by whole addresses here: write user@domain")]
    NoDomain,
}

impl From<BadAddress> for BadName {
    fn from(bad: BadAddress) -> Self {
        match bad {
            BadAddress::Syntax | BadAddress::NeedsUtf8 => Self::Syntax,
            BadAddress::NoDomain => Self::NoDomain,
            BadAddress::TooLong => Self::TooLong,
        }
    }
}

impl Mailbox {
    /// A mailbox by a name that is canonical already, as an engine kept it.
    pub fn from_canonical(name: &str) -> Self {
        Self(Arc::from(name))
    }

    /// The canonical name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Mailbox {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, out)
    }
}

impl Naming {
    /// The mailbox of a recipient.
    pub fn mailbox(self, address: &Address) -> Result<Mailbox, BadName> {
        let local = canonical_local(address.local())?;
        Ok(Mailbox(match self {
            Self::Local => Arc::from(&*local),
            Self::Full => Arc::from(format!("{local}@{}", canonical_domain(address.domain())?)),
            Self::Domain => Arc::from(&*canonical_domain(address.domain())?),
        }))
    }

    /// The mailbox that a reader names: a name as it stands in a list, a local part, a quoted one, or an address.
    pub fn named(self, name: &str) -> Result<Mailbox, BadName> {
        match (self, Address::parse(name, Charset::Utf8)) {
            (_, Ok(address)) => self.mailbox(&address),
            (Self::Local, Err(BadAddress::NoDomain)) => {
                let Local { name, .. } = address::read_local(name)?;
                Ok(Mailbox(Arc::from(&*canonical_local(&name)?)))
            }
            (Self::Domain, Err(_)) => Ok(Mailbox(Arc::from(&*canonical_domain(Domain::parse(name)?.as_str())?))),
            (_, Err(bad)) => Err(bad.into()),
        }
    }

    /// The name of a mailbox as [`Naming::named`] takes it back: quoted where it must be, as `"john doe"`.
    ///
    /// Whatever is shown outside goes through here: without its quotes `"a@b"` would be read as an address of `a`.
    pub fn spelling(self, mailbox: &Mailbox) -> Cow<'_, str> {
        let name = mailbox.as_str();
        let (local, domain) = match self {
            Self::Local => (name, ""),
            Self::Full => name.split_at(memchr::memrchr(b'@', name.as_bytes()).unwrap_or(name.len())),
            Self::Domain => return Cow::Borrowed(name),
        };
        match address::quote_local(local) {
            Cow::Borrowed(_) => Cow::Borrowed(name),
            Cow::Owned(quoted) => Cow::Owned(quoted + domain),
        }
    }
}

/// Tag cut, then folded. What grew over the limit by folding is refused, for its own name would be.
fn canonical_local(local: &str) -> Result<Cow<'_, str>, BadName> {
    let name = &local[..memchr::memchr(b'+', local.as_bytes()).unwrap_or(local.len())];
    if name.is_empty() {
        return Err(BadName::TagAlone);
    }
    let name = fold(name);
    if name.len() > LOCAL_MAX { Err(BadName::TooLong) } else { Ok(name) }
}

/// Lower case and U-labels. What IDNA will not have stays as it is in lower case: UTS 46 refuses more than SMTP does.
fn canonical_domain(domain: &str) -> Result<Cow<'_, str>, BadName> {
    let lower = fold(domain);
    if domain.is_ascii() && memchr::memmem::find(lower.as_bytes(), b"xn--").is_none() {
        return Ok(lower);
    }
    let canonical = match idna::domain_to_unicode(&lower) {
        (unicode, Ok(())) if Domain::parse(&unicode).is_ok() => Cow::Owned(unicode),
        _ => lower,
    };
    // Its own name must be takable as well, though folding may have made it longer.
    Domain::parse(&canonical)?;
    Ok(canonical)
}

/// NFC and Unicode lower case, such that folding twice changes nothing. ASCII in lower case, the common case, is only
/// looked at.
fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        return if is_lower { Cow::Borrowed(text) } else { Cow::Owned(text.to_ascii_lowercase()) };
    }
    let nfc = ComposingNormalizerBorrowed::new_nfc();
    let lower = nfc.normalize(text).to_lowercase();
    Cow::Owned(nfc.normalize(&lower).into_owned())
}
