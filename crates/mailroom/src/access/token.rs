//! Tokens as text: `pkt_<id>_<160 random bits>`. What is kept is the SHA-256 of the whole: nobody can guess what is
//! random, so a slow hash would only cost time.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use super::base32;

/// How a token begins, so that one is known when it is found where it should not be.
pub(crate) const PREFIX: &str = "pkt_";
const ID_DIGITS: usize = 8;
const SECRET_DIGITS: usize = 32;

/// What is kept of a token or a login: its SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// A token as it is shown once, to whoever asked for it. `Debug` shows its id.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    text: String,
}

/// The system gave no random numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the system gave no random numbers; try again")]
pub struct NoChance;

/// This is not the hash of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the hash of a token is 64 hexadecimal digits, as \"postkeep token new\" prints them")]
pub struct BadDigest;

impl Token {
    /// A new one.
    pub fn make() -> Result<Self, NoChance> {
        let octets = chance::<25>()?;
        let (id, secret) = (base32::digits(&octets[..5], ID_DIGITS), base32::digits(&octets[5..], SECRET_DIGITS));
        Ok(Self { text: format!("{PREFIX}{id}_{secret}") })
    }

    /// The whole, to be told once.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it goes by.
    pub fn id(&self) -> &str {
        id_of(&self.text).unwrap_or_default()
    }

    /// What is kept of it.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.text)
    }
}

/// The id in something that looks like a token.
pub(crate) fn id_of(text: &str) -> Option<&str> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let is_whole = id.len() == ID_DIGITS && secret.len() == SECRET_DIGITS;
    (is_whole && base32::is_digits(id.as_bytes()) && base32::is_digits(secret.as_bytes())).then_some(id)
}

/// So many random octets.
pub(crate) fn chance<const N: usize>() -> Result<[u8; N], NoChance> {
    let mut octets = [0; N];
    getrandom::fill(&mut octets).map_err(|_| NoChance)?;
    Ok(octets)
}

impl Digest {
    /// Of what was shown. The same work whatever it is.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(out, "{octet:02x}"))
    }
}

impl FromStr for Digest {
    type Err = BadDigest;

    fn from_str(text: &str) -> Result<Self, BadDigest> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(BadDigest);
        }
        let mut octets = [0; 32];
        for (place, octet) in octets.iter_mut().enumerate() {
            *octet = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).map_err(|_| BadDigest)?;
        }
        Ok(Self(octets))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Digest(…)")
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Token({})", self.id())
    }
}
