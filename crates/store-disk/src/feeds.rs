//! Those who follow what changes: of mail, and of records. The writer tells them once a change is durable.

use std::collections::VecDeque;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::Stream;
use mail::Mailbox;
use store::queue::Queue;
use store::readers::Readers;
use store::{Change, News, Position, RegistryChange, Scope};

/// All followers.
pub(crate) struct Feeds {
    mail: Arc<Feed<Scope, News>>,
    records: Arc<Feed<String, RegistryChange>>,
}

/// The followers of one kind of news.
struct Feed<K, T> {
    readers: Mutex<Readers<K, T>>,
    /// Whether there are any: appends ask without taking the lock.
    some: AtomicBool,
}

impl Feeds {
    pub(crate) fn new(lag_max: usize) -> Self {
        Self { mail: Feed::new(lag_max), records: Feed::new(lag_max) }
    }

    /// Whether a change of this mailbox has any follower. One who joins while a transaction is open may miss what it
    /// changes, and so reads the database once it is committed.
    pub(crate) fn is_read(&self, mailbox: &Mailbox) -> bool {
        if !self.mail.some.load(Ordering::Acquire) {
            return false;
        }
        let readers = self.mail.hold();
        !readers.of(&Scope::All).is_empty() || !readers.of(&Scope::Mailbox(mailbox.clone())).is_empty()
    }

    /// Tell what has become durable, in its order.
    pub(crate) fn tell(
        &self,
        changes: impl Iterator<Item = Change>,
        records: impl Iterator<Item = (String, RegistryChange)>,
    ) {
        for change in changes {
            let one = Scope::Mailbox(change.mailbox().clone());
            let lost = News::Lost { position: change.position() };
            self.mail.tell(&[Scope::All, one], &News::Change(change), &lost);
        }
        for (kind, change) in records {
            self.records.tell(&[kind], &change, &RegistryChange::Lost);
        }
    }

    /// The engine is going: every stream ends.
    pub(crate) fn close(&self) {
        self.mail.hold().close();
        self.records.hold().close();
    }

    /// Follow changes of mail from now on.
    pub(crate) fn follow(&self, scope: Scope) -> Following<Scope, News> {
        Feed::join(&self.mail, scope)
    }

    /// Follow changes of a kind of records from now on.
    pub(crate) fn follow_records(&self, kind: &str) -> Following<String, RegistryChange> {
        Feed::join(&self.records, kind.to_owned())
    }
}

impl<K: Eq + Hash + Clone, T: Clone> Feed<K, T> {
    fn new(lag_max: usize) -> Arc<Self> {
        Arc::new(Self { readers: Mutex::new(Readers::new(lag_max)), some: AtomicBool::new(false) })
    }

    fn tell(&self, to: &[K], item: &T, lost: &T) {
        if !self.some.load(Ordering::Acquire) {
            return;
        }
        let readers = self.hold();
        for queue in to.iter().flat_map(|what| readers.of(what)) {
            queue.put(item.clone(), || lost.clone());
            queue.wake();
        }
    }

    fn join(this: &Arc<Self>, what: K) -> Following<K, T> {
        let mut readers = this.hold();
        let queue = readers.join(&what, VecDeque::new());
        this.some.store(true, Ordering::Release);
        Following { queue, what, feed: Arc::clone(this) }
    }

    fn hold(&self) -> MutexGuard<'_, Readers<K, T>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One follower.
pub(crate) struct Following<K: Eq + Hash + Clone, T: Clone> {
    queue: Arc<Queue<T>>,
    what: K,
    feed: Arc<Feed<K, T>>,
}

impl<K: Eq + Hash + Clone, T: Clone> Following<K, T> {
    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<Option<T>> {
        self.queue.poll(context)
    }
}

impl<K: Eq + Hash + Clone + Unpin, T: Clone> Stream for Following<K, T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll(context)
    }
}

impl<K: Eq + Hash + Clone, T: Clone> Drop for Following<K, T> {
    fn drop(&mut self) {
        let mut readers = self.feed.hold();
        readers.leave(&self.what, &self.queue);
        self.feed.some.store(!readers.is_empty(), Ordering::Release);
    }
}

/// First what lay in the past, then what comes; what both tell is told once.
pub(crate) struct Told {
    past: VecDeque<News>,
    /// The past reaches up to here.
    up_to: Position,
    live: Following<Scope, News>,
}

impl Told {
    pub(crate) fn new(past: VecDeque<News>, up_to: Position, live: Following<Scope, News>) -> Self {
        Self { past, up_to, live }
    }
}

impl Stream for Told {
    type Item = News;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<News>> {
        if let Some(news) = self.past.pop_front() {
            return Poll::Ready(Some(news));
        }
        loop {
            match self.live.poll(context) {
                Poll::Ready(Some(news)) if news.position() <= self.up_to => {}
                other => return other,
            }
        }
    }
}
