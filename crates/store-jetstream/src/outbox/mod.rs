//! The jobs on the brokers: one message for each that waits, rewritten when it is taken or put back, gone when it is
//! done. A lease is the sequence of that rewriting: who comes with another one comes late. Leases run by the clock.

mod count;
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
use store::outbox::{DeadJob, Handback};
use store::{Job, JobId, Lease, Result};

use crate::names::token_of;
use crate::office::Office;
use crate::record;
use crate::registry::fresh;
use crate::wire::{Failed, Patience, Pick};

use count::Room;
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
}

impl Outbox {
    pub(crate) fn new(office: Arc<Office>) -> Self {
        let stream = office.names.jobs();
        Self { office, stream, lines: Mutex::default(), room: Mutex::default() }
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

    /// Read on, and take those that are known and due; and whether that was all there is to read.
    async fn read_and_take(
        &self,
        line: &Line,
        kind: &str,
        limit: usize,
        lease: Duration,
        patience: Patience,
    ) -> Result<(Vec<Job>, bool)> {
        let is_all = self.read_on(kind, line, patience).await?;
        let mut taken = Vec::new();
        while taken.len() < limit {
            let now = self.office.clock.now();
            let until = later(now, lease);
            let chosen = line.choose(limit - taken.len(), now, until);
            if chosen.is_empty() {
                break;
            }
            let taking = chosen.into_iter().map(|(born, spot)| self.take_one(line, born, spot, until, patience));
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
        Ok((taken, is_all))
    }

    /// Take one job; none when it is gone, or somebody else was first.
    async fn take_one(
        &self,
        line: &Line,
        born: u64,
        spot: Spot,
        until: Timestamp,
        patience: Patience,
    ) -> Result<Option<Job>> {
        let outcome = self.try_take(spot.seq, until, patience).await;
        match &outcome {
            Ok(Rewritten::At(seq, _)) => line.put(born, *seq, until),
            // Who was first has put it where the next reading finds it.
            Ok(Rewritten::Late) => (),
            Ok(Rewritten::Gone) => line.forget(spot.seq),
            Err(_) => line.put_back(born, spot),
        }
        Ok(match outcome? {
            Rewritten::At(seq, job) => Some(job.job(seq)),
            Rewritten::Late | Rewritten::Gone => None,
        })
    }

    async fn try_take(&self, seq: u64, until: Timestamp, patience: Patience) -> Result<Rewritten> {
        match self.standing(seq, patience).await? {
            Some(job) => self.rewrite(job.taken(seq, until), seq, patience).await,
            None => Ok(Rewritten::Gone),
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

    fn forget(&self, seq: u64) {
        let lines: Vec<_> = hold(&self.lines).values().cloned().collect();
        lines.iter().for_each(|line| line.forget(seq));
    }
}

#[async_trait]
impl store::Outbox for Outbox {
    async fn take(&self, kind: &str, limit: usize, lease: Duration) -> Result<Vec<Job>> {
        let (line, patience) = (self.line(kind), self.office.patience());
        let mut taken = Vec::new();
        let mut is_all_read = false;
        while taken.len() < limit && !is_all_read {
            match self.read_and_take(&line, kind, limit - taken.len(), lease, patience).await {
                Ok((more, is_all)) => {
                    taken.extend(more);
                    is_all_read = is_all;
                }
                Err(error) if taken.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(taken)
    }

    async fn done(&self, lease: Lease) -> Result<Handback> {
        let gone = self.remove(lease.taking, lease.job, self.office.patience()).await?;
        self.forget(lease.taking);
        Ok(gone)
    }

    async fn retry(&self, lease: Lease, not_before: Timestamp) -> Result<Handback> {
        let patience = self.office.patience();
        let Some(job) = self.held(lease, patience).await? else { return Ok(Handback::Late) };
        let (line, born) = (self.line(&job.kind), job.born(lease.taking));
        match self.rewrite(job.put_back(lease.taking, not_before), lease.taking, patience).await? {
            Rewritten::At(seq, _) => {
                line.put(born, seq, not_before);
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
        let dead = told.into_iter().rev().filter_map(|raw| record::read::<Dead>(&raw.data).ok());
        Ok(dead.filter(|dead| dead.kind == kind).filter_map(|dead| dead.job().ok()).take(limit).collect())
    }

    async fn waiting(&self, kind: &str) -> Result<u64> {
        let subject = self.waiting_of(kind);
        self.office.patience().of(|| self.count(&subject)).await.map_err(Failed::into_harmless)
    }
}

fn later(now: Timestamp, lease: Duration) -> Timestamp {
    let lease = SignedDuration::try_from(lease).unwrap_or(SignedDuration::MAX);
    now.checked_add(lease).unwrap_or(Timestamp::MAX)
}

fn hold<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
