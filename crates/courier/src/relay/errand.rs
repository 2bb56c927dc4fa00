//! One release after the other: whom it is still for, whether it may go there, one attempt, and what is kept of it.
//!
//! Who has the message is written down before the job is given back, so that after a crash nobody is forgotten; between
//! the smart host's last word and that writing somebody may get it twice.

use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use mail::ReversePath;
use mailroom::outgoing::release::{KIND, Overall, Release, State};
use mailroom::{Caller, Job, Mailroom, Stored, Which};

use super::counters::COUNTERS;
use super::dialogue::{Fate, send};
use super::letter::{GUARD, Letter, passages};
use super::smart_host::SmartHost;
use crate::carrier::{Carrier, Outcome};

const COURIER: Caller = Caller::Program;
/// How often is looked whether more is kept than should be.
const FORGET_EVERY: Duration = Duration::from_secs(60);
/// So often is tried to write down what became of a release, a moment apart.
const KEEP_TRIES_MAX: u32 = 5;

/// The keys of the section `relay` that say when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// `relay.connections_max`: so many releases are under way at once. Default 4.
    pub connections_max: usize,
    /// `relay.retry_after`: before the second attempt; doubled before each further one. Default 30 seconds.
    pub retry_after: Duration,
    /// `relay.retry_max`: no longer than this. Default 15 minutes.
    pub retry_max: Duration,
    /// `relay.give_up_after`: then it has failed. Default a day.
    pub give_up_after: Duration,
    /// `relay.hops_max`: a message that was sent on so often by servers like this one is not sent on by a rule. Default 1.
    pub hops_max: usize,
}

/// Carries releases to the smart host.
pub struct Relay {
    room: Arc<Mailroom>,
    smart_host: SmartHost,
    settings: Settings,
    forgot: Mutex<Instant>,
}

impl Relay {
    /// One that sends through this smart host.
    pub fn new(room: Arc<Mailroom>, smart_host: SmartHost, settings: Settings) -> Self {
        // All of them are there to be read from the start.
        LazyLock::force(&COUNTERS);
        Self { room, smart_host, settings, forgot: Mutex::new(Instant::now()) }
    }

    /// Try all who do not have it yet.
    async fn attempt(&self, mut release: Release) -> Outcome {
        let due = |release: &Release| release.recipients.iter().any(|one| one.state == State::Queued);
        if due(&release) {
            if let Err(wait) = self.room.pace_release(&release) {
                return self.again(wait);
            }
            let fates = match self.room.read(&COURIER, &release.mailbox, Which::Id(release.message)).await {
                Ok(stored) => self.fates(&release, stored.as_ref()).await,
                Err(error) => {
                    tracing::debug!(id = release.id, %error, "a message that is to be sent on cannot be read for now");
                    return self.again(self.settings.retry_after);
                }
            };
            self.settle(&mut release, fates);
            self.keep(&release).await;
        }
        self.outcome(&release)
    }

    /// What becomes of it for each recipient, of those who do not have it yet. What was allowed when it was asked for may
    /// not be any more.
    async fn fates(&self, release: &Release, stored: Option<&Stored>) -> Vec<(usize, Fate)> {
        let due = release.recipients.iter().enumerate().filter(|(_, one)| one.state == State::Queued);
        let (allowed, strangers): (Vec<_>, Vec<_>) = due.partition(|(_, one)| self.room.allows_release(&one.address));
        let never = |why: &str| Fate::Never(why.to_owned());
        let mut fates: Vec<_> = strangers
            .into_iter()
            .map(|(place, _)| (place, never("relay.allow does not name this recipient any more: nothing was sent")))
            .collect();
        let told = match stored {
            _ if allowed.is_empty() => return fates,
            None => vec![never("the mailbox does not hold the message any more: nothing was sent"); allowed.len()],
            Some(stored) if release.rule.is_some() && passages(&stored.raw) >= self.settings.hops_max => {
                tracing::error!(id = release.id, rule = release.rule, "a message goes in circles; it is not sent on");
                let why =
                    format!("the message goes in circles: it has {GUARD} fields as many as relay.hops_max allows");
                vec![Fate::Never(why); allowed.len()]
            }
            Some(stored) => {
                let (sender, to) =
                    (ReversePath(release.sender.clone()), allowed.iter().map(|(_, one)| one.address.clone()));
                let letter = Letter::new(&stored.raw, &stored.envelope, &release.id, sender, to.collect());
                send(&self.smart_host, &letter).await
            }
        };
        fates.extend(allowed.into_iter().map(|(place, _)| place).zip(told));
        fates
    }

    fn settle(&self, release: &mut Release, fates: Vec<(usize, Fate)>) {
        let now = self.room.now();
        let lapsed = now >= after(release.created_at, self.settings.give_up_after);
        for (place, fate) in fates {
            let one = &mut release.recipients[place];
            one.attempts += 1;
            (one.at, one.next_at) = (Some(now), None);
            (one.state, one.reply) = match fate {
                Fate::Sent(reply) => (State::Sent, Some(reply)),
                Fate::Never(why) => (State::Failed, Some(why)),
                Fate::Later(why) if lapsed => {
                    (State::Failed, Some(format!("given up after relay.give_up_after; at last: {why}")))
                }
                Fate::Later(why) => {
                    one.next_at = Some(after(now, pause(&self.settings, one.attempts)));
                    (State::Queued, Some(why))
                }
            };
            let counter = match one.state {
                State::Sent => &COUNTERS.sent,
                State::Queued => &COUNTERS.later,
                State::Failed => &COUNTERS.failed,
            };
            counter.increment(1);
        }
    }

    /// Write it down, whatever it takes: what is not known to be sent is sent again.
    async fn keep(&self, release: &Release) {
        for attempt in 1..=KEEP_TRIES_MAX {
            match self.room.keep_release(&COURIER, release).await {
                Ok(()) => break,
                Err(error) => {
                    tracing::warn!(id = release.id, attempt, %error, "what became of a release is not kept yet")
                }
            }
            tokio::time::sleep(Duration::from_millis(200) * attempt).await;
        }
    }

    fn outcome(&self, release: &Release) -> Outcome {
        let next = release.recipients.iter().filter_map(|one| one.next_at).min();
        match release.overall() {
            Overall::Done => {
                tracing::info!(id = release.id, rule = release.rule, "a message was sent on");
                Outcome::Done
            }
            Overall::Failed | Overall::Partial => {
                let failed = release.recipients.iter().filter(|one| one.state == State::Failed);
                let told = failed.map(|one| format!("{}: {}", one.address, one.reply.as_deref().unwrap_or_default()));
                let reason = told.collect::<Vec<_>>().join("; ");
                tracing::warn!(id = release.id, rule = release.rule, reason, "a message could not be sent on to all");
                Outcome::Dead(reason)
            }
            Overall::Queued | Overall::Sending => {
                Outcome::Again(next.unwrap_or_else(|| after(self.room.now(), self.settings.retry_after)))
            }
        }
    }

    fn again(&self, wait: Duration) -> Outcome {
        Outcome::Again(after(self.room.now(), wait))
    }

    /// Now and then: what is kept of old ones goes when there are too many.
    async fn forget(&self) {
        {
            let mut forgot = self.forgot.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if forgot.elapsed() < FORGET_EVERY {
                return;
            }
            *forgot = Instant::now();
        }
        if let Err(error) = self.room.forget_releases(&COURIER).await {
            tracing::debug!(%error, "old releases are not forgotten yet");
        }
    }
}

/// How long to wait after so many attempts.
fn pause(settings: &Settings, attempts: u32) -> Duration {
    let doublings = attempts.saturating_sub(1).min(20);
    settings.retry_after.saturating_mul(1 << doublings).min(settings.retry_max)
}

fn after(time: Timestamp, wait: Duration) -> Timestamp {
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    time.saturating_add(wait).unwrap_or(Timestamp::MAX)
}

#[async_trait]
impl Carrier for Relay {
    fn kind(&self) -> &str {
        KIND
    }

    fn hands(&self) -> usize {
        self.settings.connections_max
    }

    fn patience(&self) -> Duration {
        self.smart_host.attempt_max
    }

    async fn carry(&self, job: &Job) -> Outcome {
        let outcome = match self.room.begin_release(&COURIER, job).await {
            Ok(Some(release)) => self.attempt(release).await,
            Ok(None) => Outcome::Dead("this job cannot be read".to_owned()),
            Err(error) => {
                tracing::debug!(%error, "a release cannot be begun for now");
                self.again(self.settings.retry_after)
            }
        };
        self.forget().await;
        outcome
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connections_max: 4,
            retry_after: Duration::from_secs(30),
            retry_max: Duration::from_secs(15 * 60),
            give_up_after: Duration::from_secs(24 * 60 * 60),
            hops_max: 1,
        }
    }
}
