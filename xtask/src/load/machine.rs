//! The machine's cores: how long they had nothing to do, and which of them this process and what it starts may use.

use std::fs;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The unit of `/proc/stat` on every Linux that matters here.
const TICKS_PER_SECOND: f64 = 100.0;

/// How many cores there are.
pub(crate) fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Time that the first core, and all others taken together, had nothing to do since the machine was started. Waiting for
/// the disk is nothing.
pub(crate) fn idle() -> Result<[Duration; 2]> {
    let stat = fs::read_to_string("/proc/stat").context("there is no /proc/stat")?;
    let mut idle = [Duration::ZERO; 2];
    // The first line is the sum of all.
    for (core, line) in stat.lines().skip(1).take_while(|line| line.starts_with("cpu")).enumerate() {
        let ticks: f64 = line.split_whitespace().skip(4).take(2).filter_map(|text| text.parse::<f64>().ok()).sum();
        idle[core.min(1)] += Duration::from_secs_f64(ticks / TICKS_PER_SECOND);
    }
    Ok(idle)
}

/// This thread, and what it starts, keeps to some cores until this is dropped.
pub(crate) struct Kept {
    before: CpuSet,
}

/// Keep to all cores but the first.
pub(crate) fn keep_off_first() -> Result<Kept> {
    let before = sched_getaffinity(None)?;
    let mut allowed = before;
    allowed.unset(0);
    sched_setaffinity(None, &allowed).context("this machine has one core only")?;
    Ok(Kept { before })
}

impl Drop for Kept {
    fn drop(&mut self) {
        // It was allowed before.
        let _ = sched_setaffinity(None, &self.before);
    }
}
