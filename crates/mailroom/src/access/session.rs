//! Logins of the page: a random number in a cookie that stands for a token or an inbox's secret which was shown once.
//!
//! A login is good for no more than what it stands for, and for no longer. What is kept is a hash, in a record of the
//! store that every node sees.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use mail::Mailbox;
use store::Entry;

use super::base32;
use super::token::{Digest, NoChance, chance};

/// The kind of their records.
pub(crate) const KIND: &str = "login";
const PREFIX: &str = "pks_";
const DIGITS: usize = 32;

/// What a login stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Behind {
    /// The token with this hash.
    Token(Digest),
    /// The secret of this inbox.
    Inbox(Mailbox),
}

/// A login as it is told to the browser, once.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// What the cookie holds.
    pub cookie: String,
    /// Until when it is good.
    pub expires: Timestamp,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Login(until {})", self.expires)
    }
}

/// A cookie that nobody else has.
pub(crate) fn cookie() -> Result<String, NoChance> {
    Ok(format!("{PREFIX}{}", base32::digits(&chance::<20>()?, DIGITS)))
}

/// Whether this could be a cookie of ours.
pub(crate) fn is_cookie(text: &str) -> bool {
    let digits = text.strip_prefix(PREFIX).unwrap_or_default();
    digits.len() == DIGITS && base32::is_digits(digits.as_bytes())
}

impl Behind {
    /// As a record tells it.
    pub(crate) fn write(&self) -> String {
        match self {
            Self::Token(digest) => format!("token {digest}"),
            Self::Inbox(mailbox) => format!("inbox {mailbox}"),
        }
    }

    /// What a record says.
    pub(crate) fn read(entry: &Entry) -> Option<Self> {
        match std::str::from_utf8(&entry.value).ok()?.split_once(' ')? {
            ("token", digest) => digest.parse().ok().map(Self::Token),
            ("inbox", name) => Some(Self::Inbox(Mailbox::from_canonical(name))),
            _ => None,
        }
    }
}

/// Who is logged in, by the hashes of their cookies.
#[derive(Debug, Default)]
pub(crate) struct Logins(Mutex<HashMap<String, (Behind, Option<Timestamp>)>>);

impl Logins {
    /// What this one stands for.
    pub(crate) fn find(&self, key: &str, now: Timestamp) -> Option<Behind> {
        let known = self.lock();
        let (behind, expires) = known.get(key)?;
        expires.is_none_or(|expires| now < expires).then(|| behind.clone())
    }

    /// A record was written.
    pub(crate) fn put(&self, entry: &Entry) {
        if let Some(behind) = Behind::read(entry) {
            self.lock().insert(entry.key.clone(), (behind, entry.expires));
        }
    }

    /// A record was deleted.
    pub(crate) fn remove(&self, key: &str) {
        self.lock().remove(key);
    }

    /// These are all there are.
    pub(crate) fn replace(&self, entries: &[Entry]) {
        self.lock().clear();
        entries.iter().for_each(|entry| self.put(entry));
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Forget those whose time is over.
    pub(crate) fn forget(&self, now: Timestamp) {
        self.lock().retain(|_, (_, expires)| expires.is_none_or(|expires| now < expires));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (Behind, Option<Timestamp>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
