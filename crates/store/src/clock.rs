//! The clock as an argument, so that tests own time.

use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};

/// Tells the time of day.
pub trait Clock: Send + Sync + 'static {
    /// Now, to the microsecond.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }
}

/// A clock that moves when told.
#[derive(Debug)]
pub struct ManualClock(Mutex<Timestamp>);

impl ManualClock {
    /// A clock that stands at this time.
    pub fn at(start: Timestamp) -> Self {
        Self(Mutex::new(start))
    }

    /// Move it, forward or back.
    pub fn advance(&self, by: SignedDuration) {
        let mut now = self.0.lock().expect("no holder of the clock panics");
        *now += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().expect("no holder of the clock panics")
    }
}
