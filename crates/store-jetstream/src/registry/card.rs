//! A record as it lies on the brokers. That it was deleted is written down too, for a while, so that others hear of it.

use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use store::{Entry, Version};

use crate::record::{self, Spoilt};
use crate::wire::Raw;

/// The clock that decides is ours, and a broker's may be another: it clears away so long after a record has expired.
const EXPIRED_KEPT: Duration = Duration::from_secs(3600);
/// What expires later than this need not be cleared away by the brokers.
const CLEARED_WITHIN: Duration = Duration::from_secs(10 * 365 * 86_400);
/// Long enough for everybody who watches to see that a message did not reach them.
const DELETED_KEPT: Duration = Duration::from_secs(600);

/// What stands at a key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Card {
    pub(super) kind: String,
    pub(super) key: String,
    value: Vec<u8>,
    expires: Option<i64>,
    pub(super) deleted: bool,
    /// Another one for each put and delete, by which it knows its own work again.
    pub(super) mark: u128,
}

impl Card {
    pub(super) fn put(kind: &str, key: &str, value: &[u8], expires: Option<Timestamp>) -> Self {
        let expires = expires.map(Timestamp::as_microsecond);
        Self {
            kind: kind.to_owned(),
            key: key.to_owned(),
            value: value.to_vec(),
            expires,
            deleted: false,
            mark: mark(),
        }
    }

    pub(super) fn deleted(kind: &str, key: &str) -> Self {
        Self { deleted: true, ..Self::put(kind, key, &[], None) }
    }

    pub(super) fn read(raw: &[u8]) -> Result<Self, Spoilt> {
        record::read(raw)
    }

    /// The record that it tells of, if it does and that has not expired.
    pub(super) fn live(self, seq: u64, now: Timestamp) -> Option<Entry> {
        if self.deleted {
            return None;
        }
        let expires = self.expires.map(|micros| record::time(micros).unwrap_or(Timestamp::MIN));
        let entry = Entry { key: self.key, value: Bytes::from(self.value), version: Version(seq), expires };
        entry.is_live(now).then_some(entry)
    }

    /// How long the brokers keep it; none: for good. It is always longer than anybody asks for it.
    pub(super) fn life(&self, now: Timestamp) -> Option<Duration> {
        if self.deleted {
            return Some(DELETED_KEPT);
        }
        let left = self.expires?.saturating_sub(now.as_microsecond());
        let left = Duration::from_micros(u64::try_from(left).unwrap_or(0));
        (left < CLEARED_WITHIN).then(|| left + EXPIRED_KEPT)
    }
}

/// The card of a message of the right kind; what is no card, or another kind's, is passed over.
pub(super) fn of_kind(raw: &Raw, kind: &str) -> Option<Card> {
    let card = Card::read(&raw.data);
    if card.is_err() {
        tracing::warn!(
            seq = raw.seq,
            kind,
            "a record on the brokers cannot be read; a later version may have written it"
        );
    }
    card.ok().filter(|card| card.kind == kind)
}

fn mark() -> u128 {
    uuid::Uuid::new_v4().as_u128()
}
