//! The jobs, under the same lock as the mail that carries them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};

use crate::change::Filed;
use crate::error::{Error, Result};
use crate::outbox::{DeadJob, Handback, Job, JobId, Lease, LeftOut, NewJob, admit};

use super::lines::{Lane, Lines};

/// Charged for each job beside its payload and the messages it names.
const JOB_WEIGHT: u64 = 512;
/// Charged for a lane, in case that the job is the only one in it.
const LANE_WEIGHT: usize = 128;
/// Charged for each message that a job names: its id, and its mailbox's name, which may have no other holder.
const MESSAGE_WEIGHT: usize = 96;

/// Jobs that wait, are leased, or are dead.
pub(super) struct Jobs {
    records: BTreeMap<JobId, Record>,
    lines: Lines,
    dead: VecDeque<DeadJob>,
    dead_max: usize,
    bytes: u64,
    bytes_max: u64,
    last: u64,
    left_out: LeftOut,
}

struct Record {
    kind: String,
    lane: Option<Lane>,
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
        let (records, lines, dead) = (BTreeMap::new(), Lines::default(), VecDeque::new());
        Self { records, lines, dead, dead_max, bytes: 0, bytes_max, last: 0, left_out: LeftOut::default() }
    }

    /// Those that there is room for when they name up to so many messages; refused when one finds none that must.
    pub(super) fn admit(&mut self, jobs: Vec<NewJob>, messages: usize) -> Result<Admitted> {
        if jobs.is_empty() {
            return Ok(Admitted::default());
        }
        let room = self.bytes_max.saturating_sub(self.bytes);
        let Some(fits) = admit(&jobs, room, |job| weight(job, messages)) else { return Err(self.full()) };
        let left_out = fits.iter().filter(|fits| !**fits).count() as u64;
        let jobs = jobs.into_iter().zip(fits).filter(|(_, fits)| *fits).map(|(job, _)| job).collect();
        Ok(Admitted { jobs, left_out })
    }

    fn full(&self) -> Error {
        Error::Full { what: format!("jobs wait that take the {} bytes kept for them", self.bytes_max) }
    }

    /// Add jobs that carry the news of these messages; what they are called.
    pub(super) fn add(&mut self, admitted: Admitted, messages: &[Filed]) -> Vec<JobId> {
        self.left_out.add(admitted.left_out, "store.memory.jobs_bytes_max");
        if admitted.jobs.is_empty() {
            return Vec::new();
        }
        let messages: Arc<[Filed]> = messages.into();
        admitted.jobs.into_iter().map(|job| self.add_one(job, Arc::clone(&messages))).collect()
    }

    fn add_one(&mut self, job: NewJob, messages: Arc<[Filed]>) -> JobId {
        self.last += 1;
        let id = JobId(self.last);
        let weight = weight(&job, messages.len());
        self.bytes += weight;
        let NewJob { kind, lane, payload, not_before, .. } = job;
        let lane = self.lines.open(&kind).join(id, lane, not_before);
        let record = Record { kind, lane, payload, messages, takings: 0, leased: false, until: not_before, weight };
        self.records.insert(id, record);
        id
    }

    /// Add jobs that nothing carries.
    pub(super) fn submit(&mut self, jobs: Vec<NewJob>) -> Result<Vec<JobId>> {
        let more: u64 = jobs.iter().map(|job| weight(job, 0)).sum();
        if self.bytes + more > self.bytes_max {
            return Err(self.full());
        }
        Ok(self.add(Admitted { jobs, left_out: 0 }, &[]))
    }

    pub(super) fn take(&mut self, kind: &str, limit: usize, lease: Duration, now: Timestamp) -> Vec<Job> {
        let Some(line) = self.lines.named(kind) else { return Vec::new() };
        line.ripen(now);
        let lease = SignedDuration::try_from(lease).unwrap_or(SignedDuration::MAX);
        let until = now.checked_add(lease).unwrap_or(Timestamp::MAX);
        let mut taken = Vec::new();
        while taken.len() < limit
            && let Some(id) = line.next()
        {
            let Some(record) = self.records.get_mut(&id) else { continue };
            line.put(id, Some(until));
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
        if let Some(line) = self.lines.named(&record.kind) {
            line.take_back(lease.job, before);
            line.put(lease.job, Some(not_before));
        }
        Handback::Taken
    }

    pub(super) fn bury(&mut self, lease: Lease, reason: &str, now: Timestamp) -> Handback {
        let Some(record) = self.remove(lease) else { return Handback::Late };
        self.dead.push_back(DeadJob {
            id: lease.job,
            kind: record.kind,
            lane: record.lane.as_deref().map(str::to_owned),
            payload: record.payload,
            messages: record.messages.to_vec(),
            attempts: record.takings,
            reason: reason.to_owned(),
            died_at: now,
        });
        if self.dead.len() > self.dead_max {
            self.dead.pop_front();
        }
        Handback::Taken
    }

    pub(super) fn revive(&mut self, job: JobId) -> Result<Option<JobId>> {
        let Some(place) = self.dead.iter().position(|dead| dead.id == job) else { return Ok(None) };
        let dead = &self.dead[place];
        let (kind, payload) = (dead.kind.clone(), dead.payload.clone());
        let job = NewJob { lane: dead.lane.clone(), ..NewJob::new(kind, payload) };
        if self.bytes + weight(&job, dead.messages.len()) > self.bytes_max {
            return Err(self.full());
        }
        let messages = self.dead.remove(place).map(|dead| dead.messages).unwrap_or_default();
        Ok(Some(self.add_one(job, messages.into())))
    }

    pub(super) fn dead_job(&self, job: JobId) -> Option<DeadJob> {
        self.dead.iter().find(|dead| dead.id == job).cloned()
    }

    pub(super) fn dead(&self, kind: &str, limit: usize) -> Vec<DeadJob> {
        self.dead.iter().rev().filter(|job| job.kind == kind).take(limit).cloned().collect()
    }

    pub(super) fn waiting(&mut self, kind: &str) -> u64 {
        self.lines.named(kind).map_or(0, |line| line.len())
    }

    pub(super) fn left_out(&self) -> u64 {
        self.left_out.count()
    }

    fn remove(&mut self, lease: Lease) -> Option<Record> {
        self.records.get(&lease.job).filter(|record| record.is_held_by(lease))?;
        let record = self.records.remove(&lease.job)?;
        self.bytes -= record.weight;
        if let Some(line) = self.lines.named(&record.kind) {
            line.take_back(lease.job, record.until);
            if let Some(next) = line.leave(record.lane.as_ref()) {
                let not_before = self.records.get(&next).and_then(|next| next.until);
                line.put(next, not_before);
            }
        }
        Some(record)
    }
}

/// Jobs that there is room for.
#[derive(Default)]
pub(super) struct Admitted {
    jobs: Vec<NewJob>,
    left_out: u64,
}

impl Admitted {
    /// Whether none were asked for.
    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.left_out == 0
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
            lane: self.lane.as_deref().map(str::to_owned),
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
    let lane = job.lane.as_ref().map_or(0, |lane| LANE_WEIGHT + lane.len());
    JOB_WEIGHT + (job.payload.len() + job.kind.len() + lane + messages * MESSAGE_WEIGHT) as u64
}
