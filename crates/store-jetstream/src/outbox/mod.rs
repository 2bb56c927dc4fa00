//! The jobs on the brokers: one message for each that waits, rewritten when it is taken or put back, gone when it is
//! done. A lease is the sequence of that rewriting: who comes with another one comes late. Leases run by the clock.
//!
//! Jobs of mail to one mailbox come as an errand, which is stored in one step with the mail and brought among the jobs by
//! whoever stored it, or by the reconciler of any node; see [`errands`].

mod count;
mod errands;
mod line;
mod slip;
#[cfg(test)]
mod tests;
mod writing;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use jiff::{SignedDuration, Timestamp};
use store::outbox::{DeadJob, Handback, LeftOut};
use store::{Job, JobId, Lease, NewJob, Result};

use crate::names::{Deed, token_of};
use crate::office::Office;
use crate::record::JobLine;
use crate::registry::fresh;
use crate::wire::{Failed, Patience, Pick};

use count::Room;
use errands::Errands;
pub(crate) use errands::{Found, Seen};
use line::{Line, Spot};
use slip::{Dead, Waiting};
use writing::Rewritten;

/// So many jobs are read before some are taken, when many wait.
const READ_AT_ONCE: usize = 10_000;
/// So many are taken at the same time.
const TAKEN_AT_ONCE: usize = 32;
/// What marks a job as buried is cleared away by the brokers if nobody does.
const BURIED_KEPT: Duration = Duration::from_secs(1);

/// The jobs of a store.
pub(crate) struct Outbox {
    office: Arc<Office>,
    stream: String,
    lines: Mutex<HashMap<String, Arc<Line>>>,
    room: Mutex<Room>,
    left_out: LeftOut,
    errands: Errands,
}

impl Outbox {
    pub(crate) fn new(office: Arc<Office>) -> Self {
        let stream = office.names.jobs();
        Self {
            office,
            stream,
            lines: Mutex::default(),
            room: Mutex::default(),
            left_out: LeftOut::default(),
            errands: Errands::default(),
        }
    }

    fn waiting_subject(&self, kind: &str, job: u64) -> String {
        self.office.names.below(&["j", "w", &token_of(kind), &format!("{job:016x}")])
    }

    fn dead_subject(&self, kind: &str, job: u64) -> String {
        self.office.names.below(&["j", "d", &token_of(kind), &format!("{job:016x}")])
    }

    fn waiting_of(&self, kind: &str) -> String {
        self.office.names.below(&["j", "w", &token_of(kind), "*"])
    }

    fn line(&self, kind: &str) -> Arc<Line> {
        let mut lines = hold(&self.lines);
        match lines.get(kind) {
            Some(line) => Arc::clone(line),
            None => Arc::clone(lines.entry(kind.to_owned()).or_default()),
        }
    }

    /// Read what is new of a kind; whether that was all.
    async fn read_on(&self, kind: &str, line: &Line, patience: Patience) -> Result<bool> {
        let _turn = line.reading.lock().await;
        let (subject, from) = (self.waiting_of(kind), line.unread());
        let reading = || fresh(&self.office.link, &self.stream, &subject, from, READ_AT_ONCE);
        let told = patience.of(reading).await.map_err(Failed::into_harmless)?;
        told.iter().for_each(|raw| line.read(raw, kind));
        Ok(told.len() < READ_AT_ONCE)
    }

    /// Take those that are known and due.
    async fn take_known(
        &self,
        line: &Line,
        kind: &str,
        limit: usize,
        lease: Duration,
        patience: Patience,
    ) -> Result<Vec<Job>> {
        let mut taken = Vec::new();
        while taken.len() < limit {
            let now = self.office.clock.now();
            let until = later(now, lease);
            let chosen = line.choose(limit - taken.len(), now, until);
            if chosen.is_empty() {
                break;
            }
            let taking = chosen.into_iter().map(|(born, spot)| self.take_one(line, kind, born, spot, until, patience));
            let outcomes: Vec<_> = stream::iter(taking).buffered(TAKEN_AT_ONCE).collect().await;
            let (jobs, errors): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
            taken.extend(jobs.into_iter().flatten().flatten());
            match errors.into_iter().find_map(Result::err) {
                // What was taken is ours, whatever became of the others.
                Some(error) if taken.is_empty() => return Err(error),
                Some(_) => break,
                None => (),
            }
        }
        Ok(taken)
    }

    /// Take one job; none when it is gone, or somebody else was first.
    async fn take_one(
        &self,
        line: &Line,
        kind: &str,
        born: u64,
        spot: Spot,
        until: Timestamp,
        patience: Patience,
    ) -> Result<Option<Job>> {
        let outcome = match self.standing(spot.seq, patience).await {
            Ok(Some(job)) => self.rewrite(job.taken(spot.seq, until), spot.seq, patience).await,
            Ok(None) => self.look_for(line, kind, spot, patience).await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(Rewritten::At(seq, job)) => {
                line.put(&job, seq);
                Ok(Some(job.job(seq)))
            }
            // Who was first has put it where the next reading finds it.
            Ok(Rewritten::Late) => Ok(None),
            Ok(Rewritten::Gone) => {
                line.forget(spot.seq);
                Ok(None)
            }
            Err(error) => {
                line.put_back(born, spot);
                Err(error)
            }
        }
    }

    /// A job is not where it stood: somebody has taken it or put it back since the last reading, and it still holds up its
    /// lane; or it is gone indeed.
    async fn look_for(&self, line: &Line, kind: &str, spot: Spot, patience: Patience) -> Result<Rewritten> {
        let subject = self.waiting_subject(kind, spot.id);
        let there = patience.of(|| self.office.link.leader_has(&self.stream, Pick::Last(&subject))).await;
        match there.map_err(Failed::into_harmless)?.map(|raw| (raw.seq, Waiting::read(&raw.data))) {
            Some((seq, Ok(job))) => {
                line.put(&job, seq);
                Ok(Rewritten::Late)
            }
            _ => Ok(Rewritten::Gone),
        }
    }

    /// The job that stands at a sequence, waiting or leased.
    async fn standing(&self, seq: u64, patience: Patience) -> Result<Option<Waiting>> {
        let raw = patience.of(|| self.office.link.leader_has(&self.stream, Pick::At(seq))).await;
        let raw = raw.map_err(Failed::into_harmless)?;
        Ok(raw.and_then(|raw| Waiting::read(&raw.data).ok()))
    }

    /// The job of a lease, if that still holds.
    async fn held(&self, lease: Lease, patience: Patience) -> Result<Option<Waiting>> {
        Ok(self.standing(lease.taking, patience).await?.filter(|job| JobId(job.id) == lease.job))
    }

    /// One of the dead, and where it stands.
    async fn grave(&self, job: JobId, patience: Patience) -> Result<Option<(u64, Dead)>> {
        let subject = self.office.names.below(&["j", "d", "*", &format!("{:016x}", job.0)]);
        let raw = patience.of(|| self.office.link.leader_has(&self.stream, Pick::Last(&subject))).await;
        let raw = raw.map_err(Failed::into_harmless)?;
        Ok(raw.and_then(|raw| Dead::read(&raw.data).ok().map(|dead| (raw.seq, dead))))
    }

    fn forget(&self, seq: u64) {
        let lines: Vec<_> = hold(&self.lines).values().cloned().collect();
        lines.iter().for_each(|line| line.forget(seq));
    }
}

#[async_trait]
impl store::Outbox for Outbox {
    async fn take(&self, kind: &str, limit: usize, lease: Duration) -> Result<Vec<Job>> {
        let (line, patience) = (self.line(kind), self.office.patience());
        self.finish_own_errands().await;
        // All of it before the first is taken: the oldest of a lane may have been put back behind the youngest. Should that
        // take too long once, the next call goes on where this one came to.
        while !self.read_on(kind, &line, patience).await? {}
        self.take_known(&line, kind, limit, lease, patience).await
    }

    async fn done(&self, lease: Lease) -> Result<Handback> {
        let gone = self.remove(lease.taking, lease.job, self.office.patience()).await?;
        self.forget(lease.taking);
        Ok(gone)
    }

    async fn retry(&self, lease: Lease, not_before: Timestamp) -> Result<Handback> {
        let patience = self.office.patience();
        let Some(job) = self.held(lease, patience).await? else { return Ok(Handback::Late) };
        let line = self.line(&job.kind);
        match self.rewrite(job.put_back(lease.taking, not_before), lease.taking, patience).await? {
            Rewritten::At(seq, job) => {
                line.put(&job, seq);
                Ok(Handback::Taken)
            }
            Rewritten::Late | Rewritten::Gone => Ok(Handback::Late),
        }
    }

    async fn dead(&self, lease: Lease, reason: &str) -> Result<Handback> {
        let patience = self.office.patience();
        let Some(job) = self.held(lease, patience).await? else { return Ok(Handback::Late) };
        let handback = self.bury(job, lease.taking, reason, patience).await?;
        self.forget(lease.taking);
        Ok(handback)
    }

    async fn dead_jobs(&self, kind: &str, limit: usize) -> Result<Vec<DeadJob>> {
        let subject = self.office.names.below(&["j", "d", &token_of(kind), "*"]);
        let reading = || fresh(&self.office.link, &self.stream, &subject, 0, usize::MAX);
        let told = self.office.patience().of(reading).await.map_err(Failed::into_harmless)?;
        let dead = told.into_iter().rev().filter_map(|raw| Dead::read(&raw.data).ok());
        Ok(dead.filter(|dead| dead.kind == kind).filter_map(|dead| dead.job().ok()).take(limit).collect())
    }

    async fn submit(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>> {
        self.room_for(jobs.len()).await?;
        let (deed, jobs): (_, Vec<_>) = (Deed::new(), jobs.into_iter().map(JobLine::new).collect());
        let written = self.write(deed, &jobs, &[], self.office.patience()).await;
        written.map_err(Failed::into_error)?;
        Ok((0..jobs.len()).map(|index| JobId(slip::id(deed, index))).collect())
    }

    async fn revive(&self, job: JobId) -> Result<Option<JobId>> {
        let patience = self.office.patience();
        let Some((seq, dead)) = self.grave(job, patience).await? else { return Ok(None) };
        self.room_for(1).await?;
        Ok(self.revive_at(dead, seq, patience).await?.then_some(job))
    }

    async fn dead_job(&self, job: JobId) -> Result<Option<DeadJob>> {
        let grave = self.grave(job, self.office.patience()).await?;
        Ok(grave.and_then(|(_, dead)| dead.job().ok()))
    }

    async fn waiting(&self, kind: &str) -> Result<u64> {
        self.finish_own_errands().await;
        let subject = self.waiting_of(kind);
        self.office.patience().of(|| self.count(&subject)).await.map_err(Failed::into_harmless)
    }

    fn left_out(&self) -> u64 {
        self.left_out.count()
    }
}

fn later(now: Timestamp, lease: Duration) -> Timestamp {
    let lease = SignedDuration::try_from(lease).unwrap_or(SignedDuration::MAX);
    now.checked_add(lease).unwrap_or(Timestamp::MAX)
}

fn hold<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
