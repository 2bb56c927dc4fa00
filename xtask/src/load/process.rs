//! What a process uses, read from `/proc`, and how many files this one may open.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The unit of `/proc/<pid>/stat` on every Linux that matters here.
const TICKS_PER_SECOND: f64 = 100.0;

/// Memory of a process, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// Resident now.
    pub(crate) now: u64,
    /// Resident at most, since it began.
    pub(crate) peak: u64,
}

/// Memory of this process.
pub(crate) fn memory(pid: u32) -> Result<Memory> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("the process is gone")?;
    let field = |name: &str| -> Result<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).context("/proc has no such field")?;
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().context("/proc holds no number")?;
        Ok(kilobytes * 1024)
    };
    Ok(Memory { now: field("VmRSS:")?, peak: field("VmHWM:")? })
}

/// What a process holds at a moment.
#[derive(Clone, Copy)]
pub(crate) struct Used {
    /// Resident bytes.
    pub(crate) memory: u64,
    pub(crate) files: usize,
    /// Of the files, those that are sockets.
    pub(crate) sockets: usize,
    pub(crate) threads: usize,
}

/// What this process holds now.
pub(crate) fn used(pid: u32) -> Result<Used> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).context("the process is gone")?;
    // One that is closed meanwhile has no name any more, and is no longer counted.
    let names: Vec<_> = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok()).collect();
    let sockets = names.iter().filter(|name| name.to_string_lossy().starts_with("socket:")).count();
    let threads = fs::read_dir(format!("/proc/{pid}/task")).context("the process is gone")?.count();
    Ok(Used { memory: memory(pid)?.now, files: names.len(), sockets, threads })
}

/// CPU that this process used since it began, in user and kernel together.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).context("the process is gone")?;
    // The name of the program stands in parentheses and may hold anything, so count from behind it.
    let (_, rest) = stat.rsplit_once(')').context("/proc/<pid>/stat has no name")?;
    let ticks: Vec<f64> = rest.split_whitespace().skip(11).take(2).filter_map(|text| text.parse().ok()).collect();
    let [user, kernel] = ticks[..] else { bail!("/proc/<pid>/stat has no times") };
    Ok(Duration::from_secs_f64((user + kernel) / TICKS_PER_SECOND))
}

/// Let this process, and every one it starts, open so many files.
pub(crate) fn allow_files(wanted: u64) -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let maximum = limit.maximum.map(|maximum| maximum.max(wanted));
    setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum })
        .with_context(|| format!("{wanted} open files are needed: raise the hard limit (`ulimit -Hn {wanted}`)"))
}
