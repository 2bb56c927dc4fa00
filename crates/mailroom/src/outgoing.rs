//! What leaves with a change: the jobs that are written in the same step as a delivery, a delete or a purge, and the bell
//! that tells the courier of this node. Who does them, and how, is not known here.

pub mod relay;
pub mod release;

use std::sync::Arc;

use jiff::Timestamp;
use mail::{Mailbox, MessageId, TransactionId};
use store::{Delivery, NewJob};
use tokio::sync::Notify;

use release::Errand;

/// Who wants to be told of what.
pub(crate) struct Outgoing {
    bell: Arc<Notify>,
    pub(crate) relay: relay::Rules,
}

impl Outgoing {
    /// By these rules.
    pub(crate) fn new(relay: relay::Rules) -> Self {
        Self { bell: Arc::default(), relay }
    }

    /// What is written with a delivery. Each job that needs an id of its own draws one.
    pub(crate) fn on_deliver(&self, delivery: &Delivery, id: &dyn Fn() -> TransactionId) -> Vec<NewJob> {
        self.relay.forwards(delivery).iter().map(|forward| self.forwarded(delivery, forward, id())).collect()
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
    pub(crate) fn on_delete(&self, _mailbox: &Mailbox, _ids: &[MessageId], _at: Timestamp) -> Vec<NewJob> {
        Vec::new()
    }

    /// What is written when a mailbox is emptied.
    pub(crate) fn on_purge(&self, _mailbox: &Mailbox, _at: Timestamp) -> Vec<NewJob> {
        Vec::new()
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
