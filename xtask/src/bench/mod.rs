//! Speed, always beside a yardstick in the same run: machines differ from hour to hour, ratios hardly do.

mod cluster;
mod disk;
mod http;
mod report;
mod script;
mod search;
mod smtp;
mod start;
mod tls;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::args::Args;
use crate::load::server::binary;
pub(crate) use report::Report;

/// What to measure, how often and how long.
pub(crate) struct Plan {
    binary: PathBuf,
    rounds: usize,
    time: Duration,
    /// Where the tables go besides stdout.
    write: bool,
    /// Of `cluster`: how many messages are on their way at once, and the one size of them, when not the usual ones.
    connections: Option<usize>,
    size: Option<usize>,
}

impl Plan {
    /// The usual measurement of this binary.
    pub(crate) fn new(binary: PathBuf) -> Self {
        let time = Duration::from_secs(5);
        Self { binary, rounds: 5, time, write: false, connections: None, size: None }
    }

    fn done(&self, report: &Report) -> Result<()> {
        println!("\n{}", report.text());
        if self.write { report.write() } else { Ok(()) }
    }
}

/// `cargo xtask bench [smtp|script|http|start|disk|search|cluster|tls|all]`.
pub(crate) fn run(mut args: Args) -> Result<()> {
    let which = args.word().unwrap_or_else(|| "all".into());
    let rounds: usize = args.value("--rounds")?.unwrap_or(5);
    let seconds: u64 = args.value("--seconds")?.unwrap_or(5);
    let write = args.flag("--write");
    let (connections, size) = (args.value("--connections")?, args.value::<String>("--size")?);
    let size = size.map(|text| kilobytes(&text)).transpose()?;
    let named = args.value("--bin")?;
    args.finish()?;
    let measure = match which.as_str() {
        "smtp" => smtp::run,
        "script" => script::run,
        "http" => http::run,
        "start" => start::run,
        "disk" => disk::run,
        "cluster" => cluster::run,
        "search" => search::run,
        "tls" => tls::run,
        "all" => all,
        _ => bail!("`bench {which}` is unknown: smtp, script, http, start, disk, search, cluster, tls or all"),
    };
    let of_cluster = connections.is_some() || size.is_some();
    ensure!(which == "cluster" || !of_cluster, "--connections and --size are of `cluster`");
    ensure!(!write || size.is_none(), "only a measurement of all sizes is written down");
    let time = Duration::from_secs(seconds.max(1));
    measure(&Plan { binary: binary(named)?, rounds: rounds.max(1), time, write, connections, size })
}

/// `20KB` in bytes.
fn kilobytes(text: &str) -> Result<usize> {
    let number = text.strip_suffix("KB").and_then(|number| number.trim().parse::<usize>().ok());
    Ok(number.with_context(|| format!("--size is so many KB, not `{text}`"))? * 1024)
}

/// Everything, one after the other.
pub(crate) fn all(plan: &Plan) -> Result<()> {
    start::run(plan)?;
    smtp::run(plan)?;
    script::run(plan)?;
    http::run(plan)?;
    tls::run(plan)?;
    disk::run(plan)?;
    search::run(plan)?;
    cluster::run(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_kilobytes() {
        assert_eq!(kilobytes("20KB").expect("a size"), 20_480);
        assert!(["20", "KB", "20kB", "-1KB", "2MB"].iter().all(|text| kilobytes(text).is_err()));
    }
}
