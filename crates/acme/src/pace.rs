//! How often to look whether a certificate is due, and how long to wait after a failure. It knows no clock.

use std::time::Duration;

use aws_lc_rs::rand;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// The waits of a [`Notary`](crate::Notary). The defaults are for every CA; tests are in more of a hurry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Between two looks, while all is well.
    pub check_every: Duration,
    /// After the CA could not be reached; doubled by each further failure.
    pub unreached: Duration,
    /// After the CA refused; doubled as well. CAs allow few failures in an hour.
    pub refused: Duration,
    /// After the CA said that it was asked too often; doubled as well.
    pub limited: Duration,
    /// The longest of these.
    pub longest: Duration,
}

/// What kind of failure it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Setback {
    Unreached,
    Refused,
    Limited,
}

impl Default for Pace {
    fn default() -> Self {
        Self { check_every: 12 * HOUR, unreached: MINUTE / 2, refused: 5 * MINUTE, limited: HOUR, longest: 12 * HOUR }
    }
}

impl Pace {
    /// How long to wait after so many failures in a row, of which this was the last.
    pub(crate) fn after(&self, setback: Setback, failures: u32) -> Duration {
        let first = match setback {
            Setback::Unreached => self.unreached,
            Setback::Refused => self.refused,
            Setback::Limited => self.limited,
        };
        let doubled = 2u32.saturating_pow(failures.saturating_sub(1));
        first.saturating_mul(doubled).min(self.longest)
    }
}

/// A tenth more or less, so that those who were started together do not ask together.
pub(crate) fn jittered(wait: Duration) -> Duration {
    let mut byte = [0];
    // Without chance the wait is what it was.
    let share = if rand::fill(&mut byte).is_ok() { u32::from(byte[0]) } else { 128 };
    wait * 9 / 10 + wait / 5 * share / 255
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_have_an_end() {
        let pace = Pace::default();
        let check = |setback, failures, seconds| {
            assert_eq!(pace.after(setback, failures), Duration::from_secs(seconds), "{setback:?} {failures}");
        };
        check(Setback::Unreached, 1, 30);
        check(Setback::Unreached, 2, 60);
        check(Setback::Unreached, 4, 240);
        check(Setback::Refused, 1, 300);
        check(Setback::Refused, 3, 1200);
        check(Setback::Limited, 1, 3600);
        for setback in [Setback::Unreached, Setback::Refused, Setback::Limited] {
            check(setback, 40, 12 * 3600);
            check(setback, u32::MAX, 12 * 3600);
        }
    }

    #[test]
    fn refusals_stay_within_five_in_an_hour() {
        let pace = Pace::default();
        let waits = (1..=4).map(|failures| pace.after(Setback::Refused, failures) * 9 / 10);
        assert!(waits.sum::<Duration>() > Duration::from_secs(3600));
    }

    #[test]
    fn jitter_is_a_tenth_either_way() {
        let wait = Duration::from_secs(1000);
        let drawn: Vec<_> = (0..200).map(|_| jittered(wait)).collect();
        assert!(drawn.iter().all(|drawn| (900..=1100).contains(&drawn.as_secs())), "{drawn:?}");
        assert!(drawn.iter().any(|other| *other != drawn[0]), "chance has no part in it");
    }
}
