//! Those whom one stream of the engine serves: the watchers of a mailbox, those of all mailboxes, or one who came back.
//!
//! Whom the last watcher has left nobody enters again: the next one finds a new audience. So a pump that was stopped
//! with a change in hand tells it to nobody.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::{News, Position, Scope};
use tokio::sync::OnceCell;
use tokio::task::AbortHandle;

use super::queue::Queue;

/// The watchers, and the task that serves them.
pub(super) struct Audience {
    /// What they follow.
    pub(super) scope: Scope,
    /// From where on.
    pub(super) after: Position,
    /// Set by the first watcher, while the others wait for it; when that fails the next one tries.
    pub(super) pump: OnceCell<AbortHandle>,
    queues: Mutex<Vec<Arc<Queue>>>,
}

impl Audience {
    pub(super) fn new(scope: Scope, after: Position) -> Self {
        Self { scope, after, pump: OnceCell::new(), queues: Mutex::default() }
    }

    /// One more watcher, with an empty queue.
    pub(super) fn enter(&self) -> Arc<Queue> {
        let queue = Arc::new(Queue::default());
        self.lock().push(Arc::clone(&queue));
        queue
    }

    /// One watcher less; whether it was the last.
    pub(super) fn leave(&self, queue: &Arc<Queue>) -> bool {
        let mut queues = self.lock();
        if let Some(place) = queues.iter().position(|known| Arc::ptr_eq(known, queue)) {
            queues.swap_remove(place);
        }
        queues.is_empty()
    }

    /// Put news into every queue; how many events were dropped for it.
    pub(super) fn tell(&self, news: &News, queue_max: usize) -> u64 {
        let queues = self.lock();
        match news {
            News::Change(change) => queues.iter().map(|queue| u64::from(queue.push(change.clone(), queue_max))).sum(),
            News::Lost { position } => queues.iter().map(|queue| queue.lose(*position)).sum(),
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
        self.lock().iter().for_each(|queue| queue.close());
    }

    /// No holder waits or calls out, and a queue's own lock is only ever taken inside this one.
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Queue>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
