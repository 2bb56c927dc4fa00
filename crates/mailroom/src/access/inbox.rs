//! Inboxes: mailboxes for one test, with a secret and an end. The name is the whole record, so nothing is stored when one
//! is opened, nothing is looked up when one is used, and any node knows those that any other opened.
//!
//! `signup-` and 25 digits: 5 of the minute in which it ends, 13 by chance, and 7 that only the holder of the key can
//! write, so that neither a slip nor a guess makes another. The secret is made of the name with the same key.

use std::fmt;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use jiff::{SignedDuration, Timestamp};
use mail::{Mailbox, Naming};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::base32;
use super::token::{NoChance, chance};

/// How a secret begins, so that one is known when it is found where it should not be.
pub(crate) const PREFIX: &str = "pki_";
/// Characters of a label.
pub const LABEL_MAX: usize = 20;
/// The label of an inbox that was given none.
const LABEL: &str = "inbox";
/// Keys in a file: one that signs, and those that did so before.
const KEYS_MAX: usize = 16;

const MINUTE_DIGITS: usize = 5;
const CHANCE_DIGITS: usize = 13;
const CODE_DIGITS: usize = 7;
const SECRET_DIGITS: usize = 32;
const TAIL: usize = MINUTE_DIGITS + CHANCE_DIGITS + CODE_DIGITS;
/// Minutes are counted from the first one of 2026, and last until 2089.
const EPOCH: i64 = 1_767_225_600;
/// What a code is of: a code for one purpose is none for another.
const FOR_NAME: &[u8] = b"postkeep inbox name 1\0";
const FOR_SECRET: &[u8] = b"postkeep inbox secret 1\0";

/// What inboxes are made and known by. The first makes; all know. `Debug` shows how many.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys(Vec<[u8; 32]>);

/// This file holds no keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a key file holds 1 to {KEYS_MAX} lines of 64 hexadecimal digits, the key that signs first; line {line} is not one: \
     make one with \"openssl rand -hex 32\""
)]
pub struct BadKeys {
    /// Counted from 1; 0 means the file as a whole.
    pub line: usize,
}

/// What a mailbox's name says about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A mailbox like any other.
    Ordinary,
    /// An inbox, and when it ends.
    Inbox(Timestamp),
    /// It looks like an inbox, and none of the keys has made it.
    Mistyped,
}

/// Opens inboxes and knows them.
#[derive(Debug)]
pub(crate) struct Inboxes {
    keys: Option<Keys>,
    naming: Naming,
}

impl Keys {
    /// One that nobody else has.
    pub fn make() -> Result<Self, NoChance> {
        Ok(Self(vec![chance()?]))
    }

    /// Read a file. Blank lines and those that begin with # count for nothing.
    pub fn parse(text: &str) -> Result<Self, BadKeys> {
        let mut keys = Vec::new();
        for (at, line) in text.lines().map(str::trim).enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            keys.push(key(line).filter(|_| keys.len() < KEYS_MAX).ok_or(BadKeys { line: at + 1 })?);
        }
        if keys.is_empty() { Err(BadKeys { line: 0 }) } else { Ok(Self(keys)) }
    }

    /// As a file holds them.
    pub fn text(&self) -> String {
        let hex = |key: &[u8; 32]| key.iter().map(|octet| format!("{octet:02x}")).collect::<String>() + "\n";
        self.0.iter().map(hex).collect()
    }
}

fn key(line: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    if line.len() != 64 || !line.is_ascii() {
        return None;
    }
    for (place, octet) in key.iter_mut().enumerate() {
        *octet = u8::from_str_radix(&line[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(key)
}

impl Inboxes {
    pub(crate) fn new(keys: Option<Keys>, naming: Naming) -> Self {
        Self { keys: keys.filter(|_| naming != Naming::Domain), naming }
    }

    /// The local part of a new one that lives at least so long, and when it ends: with the minute.
    pub(crate) fn make(
        &self,
        label: Option<&str>,
        domain: &str,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<Option<(String, Timestamp)>, NoChance> {
        let Some(key) = self.keys.as_ref().and_then(|keys| keys.0.first()) else { return Ok(None) };
        let end = now.as_second().saturating_add_unsigned(ttl.as_secs()).saturating_add(59) - EPOCH;
        let minute = u64::try_from(end / 60).unwrap_or(0);
        let chance = base32::digits(&chance::<9>()?, CHANCE_DIGITS);
        let stem = format!("{}-{}{chance}", label.unwrap_or(LABEL), base32::written(minute, MINUTE_DIGITS));
        let code = code(key, FOR_NAME, &stem, self.domain(domain), CODE_DIGITS);
        Ok(Some((stem + &code, ends(minute))))
    }

    /// The domain counts where it is part of a mailbox's name.
    fn domain<'a>(&self, domain: &'a str) -> &'a str {
        if self.naming == Naming::Full { domain } else { "" }
    }

    /// What this mailbox is, by its name.
    pub(crate) fn shape(&self, mailbox: &Mailbox) -> Shape {
        let Some(keys) = &self.keys else { return Shape::Ordinary };
        let Some(Parts { stem, minute, code: shown, domain }) = self.parts(mailbox.as_str()) else {
            return Shape::Ordinary;
        };
        let is_of = |key: &[u8; 32]| bool::from(code(key, FOR_NAME, stem, domain, CODE_DIGITS).as_bytes().ct_eq(shown));
        if keys.0.iter().any(is_of) { Shape::Inbox(ends(minute)) } else { Shape::Mistyped }
    }

    /// The secret of an inbox that was just made: its name in it, so that whoever shows it need not say what for.
    pub(crate) fn secret(&self, mailbox: &Mailbox) -> Option<String> {
        let key = self.keys.as_ref()?.0.first()?;
        Some(format!("{PREFIX}{mailbox}_{}", code(key, FOR_SECRET, mailbox.as_str(), "", SECRET_DIGITS)))
    }

    /// The inbox that this is the secret of. Whatever is shown, each key makes one code and compares it.
    pub(crate) fn unlock(&self, secret: &str) -> Option<Mailbox> {
        let (name, shown) = secret.strip_prefix(PREFIX)?.rsplit_once('_')?;
        let mailbox = Mailbox::from_canonical(name);
        let keys = self.keys.as_ref()?;
        let is_of = |key: &[u8; 32]| code(key, FOR_SECRET, name, "", SECRET_DIGITS).as_bytes().ct_eq(shown.as_bytes());
        let right = keys.0.iter().fold(subtle::Choice::from(0), |right, key| right | is_of(key));
        (bool::from(right) && matches!(self.shape(&mailbox), Shape::Inbox(_))).then_some(mailbox)
    }

    /// A name that has the shape of an inbox's, taken apart.
    fn parts<'a>(&self, name: &'a str) -> Option<Parts<'a>> {
        let (local, domain) = match self.naming {
            Naming::Full => name.rsplit_once('@')?,
            _ => (name, ""),
        };
        let (label, tail) = local.rsplit_once('-')?;
        if tail.len() != TAIL || !base32::is_digits(tail.as_bytes()) || !is_label(label) {
            return None;
        }
        let (stem, code) = local.split_at(local.len() - CODE_DIGITS);
        Some(Parts { stem, minute: base32::number(&tail[..MINUTE_DIGITS])?, code: code.as_bytes(), domain })
    }
}

struct Parts<'a> {
    stem: &'a str,
    minute: u64,
    code: &'a [u8],
    domain: &'a str,
}

/// Whether this can stand before the digits.
pub(crate) fn is_label(text: &str) -> bool {
    let is_sound = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=LABEL_MAX).contains(&text.len()) && text.bytes().all(is_sound)
}

fn ends(minute: u64) -> Timestamp {
    let seconds = EPOCH.saturating_add_unsigned(minute * 60);
    Timestamp::UNIX_EPOCH.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

/// So many digits that only this key makes of this.
fn code(key: &[u8; 32], purpose: &[u8], text: &str, domain: &str, digits: usize) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do");
    for piece in [purpose, text.as_bytes(), b"\0", domain.as_bytes()] {
        mac.update(piece);
    }
    base32::digits(&mac.finalize().into_bytes(), digits)
}

impl fmt::Debug for Keys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Keys({})", self.0.len())
    }
}
