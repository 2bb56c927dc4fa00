//! Jobs that leave with mail: written in the same step as the append, delete or purge that carries them, taken under a
//! lease by whoever does them, and gone only when done or declared dead.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;

use crate::change::Filed;
use crate::error::Result;

/// A job to be written. What it says is the business of whoever takes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewJob {
    /// Who takes it: `webhook`, `relay`.
    pub kind: String,
    /// What to do.
    pub payload: Bytes,
    /// Not to be taken before; none: at once.
    pub not_before: Option<Timestamp>,
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
    /// What it was to do.
    pub payload: Bytes,
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
    /// Take up to `limit` jobs of a kind, oldest first. Not given back within `lease`, a job can be taken again.
    async fn take(&self, kind: &str, limit: usize, lease: Duration) -> Result<Vec<Job>>;

    /// The job is done and goes.
    async fn done(&self, lease: Lease) -> Result<Handback>;

    /// The job failed for now; it can be taken again from `not_before` on.
    async fn retry(&self, lease: Lease, not_before: Timestamp) -> Result<Handback>;

    /// The job will never succeed; it is kept among the dead.
    async fn dead(&self, lease: Lease, reason: &str) -> Result<Handback>;

    /// The dead of a kind, newest first.
    async fn dead_jobs(&self, kind: &str, limit: usize) -> Result<Vec<DeadJob>>;

    /// How many jobs of a kind wait or are leased.
    async fn waiting(&self, kind: &str) -> Result<u64>;
}
