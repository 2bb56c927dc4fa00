//! How often a plan was met, counted in the store's records by compare and set: every node counts the same, and what any
//! of them saw is seen by all. Everything counted goes with its plan.

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use store::registry::Registry;
use store::{Error, Expect, Put, Result};

use super::plan::{Per, Plan};

/// The kind of these records: under its id what a plan met in all, and under its id and a sum what it met of one pair.
pub(crate) const KIND: &str = "fault-count";
/// So often other nodes may be faster before this one gives up. Of those who try at once one always succeeds.
const TRIES_MAX: usize = 200;
/// Octets of the sum of a pair.
const SUM: usize = 12;

/// What a plan met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Count {
    /// How many attempts.
    pub attempts: u64,
    /// At how many of them it acted.
    pub fired: u64,
    /// How many pairs are counted apart.
    pub(crate) pairs: u64,
}

/// Whom an attempt is of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met<'a> {
    pub(crate) sender: &'a str,
    pub(crate) recipient: &'a str,
}

/// Counts the attempts of one plan.
pub(crate) struct Attempts<'a> {
    pub(crate) registry: &'a dyn Registry,
    pub(crate) plan: &'a Plan,
    /// `faults.pairs_max`.
    pub(crate) pairs_max: u64,
}

impl Attempts<'_> {
    /// One more: its number among those counted together, and whether the plan acts.
    pub(crate) async fn one_more(&self, met: Met<'_>) -> Result<(u64, bool)> {
        let number = match self.together(met) {
            None => None,
            Some(key) => Some(self.of_pair(key).await?),
        };
        let mut fires = false;
        let count = self
            .change(&self.plan.id, |count| {
                count.attempts += 1;
                fires = self.plan.when.fires(number.unwrap_or(count.attempts));
                count.fired += u64::from(fires);
                true
            })
            .await?;
        Ok((number.unwrap_or(count.attempts), fires))
    }

    /// What is counted apart from the rest; none: nothing is.
    fn together(&self, met: Met<'_>) -> Option<String> {
        let text = match self.plan.per {
            Per::Plan => return None,
            Per::Recipient => met.recipient.to_lowercase(),
            // Neither address holds a control character.
            Per::Pair => format!("{}\n{}", met.recipient.to_lowercase(), met.sender.to_lowercase()),
        };
        let sum: String = blake3::hash(text.as_bytes()).to_hex().chars().take(2 * SUM).collect();
        Some(format!("{}.{sum}", self.plan.id))
    }

    /// One more of a pair. Those that come when `faults.pairs_max` are known already are counted together.
    async fn of_pair(&self, mut key: String) -> Result<u64> {
        if self.registry.get(KIND, &key).await?.is_none() && !self.has_room().await? {
            key = format!("{}.others", self.plan.id);
        }
        let count = self
            .change(&key, |count| {
                count.attempts += 1;
                true
            })
            .await?;
        Ok(count.attempts)
    }

    async fn has_room(&self) -> Result<bool> {
        let mut has_room = false;
        self.change(&self.plan.id, |count| {
            has_room = count.pairs < self.pairs_max;
            count.pairs += u64::from(has_room);
            has_room
        })
        .await?;
        Ok(has_room)
    }

    /// Change a record as it is at this moment, unless there is nothing to change; what it says then.
    async fn change(&self, key: &str, mut change: impl FnMut(&mut Count) -> bool) -> Result<Count> {
        let mut there = self.registry.get(KIND, key).await?;
        for _ in 0..TRIES_MAX {
            let (mut count, expect) = match &there {
                None => (Count::default(), Expect::Absent),
                Some(entry) => (read(&entry.value)?, Expect::Version(entry.version)),
            };
            if !change(&mut count) {
                return Ok(count);
            }
            match self.registry.put(KIND, key, write(count), self.expires(), expect).await? {
                Put::Written(_) => return Ok(count),
                Put::Conflict(other) => there = other,
            }
        }
        Err(Error::try_later("the attempts of a fault plan are counted by too many nodes at once"))
    }

    fn expires(&self) -> Option<Timestamp> {
        Some(self.plan.expires)
    }
}

/// What a plan met, as a record says.
pub(crate) fn read(value: &[u8]) -> Result<Count> {
    postcard::from_bytes(value).map_err(|_| Error::try_later("what a fault plan met was written by another version"))
}

fn write(count: Count) -> Bytes {
    // A plain structure: writing it cannot fail.
    postcard::to_allocvec(&count).map(Bytes::from).unwrap_or_default()
}
