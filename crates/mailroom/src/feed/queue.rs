//! The queue of one watcher: bounded, filled without waiting, read by one.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use store::{Change, Position};

use super::Event;

/// What waits for one watcher.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// Without a gap, up to the last change: what is missing was before the first.
    changes: VecDeque<(Change, Position)>,
    gap: Option<Gap>,
    closed: bool,
    /// The reader, while it waits.
    reader: Option<Waker>,
}

struct Gap {
    missed: u64,
    position: Position,
}

impl Queue {
    /// Put one change at the end, with its place. When there is no room the oldest goes; whether one did.
    pub(super) fn push(&self, change: Change, position: Position, queue_max: usize) -> bool {
        let mut waiting = self.lock();
        let full = waiting.changes.len() >= queue_max;
        if full && let Some((_, oldest)) = waiting.changes.pop_front() {
            waiting.miss(1, oldest);
        }
        waiting.changes.push_back((change, position));
        wake(waiting);
        full
    }

    /// Changes up to a position are missing. What waits goes too: read after a list made because of the gap, it could
    /// bring back a message whose delete is among the missing. How many went.
    pub(super) fn lose(&self, position: Position) -> u64 {
        let mut waiting = self.lock();
        let dropped = waiting.changes.len() as u64;
        waiting.changes.clear();
        waiting.miss(dropped, position);
        wake(waiting);
        dropped
    }

    /// Nothing comes any more.
    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        waiting.closed = true;
        wake(waiting);
    }

    /// The gap, if there is one, then the changes. For one reader: a second would take the first one's wake-up.
    pub(super) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut waiting = self.lock();
        match waiting.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                let known = waiting.reader.as_ref().is_some_and(|reader| reader.will_wake(context.waker()));
                if !known {
                    waiting.reader = Some(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }

    /// A holder that panicked left the queue whole: every change to it is complete in itself.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wake the reader, if it waits, once nobody holds the lock that it will take.
fn wake(mut waiting: MutexGuard<'_, Waiting>) {
    let reader = waiting.reader.take();
    drop(waiting);
    if let Some(reader) = reader {
        reader.wake();
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
            change => Some(change.map(|(change, position)| Event::Change(change, position))),
        }
    }
}
