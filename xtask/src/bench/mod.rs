//! Speed, always beside a yardstick in the same run: machines differ from hour to hour, ratios hardly do.

mod disk;
mod http;
mod report;
mod smtp;
mod start;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};

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
}

impl Plan {
    /// The usual measurement of this binary.
    pub(crate) fn new(binary: PathBuf) -> Self {
        Self { binary, rounds: 5, time: Duration::from_secs(5), write: false }
    }

    fn done(&self, report: &Report) -> Result<()> {
        println!("\n{}", report.text());
        if self.write { report.write() } else { Ok(()) }
    }
}

/// `cargo xtask bench [smtp|http|start|disk|all]`.
pub(crate) fn run(mut args: Args) -> Result<()> {
    let which = args.word().unwrap_or_else(|| "all".into());
    let rounds: usize = args.value("--rounds")?.unwrap_or(5);
    let seconds: u64 = args.value("--seconds")?.unwrap_or(5);
    let write = args.flag("--write");
    let named = args.value("--bin")?;
    args.finish()?;
    let measure = match which.as_str() {
        "smtp" => smtp::run,
        "http" => http::run,
        "start" => start::run,
        "disk" => disk::run,
        "all" => all,
        _ => bail!("`bench {which}` is unknown: smtp, http, start, disk or all"),
    };
    let time = Duration::from_secs(seconds.max(1));
    measure(&Plan { binary: binary(named)?, rounds: rounds.max(1), time, write })
}

/// Everything, one after the other.
pub(crate) fn all(plan: &Plan) -> Result<()> {
    start::run(plan)?;
    smtp::run(plan)?;
    http::run(plan)?;
    disk::run(plan)
}
