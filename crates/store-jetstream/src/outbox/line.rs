//! What one node knows of the jobs of a kind: where each stands and when it can be taken, in the order in which they were
//! first stored. Everything that lets a job be taken is a message in the stream, so that reading on from where the last
//! reading ended is enough. That a job was done elsewhere is not told: whoever goes to take it finds that it is gone.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::slip::{Slip, Waiting};
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
    spots: HashMap<u64, (Spot, Option<Lane>)>,
    /// Where each is, by where it stands.
    born: HashMap<u64, u64>,
    /// The jobs of each lane, oldest first. Only the first of them is in one of the two sets below.
    lanes: HashMap<Lane, VecDeque<u64>>,
    /// Can be taken now.
    ready: BTreeSet<u64>,
    /// Can be taken from a time on.
    later: BTreeSet<(i64, u64)>,
    /// Gone, and where each stood last: a reading that began before that may still tell of it.
    gone: HashMap<u64, u64>,
}

/// The name of a lane, held once for all its jobs.
type Lane = Arc<str>;

/// Where a job stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spot {
    pub(super) seq: u64,
    pub(super) id: u64,
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
        match record::read::<Slip>(&raw.data) {
            Ok(Slip::Buried { born }) => known.remove(born),
            Ok(slip) => {
                let is_gone = |job: &Waiting| known.gone.get(&job.born(raw.seq)).is_some_and(|last| raw.seq <= *last);
                if let Some(job) = slip.job().ok().filter(|job| job.kind == kind && !is_gone(job)) {
                    known.put(&job, raw.seq);
                }
            }
            Err(_) => tracing::warn!(
                seq = raw.seq,
                kind,
                "a job on the brokers cannot be read; a later version may have written it"
            ),
        }
        known.read_up_to(raw.seq);
    }

    /// The first jobs that can be taken now, each with where it was first stored; others here take them for leased.
    pub(super) fn choose(&self, limit: usize, now: Timestamp, until: Timestamp) -> Vec<(u64, Spot)> {
        let mut known = self.hold();
        known.ripen(now.as_microsecond());
        let mut chosen = Vec::new();
        while chosen.len() < limit
            && let Some(born) = known.ready.pop_first()
        {
            let until = until.as_microsecond();
            let Some((spot, _)) = known.spots.get_mut(&born) else { continue };
            chosen.push((born, std::mem::replace(spot, Spot { due: Some(until), ..*spot })));
            known.later.insert((until, born));
        }
        chosen
    }

    /// A job stands at this sequence now.
    pub(super) fn put(&self, job: &Waiting, seq: u64) {
        self.hold().put(job, seq);
    }

    /// It was not taken after all.
    pub(super) fn put_back(&self, born: u64, spot: Spot) {
        let mut known = self.hold();
        if known.spots.get(&born).is_some_and(|(there, _)| there.seq == spot.seq) {
            known.set_spot(born, spot);
        }
    }

    /// The job that stood here is gone.
    pub(super) fn forget(&self, seq: u64) {
        let mut known = self.hold();
        if let Some(born) = known.born.get(&seq).copied() {
            known.remove(born);
            if seq > known.read {
                known.gone.insert(born, seq);
            }
        }
    }

    fn hold(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// What is older than what is known is no news.
    fn put(&mut self, job: &Waiting, seq: u64) {
        let (born, spot) = (job.born(seq), Spot { seq, id: job.id, due: job.due });
        match self.spots.get(&born).map(|(spot, _)| spot.seq) {
            Some(before) if before > seq => (),
            Some(before) => {
                self.born.remove(&before);
                self.born.insert(seq, born);
                self.set_spot(born, spot);
            }
            None => {
                let lane = job.lane.as_deref().map(|lane| self.join(lane, born));
                self.born.insert(seq, born);
                self.spots.insert(born, (spot, lane));
                self.index(born);
            }
        }
    }

    /// A job that was not known comes to its place in its lane, which is not always the end.
    fn join(&mut self, lane: &str, born: u64) -> Lane {
        let name = self.lanes.get_key_value(lane).map_or_else(|| Lane::from(lane), |(name, _)| Arc::clone(name));
        let jobs = self.lanes.entry(Arc::clone(&name)).or_default();
        let first = jobs.front().copied();
        jobs.insert(jobs.partition_point(|other| *other < born), born);
        if let Some(first) = first.filter(|first| born < *first) {
            self.unindex(first);
        }
        name
    }

    fn read_up_to(&mut self, seq: u64) {
        self.read = self.read.max(seq);
        let read = self.read;
        self.gone.retain(|_, last| *last > read);
    }

    fn set_spot(&mut self, born: u64, spot: Spot) {
        self.unindex(born);
        if let Some((there, _)) = self.spots.get_mut(&born) {
            *there = spot;
        }
        self.index(born);
    }

    fn remove(&mut self, born: u64) {
        self.unindex(born);
        let Some((spot, lane)) = self.spots.remove(&born) else { return };
        self.born.remove(&spot.seq);
        let Some(lane) = lane else { return };
        let Some(jobs) = self.lanes.get_mut(&lane) else { return };
        if let Ok(place) = jobs.binary_search(&born) {
            jobs.remove(place);
        }
        match jobs.front().copied() {
            Some(first) => self.index(first),
            None => _ = self.lanes.remove(&lane),
        }
    }

    /// It can be taken when its time has come, if it is the first of its lane.
    fn index(&mut self, born: u64) {
        let Some((spot, lane)) = self.spots.get(&born) else { return };
        let is_first =
            lane.as_ref().is_none_or(|lane| self.lanes.get(lane).and_then(|jobs| jobs.front()) == Some(&born));
        match spot.due {
            _ if !is_first => (),
            Some(due) => _ = self.later.insert((due, born)),
            None => _ = self.ready.insert(born),
        }
    }

    fn unindex(&mut self, born: u64) {
        self.ready.remove(&born);
        if let Some(due) = self.spots.get(&born).and_then(|(spot, _)| spot.due) {
            self.later.remove(&(due, born));
        }
    }

    fn ripen(&mut self, now: i64) {
        while let Some((_, born)) = self.later.first().copied().filter(|(due, _)| *due <= now) {
            self.later.pop_first();
            self.ready.insert(born);
        }
    }
}
