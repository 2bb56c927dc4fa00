//! Answers that come as several messages. One subscription takes those of all questions, so that asking costs the brokers
//! no subscription of its own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_nats::{Client, Message, SubscribeError};
use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;

type Waiting = Arc<Mutex<HashMap<u64, UnboundedSender<Message>>>>;

/// Where such answers arrive.
pub(super) struct Inbox {
    subject: String,
    next: AtomicU64,
    waiting: Waiting,
    sorting: AbortHandle,
}

/// The answers to one question. How many may come is said in the question.
pub(super) struct Answers {
    number: u64,
    pub(super) subject: String,
    pub(super) arriving: UnboundedReceiver<Message>,
    waiting: Waiting,
}

impl Inbox {
    pub(super) async fn open(client: &Client) -> Result<Self, SubscribeError> {
        let subject = client.new_inbox();
        let mut arriving = client.subscribe(format!("{subject}.*")).await?;
        let waiting = Waiting::default();
        let sorted = Arc::clone(&waiting);
        let sorting = tokio::spawn(async move {
            while let Some(message) = arriving.next().await {
                let number = message.subject.rsplit('.').next().and_then(|token| token.parse().ok());
                if let Some(asker) = number.and_then(|number: u64| hold(&sorted).get(&number).cloned()) {
                    // Who has gone meanwhile wants it no more.
                    let _ = asker.send(message);
                }
            }
        });
        Ok(Self { subject, next: AtomicU64::new(0), waiting, sorting: sorting.abort_handle() })
    }

    /// A place for the answers to a new question.
    pub(super) fn expect(&self) -> Answers {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, arriving) = unbounded_channel();
        hold(&self.waiting).insert(number, sender);
        let waiting = Arc::clone(&self.waiting);
        Answers { number, subject: format!("{}.{number}", self.subject), arriving, waiting }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.sorting.abort();
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        hold(&self.waiting).remove(&self.number);
    }
}

fn hold<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
