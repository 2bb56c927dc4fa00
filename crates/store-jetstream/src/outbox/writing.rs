//! Changing what stands on the brokers, each change once: an attempt whose answer was lost knows its own work again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::outbox::Handback;
use store::{Error, Filed, JobId, Result};

use super::slip::{Dead, Slip, Waiting};
use super::{BURIED_KEPT, Outbox};
use crate::names::Deed;
use crate::record::{self, JobLine};
use crate::wire::{Failed, Failure, Outgoing, Patience, Pick};

/// So many jobs are written at once; the brokers take a thousand messages.
pub(super) const BATCH: usize = 900;
/// Longer than anybody tries to write the same jobs.
const GUARD_KEPT: Duration = Duration::from_secs(3600);

/// What became of rewriting a job.
pub(super) enum Rewritten {
    /// It stands at this sequence, as this.
    At(u64, Waiting),
    /// Somebody else has rewritten it since.
    Late,
    /// It is not there any more.
    Gone,
}

impl Outbox {
    /// Write the jobs of a deed, which carry the news of these messages, once, however often this is called. Whether there
    /// is room is asked before the mail is committed, by [`Outbox::admit`]: behind that the jobs must follow.
    pub(crate) async fn write(
        &self,
        deed: Deed,
        jobs: &[JobLine],
        messages: &[Filed],
        patience: Patience,
    ) -> Result<(), Failed> {
        for (part, some) in jobs.chunks(BATCH).enumerate() {
            let batch = self.batch(deed, part, some, messages);
            match patience.of(|| self.office.link.publish_all(batch.clone())).await {
                // The guard stands: it was written before.
                Err(failed) if failed.last.stands_at().is_some() => (),
                outcome => _ = outcome?,
            }
        }
        Ok(())
    }

    /// A part of the jobs of a deed with its guard.
    pub(super) fn batch(&self, deed: Deed, part: usize, jobs: &[JobLine], messages: &[Filed]) -> Vec<Outgoing> {
        let guard = self.office.names.below(&["j", "g", &format!("{}-{part}", deed.hex())]);
        let mut batch = vec![Outgoing::new(guard, Vec::new()).after(0).living(GUARD_KEPT)];
        for (job, index) in jobs.iter().zip(part * BATCH..) {
            let waiting = Waiting::new(deed, index, job, messages);
            let subject = self.waiting_subject(&waiting.kind, waiting.id);
            batch.push(Outgoing::new(subject, record::write(&Slip::of(waiting))));
        }
        batch
    }

    /// Put a job in its own place, behind a sequence.
    pub(super) async fn rewrite(&self, job: Waiting, after: u64, patience: Patience) -> Result<Rewritten> {
        let subject = self.waiting_subject(&job.kind, job.id);
        let (mark, slip) = (job.mark, record::write(&Slip::of(job.clone())));
        let publishing = || self.office.link.publish(Outgoing::new(subject.clone(), slip.clone()).after(after));
        match patience.of(publishing).await {
            Ok(ack) => Ok(Rewritten::At(ack.seq, job)),
            Err(failed) => match failed.last.stands_at() {
                Some(0) => Ok(Rewritten::Gone),
                Some(seq) if failed.unknown => {
                    let unknown = |error: Error| Error::UnknownOutcome { why: error.to_string() };
                    let there = self.standing(seq, patience).await.map_err(unknown)?;
                    let is_ours = there.is_some_and(|there| there.mark == mark);
                    Ok(if is_ours { Rewritten::At(seq, job) } else { Rewritten::Late })
                }
                Some(_) => Ok(Rewritten::Late),
                None => Err(failed.into_error()),
            },
        }
    }

    /// Take a job out that stands at a sequence.
    pub(super) async fn remove(&self, seq: u64, job: JobId, patience: Patience) -> Result<Handback> {
        let is_unsure = AtomicBool::new(false);
        let removing = async || {
            let gone = self.office.link.remove(&self.stream, seq).await;
            is_unsure.fetch_or(matches!(gone, Err(Failure::Unknown(_))), Ordering::Relaxed);
            gone
        };
        if patience.of(removing).await.map_err(Failed::into_error)? {
            return Ok(Handback::Taken);
        }
        if !is_unsure.into_inner() {
            return Ok(Handback::Late);
        }
        // An earlier attempt may have done it. Had somebody else taken the job before that, it would stand elsewhere.
        let subject = self.office.names.below(&["j", "w", "*", &format!("{:016x}", job.0)]);
        let there = patience.of(|| self.office.link.leader_has(&self.stream, Pick::Last(&subject))).await;
        let there = there.map_err(|failed| Failed { unknown: true, ..failed }.into_error())?;
        Ok(if there.is_none() { Handback::Taken } else { Handback::Late })
    }

    /// Move a job that stands at a sequence to the dead, in one step.
    pub(super) async fn bury(&self, job: Waiting, seq: u64, reason: &str, patience: Patience) -> Result<Handback> {
        let waiting = self.waiting_subject(&job.kind, job.id);
        let grave = self.dead_subject(&job.kind, job.id);
        let buried = record::write(&Slip::Buried { born: job.born(seq) });
        let dead = job.dead(reason, self.office.clock.now());
        let batch = vec![
            Outgoing::new(waiting, buried).after(seq).living(BURIED_KEPT),
            Outgoing::new(grave.clone(), dead.write()),
        ];
        match patience.of(|| self.office.link.publish_all(batch.clone())).await {
            Ok(ack) => {
                self.clear_up(ack.seq).await;
                Ok(Handback::Taken)
            }
            Err(failed) if failed.last.stands_at().is_some() && failed.unknown => {
                self.was_ours(&grave, dead.mark, patience).await
            }
            Err(failed) if failed.last.stands_at().is_some() => Ok(Handback::Late),
            Err(failed) => Err(failed.into_error()),
        }
    }

    /// Move a dead job, which stands at a sequence, to those that wait, in one step; whether nobody else did.
    pub(super) async fn revive_at(&self, dead: Dead, seq: u64, patience: Patience) -> Result<bool> {
        let grave = self.dead_subject(&dead.kind, dead.id);
        let job = dead.revived();
        let waiting = self.waiting_subject(&job.kind, job.id);
        let batch = vec![
            // No dead job can be read from nothing.
            Outgoing::new(grave, Vec::new()).after(seq).living(BURIED_KEPT),
            Outgoing::new(waiting, record::write(&Slip::of(job))),
        ];
        match patience.of(|| self.office.link.publish_all(batch.clone())).await {
            Ok(ack) => {
                // It also goes by itself.
                let _ = self.office.link.remove(&self.stream, ack.seq - 1).await;
                Ok(true)
            }
            Err(failed) if failed.last.stands_at().is_some() && !failed.unknown => Ok(false),
            Err(failed) => Err(failed.into_error()),
        }
    }

    /// Whether it was an earlier attempt of ours that buried a job.
    async fn was_ours(&self, grave: &str, mark: u128, patience: Patience) -> Result<Handback> {
        let there = patience.of(|| self.office.link.leader_has(&self.stream, Pick::Last(grave))).await;
        let there = there.map_err(|failed| Failed { unknown: true, ..failed }.into_error())?;
        let ours = there.filter(|raw| Dead::read(&raw.data).is_ok_and(|dead| dead.mark == mark));
        let Some(ours) = ours else { return Ok(Handback::Late) };
        self.clear_up(ours.seq).await;
        Ok(Handback::Taken)
    }

    /// Behind a burial: what stood in the job's place is counted no more, and there are not too many dead.
    async fn clear_up(&self, grave: u64) {
        // Both were stored as one, so it stands right before the grave. It also goes by itself.
        let _ = self.office.link.remove(&self.stream, grave - 1).await;
        self.thin_the_dead().await;
    }

    /// Let the oldest of the dead go beyond what is kept. What fails here is made up for at the next burial.
    async fn thin_the_dead(&self) {
        let (link, all) = (&self.office.link, self.office.names.below(&["j", "d", ">"]));
        let Ok(count) = self.count(&all).await else { return };
        for _ in (self.office.settings.dead_jobs_max as u64)..count {
            let Ok(Some(oldest)) = link.leader_has(&self.stream, Pick::Next(&all, 1)).await else { return };
            let Ok(_) = link.remove(&self.stream, oldest.seq).await else { return };
        }
    }
}
