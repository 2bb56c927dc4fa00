//! How often something may happen to one mailbox or from one address, and what a sender hears when it is too often.
//!
//! It knows the keys and the words; the counting is `rate`'s.

use std::hash::Hash;
use std::time::Duration;

use rate::{Quota, Rate};

use crate::counters::COUNTERS;
use crate::error::Error;
use crate::verdict::Verdict;

/// A pace for each key; none is no limit.
#[derive(Debug)]
pub(crate) struct Pace<K: Hash + Eq + Clone>(Option<Rate<K>>);

impl<K: Hash + Eq + Clone> Pace<K> {
    /// At most so often for each of the keys, of which so many are remembered.
    pub(crate) fn new(quota: Option<Quota>, entries_max: usize) -> Self {
        Self(quota.map(|quota| Rate::new(quota, entries_max)))
    }

    /// Whether it may happen once more.
    pub(crate) fn has_room(&self, key: &K) -> bool {
        self.0.as_ref().is_none_or(|rate| rate.has_room(key))
    }

    /// It happens once more; if that is too often, the time after which it would not be.
    pub(crate) fn take(&self, key: &K) -> Result<(), Duration> {
        self.0.as_ref().map_or(Ok(()), |rate| rate.take(key, 1))
    }

    /// The same, so many times at once.
    pub(crate) fn take_many(&self, key: &K, many: u32) -> Result<(), Duration> {
        self.0.as_ref().map_or(Ok(()), |rate| rate.take(key, many))
    }

    /// Forget those for whom nothing has happened of late.
    pub(crate) fn forget_idle(&self) {
        self.0.iter().for_each(Rate::forget_idle);
    }
}

/// What the sender to a mailbox hears that gets too much mail. It is the mailbox's limit, so others are not held up, and
/// no fault of this sender's, so it may try again.
pub(crate) fn too_much_for_mailbox(wait: Duration) -> Verdict {
    COUNTERS.refused_by_mailbox_rate.increment(1);
    let seconds = wait.as_secs() + 1;
    let text = format!(
        "Mail for this mailbox comes more often than rate.mailbox_max allows; try again in {seconds} s, or raise it"
    );
    Verdict::refuse(450, (4, 2, 1), text)
}

/// The same, where the mailbox is known only when the message is there.
pub(crate) fn too_often_for_mailbox(wait: Duration) -> Error {
    COUNTERS.refused_by_mailbox_rate.increment(1);
    Error::TooOften { what: "messages for this mailbox (rate.mailbox_max)", wait }
}

#[cfg(test)]
mod tests;
