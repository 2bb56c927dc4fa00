//! The verbs of whoever does the jobs that were written with changes: to take, to give back, to look at what died. Only
//! the program itself may.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use store::outbox::{DeadJob, Handback};
use store::{Job, Lease};
use tokio::sync::Notify;

use super::Mailroom;
use crate::access::{Target, Verb};
use crate::caller::Caller;
use crate::error::Result;
use crate::hooks::{Hooks, Moment};

impl Mailroom {
    /// Take jobs of a kind; whoever does not give one back within the lease has lost it.
    pub async fn take_jobs(&self, caller: &Caller, kind: &str, limit: usize, lease: Duration) -> Result<Vec<Job>> {
        let permit = self.access.permit(caller, Verb::Admin, Target::All)?;
        Ok(self.vault.open(&permit).outbox().take(kind, limit, lease).await?)
    }

    /// A job is done.
    pub async fn job_done(&self, caller: &Caller, lease: Lease) -> Result<Handback> {
        let permit = self.access.permit(caller, Verb::Admin, Target::All)?;
        Ok(self.vault.open(&permit).outbox().done(lease).await?)
    }

    /// A job is to be tried again, not before this.
    pub async fn job_retry(&self, caller: &Caller, lease: Lease, not_before: Timestamp) -> Result<Handback> {
        let permit = self.access.permit(caller, Verb::Admin, Target::All)?;
        Ok(self.vault.open(&permit).outbox().retry(lease, not_before).await?)
    }

    /// A job will never succeed.
    pub async fn job_dead(&self, caller: &Caller, lease: Lease, reason: &str) -> Result<Handback> {
        let permit = self.access.permit(caller, Verb::Admin, Target::All)?;
        Ok(self.vault.open(&permit).outbox().dead(lease, reason).await?)
    }

    /// Those that died, newest first.
    pub async fn dead_jobs(&self, caller: &Caller, kind: &str, limit: usize) -> Result<Vec<DeadJob>> {
        let permit = self.access.permit(caller, Verb::Admin, Target::All)?;
        Ok(self.vault.open(&permit).outbox().dead_jobs(kind, limit).await?)
    }

    /// How many of a kind wait.
    pub async fn jobs_waiting(&self, caller: &Caller, kind: &str) -> Result<u64> {
        let permit = self.access.permit(caller, Verb::Admin, Target::All)?;
        Ok(self.vault.open(&permit).outbox().waiting(kind).await?)
    }

    /// Rings when this node has written a job. Other nodes ring nobody here: look now and then.
    pub fn jobs_written(&self) -> Arc<Notify> {
        self.outgoing.bell()
    }

    /// Those who have a say at such a moment, if anybody has.
    pub(super) fn listening(&self, moment: Moment) -> Option<&dyn Hooks> {
        self.hooks.as_deref().filter(|hooks| hooks.wants(moment))
    }
}
