//! The disk engine at the sizes that it is made for: growth, expiry under load, opening after a kill, and space under
//! turnover. Each measurement makes its own data directory and removes it; the whole needs some 20 GB of disk and an hour.

mod expiry;
mod growth;
mod reopen;
mod turnover;

use super::measure::{Measure, Spread};
use crate::shell::Parts;

/// The measurements by name.
pub(super) const NAMES: [&str; 4] = ["growth", "expiry", "reopen", "turnover"];

/// Run those that are wanted.
pub(super) fn run(measure: &Measure<'_>, wanted: &impl Fn(&str) -> bool, parts: &mut Parts) {
    let measurements = [growth::run, expiry::run, reopen::run, turnover::run];
    for (name, measurement) in NAMES.into_iter().zip(measurements) {
        if wanted(name) {
            parts.part(name, || measurement(measure));
        }
    }
}
