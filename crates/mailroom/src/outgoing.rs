//! What leaves with a change: the jobs that are written in the same step as a delivery, a delete or a purge, and the bell
//! that tells the courier of this node. Who does them, and how, is not known here.

pub mod relay;
pub mod release;
pub mod webhook;

use std::sync::Arc;

use jiff::Timestamp;
use mail::{Mailbox, MessageId, TransactionId};
use store::{Delivery, NewJob};
use tokio::sync::Notify;

use release::Errand;
use webhook::{Event, Webhooks};

/// Who wants to be told of what.
pub(crate) struct Outgoing {
    bell: Arc<Notify>,
    pub(crate) relay: relay::Rules,
    webhooks: Webhooks,
}

impl Outgoing {
    /// By these rules, and to these.
    pub(crate) fn new(relay: relay::Rules, webhooks: Vec<webhook::Target>) -> Self {
        Self { bell: Arc::default(), relay, webhooks: Webhooks::new(webhooks) }
    }

    /// Those who want to be told by webhooks.
    pub(crate) fn webhooks(&self) -> &[webhook::Target] {
        self.webhooks.targets()
    }

    /// So much waits for the target at this place; whether that changes if anything is written for it.
    pub(crate) fn weigh_webhook(&self, place: usize, is_behind: bool) -> bool {
        self.webhooks.set_behind(place, is_behind)
    }

    /// How many events were not written because their targets are behind.
    pub(crate) fn left_out(&self) -> u64 {
        self.webhooks.left_out()
    }

    /// What is written with a delivery. Each job that needs an id of its own draws one.
    pub(crate) fn on_deliver(&self, delivery: &Delivery, id: &dyn Fn() -> TransactionId) -> Vec<NewJob> {
        let forwards = self.relay.forwards(delivery);
        let forwarded = forwards.iter().map(|forward| self.forwarded(delivery, forward, id()));
        forwarded.chain(self.webhooks.on_deliver(delivery)).collect()
    }

    /// Mail is kept whether it can be sent on or not: where there is no room for the job, that is left out.
    fn forwarded(&self, delivery: &Delivery, forward: &relay::Forward<'_>, id: TransactionId) -> NewJob {
        let errand = Errand {
            id: id.to_string(),
            mailbox: forward.mailbox.clone(),
            message: None,
            subject: delivery.digest.subject.clone(),
            sender: crate::room::releasing::sender(&self.relay, &delivery.envelope.reverse_path),
            to: forward.to.clone(),
            created_at: delivery.received_at,
            by: None,
            rule: Some(forward.rule.name.clone()),
        };
        NewJob::new(release::KIND, errand.write()).if_there_is_room()
    }

    /// What is written when these messages go.
    pub(crate) fn on_delete(&self, mailbox: &Mailbox, _ids: &[MessageId], at: Timestamp) -> Vec<NewJob> {
        self.webhooks.on(Event::Delete, mailbox, at)
    }

    /// What is written when a mailbox is emptied.
    pub(crate) fn on_purge(&self, mailbox: &Mailbox, at: Timestamp) -> Vec<NewJob> {
        self.webhooks.on(Event::Purge, mailbox, at)
    }

    /// A job was written.
    pub(crate) fn written(&self) {
        self.bell.notify_waiters();
        self.bell.notify_one();
    }

    /// What rings then.
    pub(crate) fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.bell)
    }
}
