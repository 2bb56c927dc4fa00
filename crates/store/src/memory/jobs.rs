//! The jobs, under the same lock as the mail that carries them.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};

use crate::change::Filed;
use crate::error::{Error, Result};
use crate::outbox::{DeadJob, Handback, Job, JobId, Lease, NewJob};

/// Charged for each job beside its payload and the messages it names.
const JOB_WEIGHT: u64 = 512;
/// Charged for each message that a job names: its id, and its mailbox's name, which may have no other holder.
const MESSAGE_WEIGHT: usize = 96;

/// Jobs that wait, are leased, or are dead.
pub(super) struct Jobs {
    records: BTreeMap<JobId, Record>,
    lines: HashMap<String, Line>,
    dead: VecDeque<DeadJob>,
    dead_max: usize,
    bytes: u64,
    bytes_max: u64,
    last: u64,
}

/// The order in which jobs of one kind are taken.
#[derive(Default)]
struct Line {
    /// Can be taken now.
    ready: BTreeSet<JobId>,
    /// Can be taken from a time on: not before it, or when its lease has run out.
    later: BTreeSet<(Timestamp, JobId)>,
}

struct Record {
    kind: String,
    payload: Bytes,
    messages: Arc<[Filed]>,
    takings: u32,
    /// Whether a taking has not been handed back.
    leased: bool,
    until: Option<Timestamp>,
    weight: u64,
}

impl Jobs {
    pub(super) fn new(bytes_max: u64, dead_max: usize) -> Self {
        let (records, lines, dead) = (BTreeMap::new(), HashMap::new(), VecDeque::new());
        Self { records, lines, dead, dead_max, bytes: 0, bytes_max, last: 0 }
    }

    /// Whether these can be added, naming up to so many messages.
    pub(super) fn check_room(&self, jobs: &[NewJob], messages: usize) -> Result<()> {
        let more: u64 = jobs.iter().map(|job| weight(job, messages)).sum();
        if more == 0 || self.bytes + more <= self.bytes_max {
            return Ok(());
        }
        Err(Error::Full { what: format!("jobs wait that take the {} bytes kept for them", self.bytes_max) })
    }

    /// Add jobs that carry the news of these messages.
    pub(super) fn add(&mut self, jobs: Vec<NewJob>, messages: &[Filed]) {
        if jobs.is_empty() {
            return;
        }
        let messages: Arc<[Filed]> = messages.into();
        for job in jobs {
            self.last += 1;
            let id = JobId(self.last);
            let weight = weight(&job, messages.len());
            self.bytes += weight;
            let NewJob { kind, payload, not_before } = job;
            self.line(&kind).put(id, not_before);
            let messages = Arc::clone(&messages);
            let record = Record { kind, payload, messages, takings: 0, leased: false, until: not_before, weight };
            self.records.insert(id, record);
        }
    }

    fn line(&mut self, kind: &str) -> &mut Line {
        if !self.lines.contains_key(kind) {
            self.lines.insert(kind.to_owned(), Line::default());
        }
        self.lines.get_mut(kind).expect("it was there or was put there")
    }

    pub(super) fn take(&mut self, kind: &str, limit: usize, lease: Duration, now: Timestamp) -> Vec<Job> {
        let Some(line) = self.lines.get_mut(kind) else { return Vec::new() };
        line.ripen(now);
        let lease = SignedDuration::try_from(lease).unwrap_or(SignedDuration::MAX);
        let until = now.checked_add(lease).unwrap_or(Timestamp::MAX);
        let mut taken = Vec::new();
        while taken.len() < limit
            && let Some(id) = line.ready.pop_first()
        {
            let Some(record) = self.records.get_mut(&id) else { continue };
            line.later.insert((until, id));
            taken.push(record.take(id, until));
        }
        taken
    }

    pub(super) fn done(&mut self, lease: Lease) -> Handback {
        self.remove(lease).map_or(Handback::Late, |_| Handback::Taken)
    }

    pub(super) fn retry(&mut self, lease: Lease, not_before: Timestamp) -> Handback {
        let Some(record) = self.records.get_mut(&lease.job).filter(|record| record.is_held_by(lease)) else {
            return Handback::Late;
        };
        let before = record.until.replace(not_before);
        record.leased = false;
        if let Some(line) = self.lines.get_mut(&record.kind) {
            line.remove(lease.job, before);
            line.put(lease.job, Some(not_before));
        }
        Handback::Taken
    }

    pub(super) fn bury(&mut self, lease: Lease, reason: &str, now: Timestamp) -> Handback {
        let Some(record) = self.remove(lease) else { return Handback::Late };
        let Record { kind, payload, .. } = record;
        self.dead.push_back(DeadJob { id: lease.job, kind, payload, reason: reason.to_owned(), died_at: now });
        if self.dead.len() > self.dead_max {
            self.dead.pop_front();
        }
        Handback::Taken
    }

    pub(super) fn dead(&self, kind: &str, limit: usize) -> Vec<DeadJob> {
        self.dead.iter().rev().filter(|job| job.kind == kind).take(limit).cloned().collect()
    }

    pub(super) fn waiting(&self, kind: &str) -> u64 {
        self.lines.get(kind).map_or(0, |line| (line.ready.len() + line.later.len()) as u64)
    }

    fn remove(&mut self, lease: Lease) -> Option<Record> {
        self.records.get(&lease.job).filter(|record| record.is_held_by(lease))?;
        let record = self.records.remove(&lease.job)?;
        self.bytes -= record.weight;
        if let Some(line) = self.lines.get_mut(&record.kind) {
            line.remove(lease.job, record.until);
        }
        Some(record)
    }
}

impl Line {
    fn put(&mut self, id: JobId, not_before: Option<Timestamp>) {
        match not_before {
            None => _ = self.ready.insert(id),
            Some(at) => _ = self.later.insert((at, id)),
        }
    }

    fn remove(&mut self, id: JobId, until: Option<Timestamp>) {
        self.ready.remove(&id);
        if let Some(until) = until {
            self.later.remove(&(until, id));
        }
    }

    /// Jobs whose time has come can be taken.
    fn ripen(&mut self, now: Timestamp) {
        while let Some((_, id)) = self.later.first().copied().filter(|(at, _)| *at <= now) {
            self.later.pop_first();
            self.ready.insert(id);
        }
    }
}

impl Record {
    fn take(&mut self, id: JobId, until: Timestamp) -> Job {
        let attempts = self.takings;
        self.takings += 1;
        self.leased = true;
        self.until = Some(until);
        Job {
            lease: Lease { job: id, taking: u64::from(self.takings) },
            kind: self.kind.clone(),
            payload: self.payload.clone(),
            messages: self.messages.to_vec(),
            attempts,
        }
    }

    fn is_held_by(&self, lease: Lease) -> bool {
        self.leased && u64::from(self.takings) == lease.taking
    }
}

/// The messages are charged to each job, though those of one call share their list.
fn weight(job: &NewJob, messages: usize) -> u64 {
    JOB_WEIGHT + (job.payload.len() + job.kind.len() + messages * MESSAGE_WEIGHT) as u64
}
