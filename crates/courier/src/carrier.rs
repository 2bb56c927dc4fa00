//! Somebody who does the jobs of one kind, and what came of one.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use mailroom::Job;

/// Does the jobs of one kind.
#[async_trait]
pub trait Carrier: Send + Sync + 'static {
    /// Which jobs: `webhook:shop`, `release`.
    fn kind(&self) -> &str;

    /// How many may be under way now; none while it rests.
    fn hands(&self) -> usize;

    /// How long one attempt can take, at most. A job that is not given back soon after that is somebody else's.
    fn patience(&self) -> Duration;

    /// Try one.
    async fn carry(&self, job: &Job) -> Outcome;
}

/// What came of an attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is done.
    Done,
    /// Not yet; to be tried again, not before this.
    Again(Timestamp),
    /// It will never be done, for this reason.
    Dead(String),
}
