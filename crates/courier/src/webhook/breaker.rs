//! A target that fails again and again is left alone for a while; then one request finds out whether it is back.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// When a target is left alone, and for how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rest {
    /// Failures in a row.
    pub failures_max: u32,
    /// How long.
    pub time: Duration,
}

impl Default for Rest {
    fn default() -> Self {
        Self { failures_max: 5, time: Duration::from_secs(30) }
    }
}

/// Counts for one target.
#[derive(Debug)]
pub(super) struct Breaker {
    rest: Rest,
    state: Mutex<State>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It is asked. So many failures in a row so far.
    Closed { failures: u32 },
    /// It is left alone until then; from then on one request goes through.
    Open { until: Instant },
}

/// What a result changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// Nothing.
    None,
    /// From now on it is left alone.
    Opened,
    /// It is back.
    Closed,
}

impl Breaker {
    pub(super) fn new(rest: Rest) -> Self {
        Self { rest, state: Mutex::new(State::Closed { failures: 0 }) }
    }

    /// How many requests may be under way of so many.
    pub(super) fn hands(&self, most: usize) -> usize {
        match *self.lock() {
            State::Closed { .. } => most,
            State::Open { until } if Instant::now() >= until => 1,
            State::Open { .. } => 0,
        }
    }

    pub(super) fn succeeded(&self) -> Turn {
        let mut state = self.lock();
        let was_open = matches!(*state, State::Open { .. });
        *state = State::Closed { failures: 0 };
        if was_open { Turn::Closed } else { Turn::None }
    }

    pub(super) fn failed(&self) -> Turn {
        let mut state = self.lock();
        let open = State::Open { until: Instant::now() + self.rest.time };
        match *state {
            State::Closed { failures } if failures + 1 < self.rest.failures_max => {
                *state = State::Closed { failures: failures + 1 };
                Turn::None
            }
            State::Closed { .. } => {
                *state = open;
                Turn::Opened
            }
            State::Open { .. } => {
                *state = open;
                Turn::None
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
