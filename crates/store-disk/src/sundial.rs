//! The time by which mail ages: the clock's, unless the clock has jumped forward.
//!
//! A clock that is wrong by years for a minute would let everything lapse, and what is gone stays gone. So a step forward
//! that the time passed since the last look does not explain is not believed at once: for a while, mail ages by the time
//! that passed. Whoever set the clock wrong has that long to set it right; when it is still so at the end, it is believed.
//! The same holds when a store is opened and the clock stands much later than at the last write: the program was stopped
//! that long, or the clock is wrong.
//!
//! Small steps are none: less than a twentieth of the retention makes no more than about that share of the mail lapse at
//! once, and a minute is what a restart may take. And mail is never held for longer than its retention, so that a store
//! with a short one does not fill up.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use store::Clock;

use crate::desk::Micros;
use crate::row::micros;

/// A step within this share of the retention is believed...
const SMALL_SHARE: u32 = 20;
/// ...and one within this time in any case: a restart takes that long.
const SMALL_MIN: Duration = Duration::from_secs(60);

/// A clock that does not jump.
pub(crate) struct Sundial {
    clock: Arc<dyn Clock>,
    /// A step of more than this is a jump.
    small: Micros,
    /// For so long a jump is not believed.
    hold: Duration,
    state: Mutex<State>,
}

struct State {
    /// A time that was believed, and when.
    believed: Micros,
    at: Instant,
    /// When the clock was first seen to have jumped.
    jumped: Option<Instant>,
}

impl Sundial {
    /// It begins where the last one stood: `seen_at`, or at the clock's time when that is 0.
    pub(crate) fn new(clock: Arc<dyn Clock>, retention: Option<Duration>, hold: Duration, seen_at: Micros) -> Self {
        let now = micros(clock.now());
        let retention = retention.unwrap_or(Duration::MAX);
        let small = Micros::try_from((retention / SMALL_SHARE).max(SMALL_MIN).as_micros()).unwrap_or(Micros::MAX);
        let believed = if seen_at == 0 { now } else { seen_at };
        let state = State { believed, at: Instant::now(), jumped: None };
        Self { clock, small, hold: hold.min(retention), state: Mutex::new(state) }
    }

    /// The time by which mail ages.
    pub(crate) fn now(&self) -> Micros {
        self.at(Instant::now())
    }

    pub(crate) fn at(&self, instant: Instant) -> Micros {
        let now = micros(self.clock.now());
        if self.hold.is_zero() {
            return now;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = Micros::try_from(instant.saturating_duration_since(state.at).as_micros()).unwrap_or(Micros::MAX);
        let due = state.believed.saturating_add(passed);
        if now.saturating_sub(due) <= self.small {
            if state.jumped.take().is_some() {
                tracing::info!("the clock is right again: mail ages by it");
            }
            (state.believed, state.at) = (now, instant);
            return now;
        }
        let jumped = *state.jumped.get_or_insert_with(|| {
            let ahead = Duration::from_micros(now.saturating_sub(due).unsigned_abs());
            tracing::warn!(
                ahead = ?Duration::from_secs(ahead.as_secs()), hold = ?self.hold,
                "the clock stands much later than it should: no mail lapses by it until it is right, or until this time \
                 has passed"
            );
            instant
        });
        if instant.saturating_duration_since(jumped) < self.hold {
            return due;
        }
        tracing::warn!("the clock has stood later for long enough to be believed: mail ages by it again");
        (state.believed, state.at, state.jumped) = (now, instant, None);
        now
    }
}
