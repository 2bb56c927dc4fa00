//! Jobs that leave with mail: written in the same step as the append, delete or purge that carries them, taken under a
//! lease by whoever does them, and gone only when done or declared dead. Jobs of one lane are done one after the other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;

use crate::change::Filed;
use crate::error::Result;

/// A job to be written. What it says is the business of whoever takes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewJob {
    /// Who takes it: `webhook:shop`, `release`.
    pub kind: String,
    /// Those of one kind and lane are taken in the order in which they were written, each only when the ones before it are
    /// done or dead. None: whenever there is somebody to take it.
    pub lane: Option<String>,
    /// What to do.
    pub payload: Bytes,
    /// Not to be taken before; none: at once.
    pub not_before: Option<Timestamp>,
    /// What happens when there is no room for it.
    pub if_full: IfFull,
}

/// What happens to a job, and to what carries it, when there is no room for more jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IfFull {
    /// What carries it is refused with it.
    #[default]
    Refuse,
    /// It is left out, counted and logged; what carries it goes on.
    LeaveOut,
}

impl NewJob {
    /// A job of a kind, in no lane, to be done at once, that what carries it depends on.
    pub fn new(kind: impl Into<String>, payload: impl Into<Bytes>) -> Self {
        let (kind, payload) = (kind.into(), payload.into());
        Self { kind, lane: None, payload, not_before: None, if_full: IfFull::Refuse }
    }

    /// In this lane.
    pub fn in_lane(self, lane: impl Into<String>) -> Self {
        Self { lane: Some(lane.into()), ..self }
    }

    /// Not to be taken before.
    pub fn not_before(self, at: Timestamp) -> Self {
        Self { not_before: Some(at), ..self }
    }

    /// Left out when there is no room.
    pub fn if_there_is_room(self) -> Self {
        Self { if_full: IfFull::LeaveOut, ..self }
    }
}

/// Names a job for good.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct JobId(pub u64);

/// Names one taking of a job: an old lease can neither finish nor bury what somebody else has taken since.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lease {
    /// Which job.
    pub job: JobId,
    /// Which taking of it.
    pub taking: u64,
}

/// A job that was taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// To be given back with `done`, `retry` or `dead`.
    pub lease: Lease,
    /// Who takes it.
    pub kind: String,
    /// Nobody else has one of this lane.
    pub lane: Option<String>,
    /// What to do.
    pub payload: Bytes,
    /// The messages of the append or delete that carried it. Of a purge none: no engine need know what went, and the
    /// payload can name mailbox and position.
    pub messages: Vec<Filed>,
    /// How often it was taken before.
    pub attempts: u32,
}

/// A job nobody will take again, kept for people to look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadJob {
    /// Which.
    pub id: JobId,
    /// Who took it.
    pub kind: String,
    /// The lane it was in.
    pub lane: Option<String>,
    /// What it was to do.
    pub payload: Bytes,
    /// The messages of the append or delete that carried it.
    pub messages: Vec<Filed>,
    /// How often it was taken.
    pub attempts: u32,
    /// Why it died.
    pub reason: String,
    /// When.
    pub died_at: Timestamp,
}

/// Whether a lease still held when it was given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handback {
    /// It did, and the job is as asked.
    Taken,
    /// The job was taken by somebody else since, or is gone: nothing was changed. A lease that merely ran out still
    /// holds until somebody takes the job.
    Late,
}

/// The jobs of a store.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Take up to `limit` jobs of a kind, oldest first. Not given back within `lease`, a job can be taken again. No job of
    /// a lane is handed out while an older one of that kind and lane waits, is leased or is put off.
    async fn take(&self, kind: &str, limit: usize, lease: Duration) -> Result<Vec<Job>>;

    /// The job is done and goes.
    async fn done(&self, lease: Lease) -> Result<Handback>;

    /// The job failed for now; it can be taken again from `not_before` on.
    async fn retry(&self, lease: Lease, not_before: Timestamp) -> Result<Handback>;

    /// The job will never succeed; it is kept among the dead.
    async fn dead(&self, lease: Lease, reason: &str) -> Result<Handback>;

    /// Write jobs that no change carries, all or none; what each is called. Without room for all of them it is refused,
    /// whatever they say.
    async fn submit(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>>;

    /// Have a dead job wait once more, at the end of its lane and as if it was never taken; what it is called from now on.
    /// What must stay the same over all attempts belongs into the payload. None: no such job is among the dead.
    async fn revive(&self, job: JobId) -> Result<Option<JobId>>;

    /// One of the dead.
    async fn dead_job(&self, job: JobId) -> Result<Option<DeadJob>>;

    /// The dead of a kind, newest first.
    async fn dead_jobs(&self, kind: &str, limit: usize) -> Result<Vec<DeadJob>>;

    /// How many jobs of a kind wait or are leased.
    async fn waiting(&self, kind: &str) -> Result<u64>;

    /// How many jobs this process left out because there was no room, since it began.
    fn left_out(&self) -> u64;
}

/// Which of these jobs there is room for, one by one; none when one that must be written finds no room.
pub fn admit(jobs: &[NewJob], room: u64, weigh: impl Fn(&NewJob) -> u64) -> Option<Vec<bool>> {
    let must = |job: &NewJob| job.if_full == IfFull::Refuse;
    let needed: u64 = jobs.iter().filter(|job| must(job)).map(&weigh).sum();
    let mut left = room.checked_sub(needed)?;
    let mut fits = |job: &NewJob| {
        let rest = left.checked_sub(weigh(job));
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    Some(jobs.iter().map(|job| must(job) || fits(job)).collect())
}

/// Counts the jobs that were left out, and says so in the log: the first, the tenth, the hundredth and so on.
#[derive(Default, Debug)]
pub struct LeftOut(AtomicU64);

impl LeftOut {
    /// So many were left out for this bound.
    pub fn add(&self, jobs: u64, bound: &'static str) {
        if jobs == 0 {
            return;
        }
        let before = self.0.fetch_add(jobs, Ordering::Relaxed);
        let now = before + jobs;
        if before == 0 || before.ilog10() < now.ilog10() {
            tracing::warn!(left_out = now, bound, "no room for more jobs: the mail is kept, and nobody is told of it");
        }
    }

    /// How many so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_written_goes_before_what_need_not() {
        let weigh = |job: &NewJob| job.payload.len() as u64;
        let (must, may) = (NewJob::new("a", "123"), NewJob::new("a", "12").if_there_is_room());
        let jobs = [may.clone(), must.clone(), may.clone(), may];
        assert_eq!(admit(&jobs, 2, weigh), None);
        assert_eq!(admit(&jobs, 3, weigh), Some(vec![false, true, false, false]));
        assert_eq!(admit(&jobs, 7, weigh), Some(vec![true, true, true, false]));
        assert_eq!(admit(&jobs, 9, weigh), Some(vec![true; 4]));
        assert_eq!(admit(&[], 0, weigh), Some(Vec::new()));
    }
}
