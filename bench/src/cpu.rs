//! What this process has used, and what memory others hold, from `/proc`.

use std::fs;

use anyhow::{Context, Result};

/// The unit of `/proc/<pid>/stat`.
const TICKS_PER_SECOND: f64 = 100.0;

/// CPU seconds that this process used so far, in user and kernel together.
pub fn cpu() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat").context("CPU is read from /proc, which Linux has")?;
    let (_, rest) = stat.rsplit_once(')').context("/proc/self/stat has no name")?;
    let ticks: f64 = rest.split_whitespace().skip(11).take(2).filter_map(|text| text.parse::<f64>().ok()).sum();
    Ok(ticks / TICKS_PER_SECOND)
}

/// Resident bytes of these processes together.
pub fn resident(processes: &[u32]) -> Result<u64> {
    processes.iter().map(|process| one(*process)).sum()
}

fn one(process: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).context("the process is gone")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("/proc has no VmRSS")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().context("/proc holds no number")?;
    Ok(kilobytes * 1024)
}
