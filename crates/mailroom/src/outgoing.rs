//! What leaves with a change: the jobs that are written in the same step as a delivery, a delete or a purge, and the bell
//! that tells the courier of this node. Who does them, and how, is not known here.

use std::sync::Arc;

use jiff::Timestamp;
use mail::{Mailbox, MessageId};
use store::{Delivery, NewJob};
use tokio::sync::Notify;

/// Who wants to be told of what.
#[derive(Default)]
pub(crate) struct Outgoing {
    bell: Arc<Notify>,
}

impl Outgoing {
    /// What is written with a delivery.
    pub(crate) fn on_deliver(&self, _delivery: &Delivery) -> Vec<NewJob> {
        Vec::new()
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
