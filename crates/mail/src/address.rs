//! Addresses by the grammar of RFC 5321 §4.1.2 and RFC 6531: what SMTP takes as a path, and how it is written back.
//!
//! It knows nothing of mailboxes: which part of an address names one is the naming policy's business.

use std::borrow::Cow;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

mod local;
mod path;
#[cfg(test)]
mod tests;

pub(crate) use local::{Local, quote as quote_local, read as read_local};
pub use path::{Path, helo, path};

/// Octets of a local part, counted without its quoting (RFC 5321 §4.5.3.1.1).
pub const LOCAL_MAX: usize = 64;
/// Octets of a domain (RFC 5321 §4.5.3.1.2).
pub const DOMAIN_MAX: usize = 255;
/// Octets of one label of a domain in ASCII (RFC 1035 §2.3.4).
const LABEL_MAX: usize = 63;

/// An address as the client gave it: local part without its quoting, case kept; domain as sent.
///
/// Invariant: neither part holds a control character, so an address can stand in a header or a log line as it is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    local: String,
    domain: Domain,
}

/// The part behind the `@`: a host name or an address literal in brackets.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Domain(String);

/// Whether UTF-8 is taken (RFC 6531), as the SMTPUTF8 parameter decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Charset {
    /// ASCII only; anything else is [`BadAddress::NeedsUtf8`].
    Ascii,
    /// UTF-8 in local part and domain.
    Utf8,
}

/// Why a text is no address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadAddress {
    /// Not the grammar of RFC 5321 §4.1.2.
    #[error("this is not an address of the form user@domain")]
    Syntax,
    /// A local part alone; only `postmaster` may stand without a domain.
    #[error("the address has no domain")]
    NoDomain,
    /// UTF-8 where only ASCII was announced.
    #[error("a UTF-8 address needs the SMTPUTF8 parameter")]
    NeedsUtf8,
    /// A local part over 64 octets, a domain over 255, or one of its labels over 63.
    #[error("a part of the address is too long")]
    TooLong,
}

impl Address {
    /// Read `local@domain`, without angle brackets and without a source route.
    pub fn parse(text: &str, charset: Charset) -> Result<Self, BadAddress> {
        if charset == Charset::Ascii && !text.is_ascii() {
            return Err(BadAddress::NeedsUtf8);
        }
        let Local { name, rest } = local::read(text)?;
        match rest.strip_prefix('@') {
            Some(domain) => Ok(Self { local: name.into_owned(), domain: Domain::parse(domain)? }),
            None if rest.is_empty() => Err(BadAddress::NoDomain),
            None => Err(BadAddress::Syntax),
        }
    }

    /// Where `<postmaster>` without a domain leads (RFC 5321 §4.5.1): the postmaster of this host.
    pub fn postmaster(host: &str) -> Self {
        let domain = Domain::parse(host).unwrap_or_else(|_| Domain("localhost".to_owned()));
        Self { local: "postmaster".to_owned(), domain }
    }

    /// The local part without its quoting.
    pub fn local(&self) -> &str {
        &self.local
    }

    /// The domain as sent.
    pub fn domain(&self) -> &str {
        &self.domain.0
    }

    /// Append what `Display` writes.
    pub(crate) fn append_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(local::quote(&self.local).as_bytes());
        out.push(b'@');
        out.extend_from_slice(self.domain.0.as_bytes());
    }
}

impl fmt::Display for Address {
    /// As SMTP and header fields take it: the local part is quoted only where it must be.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", local::quote(&self.local), self.domain.0)
    }
}

impl Domain {
    /// Read a host name (RFC 5321 `Domain`, with `_` and U-labels beside) or an address literal in brackets.
    pub fn parse(text: &str) -> Result<Self, BadAddress> {
        Self::check(text)?;
        Ok(Self(text.to_owned()))
    }

    fn check(text: &str) -> Result<(), BadAddress> {
        if text.len() > DOMAIN_MAX {
            return Err(BadAddress::TooLong);
        }
        match text.strip_prefix('[') {
            Some(literal) => check_literal(literal),
            None => text.split('.').try_for_each(check_label),
        }
    }

    /// The text, literals in their brackets.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Whether a text is an address that is written without quotes, so that it stands as it is.
pub(crate) fn is_plain(text: &str) -> bool {
    let Ok(Local { name: Cow::Borrowed(_), rest }) = local::read(text) else { return false };
    rest.strip_prefix('@').is_some_and(|domain| Domain::check(domain).is_ok())
}

/// RFC 5321 §4.1.3 without its opening bracket. Only the two registered kinds are taken: an unknown one leads nowhere.
fn check_literal(text: &str) -> Result<(), BadAddress> {
    let inside = text.strip_suffix(']').ok_or(BadAddress::Syntax)?;
    let sound = match inside.get(..5) {
        Some(tag) if tag.eq_ignore_ascii_case("IPv6:") => inside[5..].parse::<Ipv6Addr>().is_ok(),
        _ => inside.parse::<Ipv4Addr>().is_ok(),
    };
    if sound { Ok(()) } else { Err(BadAddress::Syntax) }
}

/// Letters, digits and inner hyphens. `_` is taken too: container networks are full of it, and mail servers take it.
fn check_label(label: &str) -> Result<(), BadAddress> {
    let bytes = label.as_bytes();
    if label.is_empty() || bytes.first() == Some(&b'-') || bytes.last() == Some(&b'-') {
        return Err(BadAddress::Syntax);
    }
    if label.is_ascii() {
        if bytes.len() > LABEL_MAX {
            return Err(BadAddress::TooLong);
        }
        return if bytes.iter().all(|&byte| is_host(byte)) { Ok(()) } else { Err(BadAddress::Syntax) };
    }
    let sound = |letter: char| if letter.is_ascii() { is_host(letter as u8) } else { !is_blank(letter) };
    if label.chars().all(sound) { Ok(()) } else { Err(BadAddress::Syntax) }
}

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// What could end a line or hide in one: never part of an address, quoted or not.
fn is_forbidden(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')
}

fn is_blank(letter: char) -> bool {
    is_forbidden(letter) || letter.is_whitespace()
}
