//! What one node knows of the jobs of a kind: where each stands and when it can be taken, in the order in which they were
//! first stored. Everything that lets a job be taken is a message in the stream, so that reading on from where the last
//! reading ended is enough. That a job was done elsewhere is not told: whoever goes to take it finds that it is gone.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::slip::Slip;
use crate::record;
use crate::wire::Raw;

/// The jobs of one kind, as far as is known here.
#[derive(Default)]
pub(super) struct Line {
    /// Held by the one who reads on.
    pub(super) reading: tokio::sync::Mutex<()>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Up to here the stream was read.
    read: u64,
    /// By where each was first stored.
    spots: BTreeMap<u64, Spot>,
    /// Where each is, by where it stands.
    born: HashMap<u64, u64>,
}

/// Where a job stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spot {
    pub(super) seq: u64,
    due: Option<i64>,
}

impl Line {
    /// From where to read on.
    pub(super) fn unread(&self) -> u64 {
        self.hold().read + 1
    }

    /// Read a message of the stream.
    pub(super) fn read(&self, raw: &Raw, kind: &str) {
        let mut known = self.hold();
        known.read = known.read.max(raw.seq);
        match record::read(&raw.data) {
            Ok(Slip::Waiting(job)) if job.kind == kind => {
                known.put(job.born(raw.seq), Spot { seq: raw.seq, due: job.due });
            }
            Ok(Slip::Waiting(_)) => (),
            Ok(Slip::Buried { born }) => known.remove(born),
            Err(_) => tracing::warn!(
                seq = raw.seq,
                kind,
                "a job on the brokers cannot be read; a later version may have written it"
            ),
        }
    }

    /// The first jobs that can be taken now, each with where it was first stored; others here take them for leased.
    pub(super) fn choose(&self, limit: usize, now: Timestamp, until: Timestamp) -> Vec<(u64, Spot)> {
        let now = now.as_microsecond();
        let mut known = self.hold();
        let is_due = |spot: &Spot| spot.due.is_none_or(|due| due <= now);
        let chosen = known.spots.iter_mut().filter(|(_, spot)| is_due(spot)).take(limit);
        chosen
            .map(|(born, spot)| (*born, std::mem::replace(spot, Spot { due: Some(until.as_microsecond()), ..*spot })))
            .collect()
    }

    /// A job stands somewhere else now, or, when it could not be taken after all, where it was.
    pub(super) fn put(&self, born: u64, seq: u64, due: Timestamp) {
        self.hold().put(born, Spot { seq, due: Some(due.as_microsecond()) });
    }

    /// It was not taken after all.
    pub(super) fn put_back(&self, born: u64, spot: Spot) {
        self.hold().put(born, spot);
    }

    /// The job that stood here is gone.
    pub(super) fn forget(&self, seq: u64) {
        let mut known = self.hold();
        if let Some(born) = known.born.get(&seq).copied() {
            known.remove(born);
        }
    }

    fn hold(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// What is older than what is known is no news.
    fn put(&mut self, born: u64, spot: Spot) {
        let before = self.spots.get(&born).map_or(0, |before| before.seq);
        if before <= spot.seq {
            self.born.remove(&before);
            self.born.insert(spot.seq, born);
            self.spots.insert(born, spot);
        }
    }

    fn remove(&mut self, born: u64) {
        if let Some(spot) = self.spots.remove(&born) {
            self.born.remove(&spot.seq);
        }
    }
}
