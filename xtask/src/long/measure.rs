//! What the measurements at full size share: how large they are, and what becomes of their tables.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::bench::Report;
use crate::load::figures::percentile;

/// What to measure, and how large.
pub(super) struct Measure<'a> {
    pub(super) binary: &'a Path,
    /// 1 is the size that the goals are meant for; less is for trying out.
    pub(super) scale: f64,
    /// Whether the tables go into their book.
    write: bool,
}

impl<'a> Measure<'a> {
    pub(super) fn new(binary: &'a Path, scale: f64, write: bool) -> Result<Self> {
        ensure!(scale > 0.0 && scale <= 1.0, "--scale is above 0 and at most 1");
        ensure!(!write || scale == 1.0, "only what was measured at full size is written down");
        Ok(Self { binary, scale, write })
    }

    /// So many at this scale.
    pub(super) fn scaled(&self, count: usize) -> usize {
        (count as f64 * self.scale).ceil() as usize
    }

    /// So long at this scale, but not shorter than the other.
    pub(super) fn scaled_time(&self, time: Duration, least: Duration) -> Duration {
        time.mul_f64(self.scale).max(least)
    }

    /// Show the table, and write it down if that is wanted. At full size a goal that is missed is an error.
    pub(super) fn done(&self, report: &Report) -> Result<()> {
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
pub(super) struct Spread {
    pub(super) p50: f64,
    pub(super) p99: f64,
}

impl Spread {
    /// Of these times, in milliseconds. There must be one.
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        let [p50, p99] = [0.5, 0.99].map(|share| percentile(&mut times, share).as_secs_f64() * 1e3);
        Self { p50, p99 }
    }

    /// `0.31 / 1.20 ms`.
    pub(super) fn text(self) -> String {
        format!("{:.2} / {:.2} ms", self.p50, self.p99)
    }
}
