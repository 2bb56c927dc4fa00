//! What every check holds in its hands: a store of its own, the clock, and short words for what checks do.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use jiff::{SignedDuration, Timestamp};
use mail::{Mailbox, MessageId, Summary};

use crate::change::{Change, Changes, Filed, News, Position, Scope};
use crate::clock::{Clock, ManualClock, SystemClock};
use crate::list::{Listing, Order, Page};
use crate::{Result, Store};

use super::letter::{Letter, mailbox};
use super::{Engine, Need, Rig};

/// How long anything that must come may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// One check's surroundings.
pub(super) struct Trial<'a> {
    engine: &'a dyn Engine,
    clock: Arc<ManualClock>,
}

impl<'a> Trial<'a> {
    pub(super) fn new(engine: &'a dyn Engine) -> Self {
        let start = Timestamp::from_second(1_800_000_000).expect("a time in 2027");
        Self { engine, clock: Arc::new(ManualClock::at(start)) }
    }

    /// A rig without bounds.
    pub(super) fn rig(&self) -> Rig {
        let clock = Arc::clone(&self.clock);
        Rig { clock, bytes_max: None, messages_max: 0, retention: None, changes_max: None }
    }

    /// A store without bounds.
    pub(super) async fn open(&self) -> Desk {
        self.open_with(|_| ()).await
    }

    /// A store within bounds.
    pub(super) async fn open_with(&self, bounds: impl FnOnce(&mut Rig)) -> Desk {
        let mut rig = self.rig();
        bounds(&mut rig);
        let store = self.engine.open(&rig).await;
        Desk { store, rig, clock: self.clock() }
    }

    /// The same store after a crash.
    pub(super) async fn reopen(&self, desk: Desk) -> Desk {
        let Desk { store, rig, clock } = desk;
        Desk { store: self.engine.reopen(store, &rig).await, rig, clock }
    }

    /// Wait until nothing is left to be done.
    pub(super) async fn settle(&self, desk: &Desk) {
        soon(self.engine.settle(&*desk.store)).await;
    }

    pub(super) fn lacks(&self, need: Need) -> bool {
        self.engine.lacks().contains(&need)
    }

    fn clock(&self) -> Arc<dyn Clock> {
        if self.lacks(Need::Clock) { Arc::new(SystemClock) } else { Arc::clone(&self.clock) as Arc<dyn Clock> }
    }

    /// Move the clock, forward or back.
    pub(super) fn pass(&self, seconds: i64) {
        self.clock.advance(SignedDuration::from_secs(seconds));
    }
}

/// A store and the words to speak to it.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) store: Arc<dyn Store>,
    rig: Rig,
    clock: Arc<dyn Clock>,
}

impl Desk {
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn in_seconds(&self, seconds: i64) -> Timestamp {
        self.now() + SignedDuration::from_secs(seconds)
    }

    /// Append, as the engine answers.
    pub(super) async fn try_append(&self, letter: &Letter) -> Result<Vec<Filed>> {
        self.store.append(letter.delivery(self.now())).await
    }

    /// Append, which must succeed.
    pub(super) async fn append(&self, letter: Letter) -> Vec<MessageId> {
        let filed = self.try_append(&letter).await.expect("an append within all bounds succeeds");
        filed.into_iter().map(|filed| filed.id).collect()
    }

    /// Append a small message to one mailbox.
    pub(super) async fn send(&self, subject: &str, to: &str) -> MessageId {
        self.append(Letter::new(subject, &[to])).await[0]
    }

    /// Append small messages to one mailbox.
    pub(super) async fn send_all(&self, subjects: &[&str], to: &str) -> Vec<MessageId> {
        let mut ids = Vec::new();
        for subject in subjects {
            ids.push(self.send(subject, to).await);
        }
        ids
    }

    /// A page of a mailbox.
    pub(super) async fn page(&self, name: &str, page: Page) -> Listing {
        self.store.list(&mailbox(name), page).await.expect("a list is answered")
    }

    /// A mailbox, oldest first.
    pub(super) async fn list(&self, name: &str) -> Listing {
        self.page(name, Page { after: None, limit: 10_000, order: Order::Oldest }).await
    }

    /// The subjects in a mailbox, oldest first.
    pub(super) async fn subjects(&self, name: &str) -> Vec<String> {
        subjects(&self.list(name).await)
    }

    /// The ids in a mailbox, oldest first.
    pub(super) async fn ids(&self, name: &str) -> Vec<MessageId> {
        ids(&self.list(name).await)
    }

    pub(super) async fn has(&self, name: &str, id: MessageId) -> bool {
        self.store.read(&mailbox(name), id).await.expect("a read is answered").is_some()
    }

    pub(super) async fn delete(&self, name: &str, ids: &[MessageId]) -> Vec<MessageId> {
        self.store.delete(&mailbox(name), ids, Vec::new()).await.expect("a delete is answered")
    }

    pub(super) async fn purge(&self, name: &str, up_to: Position) -> u64 {
        self.store.purge(&mailbox(name), up_to, Vec::new()).await.expect("a purge is answered")
    }

    pub(super) async fn position(&self, name: &str) -> Position {
        self.store.position(&mailbox(name)).await.expect("a position is answered")
    }

    /// The changes of one mailbox after a position.
    pub(super) async fn changes(&self, name: &str, after: Position) -> Feed {
        self.feed(Scope::Mailbox(mailbox(name)), after).await
    }

    pub(super) async fn feed(&self, scope: Scope, after: Position) -> Feed {
        Feed(self.store.changes(scope, after).await.expect("changes are streamed"))
    }

    pub(super) async fn waiting(&self, kind: &str) -> u64 {
        self.store.outbox().waiting(kind).await.expect("jobs are counted")
    }
}

/// A stream of changes, read with patience.
pub(super) struct Feed(Changes);

impl Feed {
    pub(super) async fn next(&mut self) -> News {
        soon(self.0.next()).await.expect("the stream goes on as long as it is held")
    }

    /// The next change in short: `+ subject`, `- id`, `purged`, `lost`.
    pub(super) async fn word(&mut self) -> String {
        self.named_word().await.1
    }

    /// The same, and in which mailbox.
    pub(super) async fn named_word(&mut self) -> (String, String) {
        let News::Change(change) = self.next().await else { return (String::new(), "lost".to_owned()) };
        let name = change.mailbox().as_str().to_owned();
        match change {
            Change::Delivered { summary, .. } => (name, format!("+ {}", summary.subject)),
            Change::Deleted { id, .. } => (name, format!("- {id}")),
            Change::Purged { .. } => (name, "purged".to_owned()),
        }
    }
}

/// Wait for what must come.
pub(super) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("what must come comes in time")
}

pub(super) fn subjects<T: AsRef<Summary>>(listing: &Listing<T>) -> Vec<String> {
    listing.items.iter().map(|item| item.as_ref().subject.clone()).collect()
}

pub(super) fn ids<T: AsRef<Summary>>(listing: &Listing<T>) -> Vec<MessageId> {
    listing.items.iter().map(|item| item.as_ref().id).collect()
}

pub(super) fn names(mailboxes: &[Mailbox]) -> Vec<&str> {
    mailboxes.iter().map(Mailbox::as_str).collect()
}
