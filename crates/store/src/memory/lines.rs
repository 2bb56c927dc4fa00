//! In which order jobs are taken: by kind, then by time and age, and one at a time of each lane. Knows ids, not jobs.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use crate::outbox::JobId;

/// The name of a lane, held once for all its jobs.
pub(super) type Lane = Arc<str>;

/// A line for each kind.
#[derive(Default)]
pub(super) struct Lines(HashMap<String, Line>);

/// The order in which jobs of one kind are taken.
#[derive(Default)]
pub(super) struct Line {
    /// Can be taken now.
    ready: BTreeSet<JobId>,
    /// Can be taken from a time on: not before it, or when its lease has run out.
    later: BTreeSet<(Timestamp, JobId)>,
    /// The jobs of each lane. Only the first of them is in one of the two sets above.
    lanes: HashMap<Lane, VecDeque<JobId>>,
    /// Those that stand behind another one in their lane.
    behind: usize,
}

impl Lines {
    pub(super) fn named(&mut self, kind: &str) -> Option<&mut Line> {
        self.0.get_mut(kind)
    }

    pub(super) fn open(&mut self, kind: &str) -> &mut Line {
        if !self.0.contains_key(kind) {
            self.0.insert(kind.to_owned(), Line::default());
        }
        self.0.get_mut(kind).expect("it was there or was put there")
    }
}

impl Line {
    /// A new job, the youngest of all, comes to the end of its lane.
    pub(super) fn join(&mut self, id: JobId, lane: Option<String>, not_before: Option<Timestamp>) -> Option<Lane> {
        let Some(lane) = lane else {
            self.put(id, not_before);
            return None;
        };
        let name = match self.lanes.get_key_value(lane.as_str()) {
            Some((name, _)) => Arc::clone(name),
            None => Lane::from(lane),
        };
        let jobs = self.lanes.entry(Arc::clone(&name)).or_default();
        jobs.push_back(id);
        match jobs.len() {
            1 => self.put(id, not_before),
            _ => self.behind += 1,
        }
        Some(name)
    }

    /// The first job of a lane is gone; the one that is the first now, which is to be put into the line.
    pub(super) fn leave(&mut self, lane: Option<&Lane>) -> Option<JobId> {
        let lane = lane?;
        let jobs = self.lanes.get_mut(lane)?;
        jobs.pop_front();
        let next = jobs.front().copied();
        match next {
            Some(_) => self.behind -= 1,
            None => _ = self.lanes.remove(lane),
        }
        next
    }

    /// It can be taken from a time on.
    pub(super) fn put(&mut self, id: JobId, not_before: Option<Timestamp>) {
        match not_before {
            None => _ = self.ready.insert(id),
            Some(at) => _ = self.later.insert((at, id)),
        }
    }

    /// It cannot be taken: it was put for this time.
    pub(super) fn take_back(&mut self, id: JobId, until: Option<Timestamp>) {
        self.ready.remove(&id);
        if let Some(until) = until {
            self.later.remove(&(until, id));
        }
    }

    /// Jobs whose time has come can be taken.
    pub(super) fn ripen(&mut self, now: Timestamp) {
        while let Some((_, id)) = self.later.first().copied().filter(|(at, _)| *at <= now) {
            self.later.pop_first();
            self.ready.insert(id);
        }
    }

    /// The oldest that can be taken.
    pub(super) fn next(&mut self) -> Option<JobId> {
        self.ready.pop_first()
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        (self.ready.len() + self.later.len() + self.behind) as u64
    }
}
