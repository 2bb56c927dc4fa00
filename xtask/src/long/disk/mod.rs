//! The disk engine at the sizes that it is made for: growth, expiry under load, opening after a kill, and space under
//! turnover. Each measurement makes its own data directory and removes it; the whole needs some 20 GB of disk and an hour.

mod expiry;
mod growth;
mod reopen;
mod turnover;

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::bench::Report;
use crate::load::figures::percentile;
use crate::shell::Parts;

/// The measurements by name.
pub(super) const NAMES: [&str; 4] = ["growth", "expiry", "reopen", "turnover"];

/// What to measure, and how large.
pub(super) struct Measure<'a> {
    pub(super) binary: &'a Path,
    /// 1 is the size that the goals are meant for; less is for trying out.
    pub(super) scale: f64,
    /// Whether the tables go into their book.
    pub(super) write: bool,
}

impl Measure<'_> {
    /// Run those that are wanted.
    pub(super) fn run(&self, wanted: &impl Fn(&str) -> bool, parts: &mut Parts) -> Result<()> {
        ensure!(self.scale > 0.0 && self.scale <= 1.0, "--scale is above 0 and at most 1");
        ensure!(!self.write || self.scale == 1.0, "only what was measured at full size is written down");
        let measurements = [growth::run, expiry::run, reopen::run, turnover::run];
        for (name, measurement) in NAMES.into_iter().zip(measurements) {
            if wanted(name) {
                parts.part(name, || measurement(self));
            }
        }
        Ok(())
    }

    /// So many at this scale.
    fn scaled(&self, count: usize) -> usize {
        (count as f64 * self.scale).ceil() as usize
    }

    /// So long at this scale, but not shorter than the other.
    fn scaled_time(&self, time: Duration, least: Duration) -> Duration {
        time.mul_f64(self.scale).max(least)
    }

    /// Show the table, and write it down if that is wanted. At full size a goal that is missed is an error.
    fn done(&self, report: &Report) -> Result<()> {
        println!("\n{}", report.text());
        if self.write {
            report.write()?;
        }
        ensure!(self.scale < 1.0 || !report.text().contains("**missed**"), "a goal was missed");
        Ok(())
    }
}

/// Median and 99th percentile.
#[derive(Clone, Copy)]
struct Spread {
    p50: f64,
    p99: f64,
}

impl Spread {
    /// Of these times, in milliseconds. There must be one.
    fn of(mut times: Vec<Duration>) -> Self {
        let [p50, p99] = [0.5, 0.99].map(|share| percentile(&mut times, share).as_secs_f64() * 1e3);
        Self { p50, p99 }
    }

    /// `0.31 / 1.20 ms`.
    fn text(self) -> String {
        format!("{:.2} / {:.2} ms", self.p50, self.p99)
    }
}
