//! Small records with versions that every node sees: tokens, sessions, fault plans. Not for mail.

use std::pin::Pin;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::Stream;
use jiff::Timestamp;

use crate::error::Result;

/// Grows with every put of a key, deletes between them included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version(pub u64);

/// One record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name within its kind.
    pub key: String,
    /// What it says.
    pub value: Bytes,
    /// Which put wrote it.
    pub version: Version,
    /// When it goes by itself.
    pub expires: Option<Timestamp>,
}

/// What a put or delete expects to find.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expect {
    /// Anything.
    Any,
    /// No record.
    Absent,
    /// The record of this version.
    Version(Version),
}

impl Entry {
    /// Whether it has not expired.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }
}

impl Expect {
    /// Whether what is there is what was expected.
    pub fn is_met(self, there: Option<&Entry>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => there.is_none(),
            Self::Version(version) => there.is_some_and(|entry| entry.version == version),
        }
    }
}

/// What became of a put.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Put {
    /// Written, as this version.
    Written(Version),
    /// Not written: this is there instead of what was expected.
    Conflict(Option<Entry>),
}

/// What happened to a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegistryChange {
    /// It was written.
    Put(Entry),
    /// It was deleted. That a record expired is not told: its `expires` is known.
    Deleted(String),
    /// Changes were lost on the way to here: list anew.
    Lost,
}

/// A stream of what happens to the records of a kind.
pub type RegistryChanges = Pin<Box<dyn Stream<Item = RegistryChange> + Send>>;

/// The records of a store.
#[async_trait]
pub trait Registry: Send + Sync {
    /// One record.
    async fn get(&self, kind: &str, key: &str) -> Result<Option<Entry>>;

    /// All records of a kind, by key.
    async fn list(&self, kind: &str) -> Result<Vec<Entry>>;

    /// Write a record if what is there is what was expected.
    async fn put(&self, kind: &str, key: &str, value: Bytes, expires: Option<Timestamp>, expect: Expect)
    -> Result<Put>;

    /// Delete a record if what is there is what was expected; whether a record went.
    async fn delete(&self, kind: &str, key: &str, expect: Expect) -> Result<bool>;

    /// What happens to the records of a kind from now on.
    async fn watch(&self, kind: &str) -> Result<RegistryChanges>;
}
