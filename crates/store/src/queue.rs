//! A bounded queue from the engine to one reader of a stream. The writer never waits: a reader that is too slow loses
//! what waits for it and is told so.

use std::collections::VecDeque;
use std::mem;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use crate::sync::{Mutex, MutexGuard};

/// What waits for one reader.
pub struct Queue<T>(Mutex<State<T>>);

struct State<T> {
    items: VecDeque<T>,
    items_max: usize,
    closed: bool,
    /// Whom to wake: the reader that found nothing.
    reader: Option<Waker>,
}

impl<T> Queue<T> {
    /// A queue that begins with these items and holds `more_max` beside them.
    pub fn new(items: VecDeque<T>, more_max: usize) -> Self {
        let items_max = items.len().saturating_add(more_max).max(1);
        Self(Mutex::new(State { items, items_max, closed: false, reader: None }))
    }

    /// Put an item in; in a full queue `lost` takes the place of everything, which is handed back to be dropped. The
    /// reader sleeps on until [`Queue::wake`], which belongs behind the writer's own lock.
    pub fn put(&self, item: T, lost: impl FnOnce() -> T) -> Option<VecDeque<T>> {
        let mut state = self.hold();
        if state.items.len() < state.items_max {
            state.items.push_back(item);
            return None;
        }
        let dropped = mem::take(&mut state.items);
        state.items.push_back(lost());
        Some(dropped)
    }

    /// Nothing will come any more.
    pub fn close(&self) {
        self.hold().closed = true;
    }

    /// Let the reader look.
    pub fn wake(&self) {
        let reader = self.hold().reader.take();
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// The next item. Nothing there and being known as the reader is one step, so that no item is slept over.
    pub fn poll(&self, context: &Context<'_>) -> Poll<Option<T>> {
        let mut state = self.hold();
        match state.items.pop_front() {
            Some(item) => Poll::Ready(Some(item)),
            None if state.closed => Poll::Ready(None),
            None => {
                state.reader = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    fn hold(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
