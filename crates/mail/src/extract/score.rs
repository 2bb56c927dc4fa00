//! From signals to a number between 0 and 1. What a signal is worth stands in `signals`.

use super::signals::Signal;

/// Points at which something is as likely right as wrong.
const EVEN: f64 = 4.0;

/// How many points make a clear difference.
const SLOPE: f64 = 1.2;

/// Below this nothing is listed as a code.
pub(super) const LISTED: f64 = 0.2;

/// From this on it is taken for an answer.
pub(super) const TAKEN: f64 = 0.5;

/// How far an answer is ahead of the next.
pub(super) const AHEAD: f64 = 0.15;

/// The signals that hold for one candidate.
#[derive(Clone, Default, Debug)]
pub(super) struct Score {
    signals: Vec<&'static Signal>,
}

impl Score {
    pub(super) fn add(&mut self, signal: &'static Signal) {
        if !self.has(signal) {
            self.signals.push(signal);
        }
    }

    pub(super) fn add_if(&mut self, holds: bool, signal: &'static Signal) {
        if holds {
            self.add(signal);
        }
    }

    pub(super) fn has(&self, signal: &Signal) -> bool {
        self.signals.iter().any(|one| one.name == signal.name)
    }

    pub(super) fn points(&self) -> i32 {
        self.signals.iter().map(|signal| signal.points).sum()
    }

    pub(super) fn confidence(&self) -> f64 {
        confidence(self.points())
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.signals.iter().map(|signal| signal.name).collect()
    }
}

impl FromIterator<&'static Signal> for Score {
    fn from_iter<I: IntoIterator<Item = &'static Signal>>(signals: I) -> Self {
        Self { signals: signals.into_iter().collect() }
    }
}

/// The logistic curve through one half at [`EVEN`], to two digits.
pub(super) fn confidence(points: i32) -> f64 {
    let exact = 1.0 / (1.0 + ((EVEN - f64::from(points)) / SLOPE).exp());
    (exact * 100.0).round() / 100.0
}
