//! A bounded queue from many callers to a thread that does their work, one by one or by groups.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What waits to be done.
pub(crate) struct Inbox<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    items_max: usize,
}

struct State<T> {
    items: VecDeque<T>,
    closed: bool,
    /// Threads that sleep until something comes.
    sleepers: usize,
}

/// Why an item was not taken; it is handed back.
#[derive(Debug)]
pub(crate) enum Rejected<T> {
    /// Too much waits already.
    Full(T),
    /// The thread is gone or going.
    Closed(T),
}

impl<T> Inbox<T> {
    pub(crate) fn new(items_max: usize) -> Self {
        let state = State { items: VecDeque::new(), closed: false, sleepers: 0 };
        Self { state: Mutex::new(state), filled: Condvar::new(), items_max }
    }

    /// Put an item in.
    pub(crate) fn put(&self, item: T) -> Result<(), Rejected<T>> {
        let mut state = self.hold();
        if state.closed {
            return Err(Rejected::Closed(item));
        }
        if state.items.len() >= self.items_max {
            return Err(Rejected::Full(item));
        }
        state.items.push_back(item);
        // Waking is a system call: only when somebody sleeps.
        let wake = state.sleepers > 0;
        drop(state);
        if wake {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// The next item; none when the queue is closed and empty.
    pub(crate) fn take(&self) -> Option<T> {
        let mut state = self.hold();
        loop {
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            if state.closed {
                return None;
            }
            state = self.sleep(state, None);
        }
    }

    /// Everything that waits, up to a number; empty when nothing came in time. None when the queue is closed and empty.
    pub(crate) fn take_group(&self, group_max: usize, patience: Duration) -> Option<Vec<T>> {
        let until = Instant::now() + patience;
        let mut state = self.hold();
        while state.items.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if state.closed {
                return None;
            }
            if left.is_zero() {
                return Some(Vec::new());
            }
            state = self.sleep(state, Some(left));
        }
        let number = group_max.min(state.items.len());
        Some(state.items.drain(..number).collect())
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.hold().items.is_empty()
    }

    /// Nothing more is taken; what is in will be done.
    pub(crate) fn close(&self) {
        self.hold().closed = true;
        self.filled.notify_all();
    }

    fn sleep<'a>(&self, mut state: MutexGuard<'a, State<T>>, patience: Option<Duration>) -> MutexGuard<'a, State<T>> {
        state.sleepers += 1;
        let mut state = match patience {
            None => self.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(time) => self.filled.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0,
        };
        state.sleepers -= 1;
        state
    }

    fn hold(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
