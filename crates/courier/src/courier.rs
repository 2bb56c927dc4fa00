//! The round: takes jobs of each kind under a lease, has them carried, and says what came of it.
//!
//! What a job is about is not known here. Jobs of one lane come one after the other, which is the engine's doing. Whoever dies with jobs in hand
//! loses them when their lease ends, to whoever asks next: a job is done at least once.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use mailroom::{Caller, Job, Mailroom};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::carrier::{Carrier, Outcome};

/// How often is looked for jobs that nobody rang for: those of other nodes, and those that were put off.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// What a lease has on top of the longest attempt, for the way there and back; not more than the attempt has itself, so that
/// what is quickly tried is also quickly found again after a crash.
const MARGIN: Duration = Duration::from_secs(20);

/// Does what was ordered, as long as the program runs.
pub struct Courier {
    room: Arc<Mailroom>,
    carriers: Vec<Arc<dyn Carrier>>,
}

impl Courier {
    /// One for the jobs of this mailroom.
    pub fn new(room: Arc<Mailroom>) -> Self {
        Self { room, carriers: Vec::new() }
    }

    /// Have somebody do the jobs of one more kind.
    #[must_use]
    pub fn with(mut self, carrier: Arc<dyn Carrier>) -> Self {
        self.carriers.push(carrier);
        self
    }

    /// Whether there is anybody to do anything.
    pub fn is_idle(&self) -> bool {
        self.carriers.is_empty()
    }

    /// Take and do, until told to stop; then finish what is in hand. Dropped earlier, it leaves that to the next one.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let (stopping, heard) = watch::channel(false);
        let mut rounds = JoinSet::new();
        for carrier in self.carriers {
            rounds.spawn(Round { room: Arc::clone(&self.room), carrier, stop: heard.clone() }.walk());
        }
        drop(heard);
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(ended) = rounds.join_next() => {
                    tracing::error!(?ended, "a part of the courier broke down; what it carries waits for the next start");
                }
            }
        }
        let _ = stopping.send(true);
        while rounds.join_next().await.is_some() {}
    }
}

/// How many free hands are worth a look, which has its price: as each job ends, half of them; now and then, any.
#[derive(Clone, Copy)]
enum Enough {
    Any,
    Half,
}

/// The round of one kind.
struct Round {
    room: Arc<Mailroom>,
    carrier: Arc<dyn Carrier>,
    stop: watch::Receiver<bool>,
}

impl Round {
    async fn walk(mut self) {
        let bell = self.room.jobs_written();
        let mut hands = JoinSet::new();
        let mut enough = Enough::Any;
        loop {
            // Heard from before the look on: a job that is written meanwhile rings for the next one.
            let mut rung = pin!(bell.notified());
            rung.as_mut().enable();
            let stopping = *self.stop.borrow();
            if stopping && hands.is_empty() {
                return;
            }
            let free = if stopping { 0 } else { self.free(hands.len(), enough) };
            enough = Enough::Any;
            for job in self.take(free).await {
                hands.spawn(carry(Arc::clone(&self.room), Arc::clone(&self.carrier), job));
            }
            let full = self.free(hands.len(), Enough::Half) == 0;
            tokio::select! {
                () = rung, if !full && !stopping => {}
                Some(ended) = hands.join_next() => {
                    enough = Enough::Half;
                    if let Err(error) = ended {
                        tracing::error!(kind = self.carrier.kind(), %error, "an attempt broke down; it is made again later");
                    }
                }
                () = sleep(LOOK_EVERY), if !stopping => {}
                _ = self.stop.changed(), if !stopping => {}
            }
        }
    }

    /// How many to take, if enough hands are free.
    fn free(&self, busy: usize, enough: Enough) -> usize {
        let hands = self.carrier.hands();
        let free = hands.saturating_sub(busy);
        let wanted = match enough {
            Enough::Any => 1,
            Enough::Half => hands.div_ceil(2),
        };
        if free >= wanted { free } else { 0 }
    }

    async fn take(&self, free: usize) -> Vec<Job> {
        if free == 0 {
            return Vec::new();
        }
        let (kind, patience) = (self.carrier.kind(), self.carrier.patience());
        let lease = patience + patience.min(MARGIN);
        match self.room.take_jobs(&Caller::Program, kind, free, lease).await {
            Ok(jobs) => jobs,
            Err(error) => {
                tracing::debug!(kind, %error, "no jobs can be taken for now");
                // Else it would be asked again as soon as the bell rings.
                sleep(LOOK_EVERY).await;
                Vec::new()
            }
        }
    }
}

/// Try one job, and say what came of it. When that cannot be said the job is done again after its lease.
async fn carry(room: Arc<Mailroom>, carrier: Arc<dyn Carrier>, job: Job) {
    let outcome = carrier.carry(&job).await;
    let said = match &outcome {
        Outcome::Done => room.job_done(&Caller::Program, job.lease).await,
        Outcome::Again(at) => room.job_retry(&Caller::Program, job.lease, *at).await,
        Outcome::Dead(reason) => room.job_dead(&Caller::Program, job.lease, reason).await,
    };
    if let Err(error) = said {
        tracing::warn!(kind = carrier.kind(), ?outcome, %error, "what came of a job could not be kept; it is done again");
    }
}

#[cfg(test)]
mod tests;
