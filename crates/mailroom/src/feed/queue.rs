//! The queue of one watcher: bounded, filled without waiting, read by one.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use store::{Change, Position};
use tokio::sync::Notify;

use super::Event;

/// What waits for one watcher.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    filled: Notify,
}

#[derive(Default)]
struct Waiting {
    /// Without a gap, up to the last change: what is missing was before the first.
    changes: VecDeque<Change>,
    gap: Option<Gap>,
    closed: bool,
}

struct Gap {
    missed: u64,
    position: Position,
}

impl Queue {
    /// Put one change at the end. When there is no room the oldest goes; whether one did.
    pub(super) fn push(&self, change: Change, queue_max: usize) -> bool {
        let mut waiting = self.lock();
        let full = waiting.changes.len() >= queue_max;
        if full && let Some(oldest) = waiting.changes.pop_front() {
            waiting.miss(1, oldest.position());
        }
        waiting.changes.push_back(change);
        drop(waiting);
        self.filled.notify_one();
        full
    }

    /// Changes up to a position are missing. What waits goes too: read after a list made because of the gap, it could
    /// bring back a message whose delete is among the missing. How many went.
    pub(super) fn lose(&self, position: Position) -> u64 {
        let mut waiting = self.lock();
        let dropped = waiting.changes.len() as u64;
        waiting.changes.clear();
        waiting.miss(dropped, position);
        drop(waiting);
        self.filled.notify_one();
        dropped
    }

    /// Nothing comes any more.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
    }

    /// The gap, if there is one, then the changes. For one reader: a second would take the first one's wake-up.
    pub(super) async fn next(&self) -> Option<Event> {
        loop {
            if let Some(answer) = self.lock().take() {
                return answer;
            }
            self.filled.notified().await;
        }
    }

    /// A holder that panicked left the queue whole: every change to it is complete in itself.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn miss(&mut self, more: u64, position: Position) {
        let missed = self.gap.as_ref().map_or(0, |gap| gap.missed) + more;
        self.gap = Some(Gap { missed, position });
    }

    /// The next event, or the end; none when there is neither yet.
    fn take(&mut self) -> Option<Option<Event>> {
        if let Some(Gap { missed, position }) = self.gap.take() {
            return Some(Some(Event::Lagged { missed, position }));
        }
        match self.changes.pop_front() {
            None if !self.closed => None,
            change => Some(change.map(Event::Change)),
        }
    }
}
