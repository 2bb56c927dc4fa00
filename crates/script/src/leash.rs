//! How long a script may go on. The VM asks at every call, return and turn of a loop; a `pcall` can swallow the error that
//! ends it, but not the fact, which is looked at once more behind the call.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Whoever takes longer than this lets somebody else to work beside it.
const SLOW: u64 = Duration::from_millis(5).as_nanos() as u64;

/// The time of one VM's events, one after the other.
pub(crate) struct Leash {
    born: Instant,
    began: AtomicU64,
    until: AtomicU64,
    gone: AtomicBool,
    slow: AtomicBool,
    /// Called once for each event that turns out slow.
    when_slow: Box<dyn Fn() + Send + Sync>,
}

impl Leash {
    pub(crate) fn new(when_slow: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            born: Instant::now(),
            began: AtomicU64::new(0),
            until: AtomicU64::new(u64::MAX),
            gone: AtomicBool::new(false),
            slow: AtomicBool::new(false),
            when_slow: Box::new(when_slow),
        }
    }

    /// An event begins.
    pub(crate) fn begin(&self, until: Instant) {
        self.began.store(self.now(), Relaxed);
        self.until.store(nanos(until.saturating_duration_since(self.born)), Relaxed);
        self.gone.store(false, Relaxed);
        self.slow.store(false, Relaxed);
    }

    /// Whether time is up. Once it is, it stays so until the next event. The clock is read each time: between two askings
    /// there may be milliseconds, such as to copy a text of megabytes.
    pub(crate) fn is_up(&self) -> bool {
        let now = self.now();
        if now.saturating_sub(self.began.load(Relaxed)) > SLOW {
            self.let_others();
        }
        if now >= self.until.load(Relaxed) {
            self.gone.store(true, Relaxed);
        }
        self.gone.load(Relaxed)
    }

    /// This event is going to wait, or has been at work for long.
    pub(crate) fn let_others(&self) {
        if !self.slow.swap(true, Relaxed) {
            (self.when_slow)();
        }
    }

    /// The event is over; whether it had let somebody else to work.
    pub(crate) fn end(&self) -> bool {
        self.until.store(u64::MAX, Relaxed);
        self.slow.swap(false, Relaxed)
    }

    /// What is left of the time.
    pub(crate) fn left(&self) -> Duration {
        Duration::from_nanos(self.until.load(Relaxed).saturating_sub(self.now()))
    }

    fn now(&self) -> u64 {
        nanos(self.born.elapsed())
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
