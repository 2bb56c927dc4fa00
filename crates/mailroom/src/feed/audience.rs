//! Those whom one stream of the engine serves: the watchers of a mailbox, those of all mailboxes, or one who came back.
//!
//! Whom the last watcher has left nobody enters again: the next one finds a new audience. So a pump that was stopped
//! with a change in hand tells it to nobody. Only where things are numbered here an audience lingers for a while, as those
//! who come back could go on nowhere else.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::{News, Position, Scope};
use tokio::sync::{Notify, OnceCell};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::count::Count;
use super::queue::Queue;

/// The watchers, and the task that serves them.
pub(super) struct Audience {
    /// What they follow.
    pub(super) scope: Scope,
    /// From where on.
    pub(super) after: Position,
    /// Set by the first watcher, while the others wait for it; when that fails the next one tries.
    pub(super) pump: OnceCell<AbortHandle>,
    inside: Mutex<Inside>,
    /// The last watcher has gone, and might come back.
    left: Notify,
}

struct Inside {
    queues: Vec<Arc<Queue>>,
    /// What is told is numbered here; none: the engine's positions are numbers enough.
    count: Option<Count>,
    /// When the last watcher went.
    left_at: Instant,
}

impl Audience {
    pub(super) fn new(scope: Scope, after: Position, count: Option<Count>) -> Self {
        let inside = Inside { queues: Vec::new(), count, left_at: Instant::now() };
        Self { scope, after, pump: OnceCell::new(), inside: Mutex::new(inside), left: Notify::new() }
    }

    /// One more watcher. Where things are numbered, its queue holds what was told since a number, and everything behind the
    /// number that is returned comes by it; else it is empty.
    pub(super) fn enter(&self, after: Position, queue_max: usize) -> (Arc<Queue>, Option<Position>) {
        let queue = Arc::new(Queue::default());
        let mut inside = self.lock();
        inside.queues.push(Arc::clone(&queue));
        let Some(count) = &inside.count else { return (queue, None) };
        if after == Position::END {
            return (queue, Some(count.last()));
        }
        let Some(missed) = count.after(after) else {
            queue.lose(count.last());
            return (queue, Some(count.last()));
        };
        for (change, number) in missed {
            queue.push(change.clone(), *number, queue_max);
        }
        (queue, Some(after))
    }

    /// One watcher less; whether nobody is left, and nobody is waited for.
    pub(super) fn leave(&self, queue: &Arc<Queue>) -> bool {
        let mut inside = self.lock();
        if let Some(place) = inside.queues.iter().position(|known| Arc::ptr_eq(known, queue)) {
            inside.queues.swap_remove(place);
        }
        if !inside.queues.is_empty() {
            return false;
        }
        inside.left_at = Instant::now();
        let lingers = inside.count.is_some() && self.pump.initialized();
        if lingers {
            self.left.notify_one();
        }
        !lingers
    }

    /// The last watcher of an audience that lingers has gone.
    pub(super) async fn left(&self) {
        self.left.notified().await;
    }

    /// When the last watcher went; none while there is one.
    pub(super) fn left_at(&self) -> Option<Instant> {
        let inside = self.lock();
        inside.queues.is_empty().then_some(inside.left_at)
    }

    /// The last number that was given; none: nothing is numbered here.
    pub(super) fn counted(&self) -> Option<Position> {
        self.lock().count.as_ref().map(Count::last)
    }

    /// Put news into every queue; how many events were dropped for it.
    pub(super) fn tell(&self, news: &News, queue_max: usize) -> u64 {
        let mut inside = self.lock();
        let Inside { queues, count, .. } = &mut *inside;
        match news {
            News::Change(change) => {
                let position = count.as_mut().map_or(change.position(), |count| count.push(change, queue_max));
                queues.iter().map(|queue| u64::from(queue.push(change.clone(), position, queue_max))).sum()
            }
            News::Lost { position } => {
                let position = count.as_mut().map_or(*position, Count::lose);
                queues.iter().map(|queue| queue.lose(position)).sum()
            }
        }
    }

    /// The engine's stream is given back.
    pub(super) fn stop(&self) {
        if let Some(pump) = self.pump.get() {
            pump.abort();
        }
    }

    /// Nobody is served any more, and everybody is told.
    pub(super) fn close(&self) {
        self.stop();
        self.lock().queues.iter().for_each(|queue| queue.close());
    }

    /// No holder waits or calls out, and a queue's own lock is only ever taken inside this one.
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
