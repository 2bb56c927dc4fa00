//! The verbs about webhooks that nobody took: to list them, and to have one sent again. They are an admin's.

use jiff::Timestamp;
use mail::{Mailbox, MessageId};
use store::JobId;
use store::outbox::DeadJob;

use super::Mailroom;
use crate::access::{Target, Verb};
use crate::caller::Caller;
use crate::counters::COUNTERS;
use crate::error::Result;
use crate::outgoing::webhook::{self, Event, Note};

/// So many are listed, the newest.
const LISTED_MAX: usize = 1000;

/// An event that was given up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadWebhook {
    /// What it is called here.
    pub id: JobId,
    /// Who did not take it.
    pub target: String,
    /// What happened.
    pub event: Event,
    /// Where.
    pub mailbox: Mailbox,
    /// To which message, where it is about one.
    pub message: Option<MessageId>,
    /// How often it was tried.
    pub attempts: u32,
    /// Why it was given up.
    pub reason: String,
    /// When.
    pub died_at: Timestamp,
}

impl DeadWebhook {
    fn of(job: DeadJob) -> Option<Self> {
        let note = Note::read(&job.payload)?;
        let message = job.messages.iter().find(|filed| filed.mailbox == note.mailbox).map(|filed| filed.id);
        Some(Self {
            id: job.id,
            target: webhook::target(&job.kind)?.to_owned(),
            event: note.event,
            mailbox: note.mailbox,
            message,
            attempts: job.attempts,
            reason: job.reason,
            died_at: job.died_at,
        })
    }
}

impl Mailroom {
    /// Those that were given up, the newest first. Of a target that is not configured any more none are listed.
    pub async fn dead_webhooks(&self, caller: &Caller) -> Result<Vec<DeadWebhook>> {
        let permit = self.access.permit(caller, Verb::Admin, Target::All)?;
        let outbox = self.vault.open(&permit).outbox();
        let mut dead = Vec::new();
        for target in self.outgoing.webhooks() {
            dead.extend(outbox.dead_jobs(&target.kind(), LISTED_MAX).await?.into_iter().filter_map(DeadWebhook::of));
        }
        dead.sort_by_key(|webhook| std::cmp::Reverse((webhook.died_at, webhook.id)));
        dead.truncate(LISTED_MAX);
        Ok(dead)
    }

    /// See how much waits for each target. For one that has `waiting_max` or more nothing is written until it has caught up, so
    /// that whoever is gone for long takes no room from others. To be called now and then.
    pub async fn weigh_webhooks(&self, caller: &Caller, waiting_max: u64) -> Result<()> {
        let permit = self.access.permit(caller, Verb::Admin, Target::All)?;
        let outbox = self.vault.open(&permit).outbox();
        for (place, target) in self.outgoing.webhooks().iter().enumerate() {
            let waiting = outbox.waiting(&target.kind()).await?;
            let is_behind = waiting >= waiting_max;
            if !self.outgoing.weigh_webhook(place, is_behind) {
                continue;
            }
            match is_behind {
                true => tracing::warn!(
                    target = target.name,
                    waiting,
                    "too much waits for a webhook (webhooks.waiting_max): it is told of nothing more until it has caught up"
                ),
                false => tracing::info!(target = target.name, waiting, "a webhook is told of mail again"),
            }
        }
        COUNTERS.jobs_left_out.absolute(outbox.left_out() + self.outgoing.left_out());
        Ok(())
    }

    /// Have one sent again, behind what waits for the same mailbox and under the id it always had; false when there is
    /// none of this id.
    pub async fn replay_webhook(&self, caller: &Caller, id: JobId) -> Result<bool> {
        let permit = self.access.permit(caller, Verb::Admin, Target::All)?;
        let outbox = self.vault.open(&permit).outbox();
        let is_webhook = outbox.dead_job(id).await?.is_some_and(|job| webhook::target(&job.kind).is_some());
        if !is_webhook || outbox.revive(id).await?.is_none() {
            return Ok(false);
        }
        self.outgoing.written();
        Ok(true)
    }
}
