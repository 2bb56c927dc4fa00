//! When to try again, and when no more.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// The first wait; each is twice the one before.
const FIRST: Duration = Duration::from_secs(1);
/// What a target may ask for at most.
const ASKED_MAX: Duration = Duration::from_secs(60 * 60);

/// How often and how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Attempts for one event.
    pub attempts_max: u32,
    /// Since it happened.
    pub give_up_after: Duration,
    /// The longest wait between two attempts.
    pub retry_max: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            attempts_max: 40,
            give_up_after: Duration::from_secs(24 * 60 * 60),
            retry_max: Duration::from_secs(5 * 60),
        }
    }
}

/// Where in a wait it is tried, from 0 to 255.
pub(super) type Chance = u8;

/// Some number.
pub(super) fn chance() -> Chance {
    RandomState::new().build_hasher().finish() as Chance
}

impl Pace {
    /// When to try again something that happened then and failed for the `attempts`th time just now; none when never.
    pub(super) fn next(
        &self,
        attempts: u32,
        happened: Timestamp,
        now: Timestamp,
        asked: Option<Duration>,
        chance: Chance,
    ) -> Option<Timestamp> {
        if attempts >= self.attempts_max {
            return None;
        }
        let doubled = FIRST.saturating_mul(1 << attempts.saturating_sub(1).min(20)).min(self.retry_max);
        // Between half of it and the whole, so that those who failed together do not come back together.
        let wait = doubled / 2 + doubled / 2 * u32::from(chance) / 255;
        let wait = wait.max(asked.unwrap_or_default().min(ASKED_MAX));
        let next = now.saturating_add(SignedDuration::try_from(wait).ok()?).ok()?;
        let end = happened.saturating_add(SignedDuration::try_from(self.give_up_after).ok()?).ok()?;
        (next <= end).then_some(next)
    }
}
