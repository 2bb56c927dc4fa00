//! What takes longer than CI has time for: fuzzing, other systems, thousands of connections, and the benchmarks.

mod fuzz;
mod hold;
mod portable;
mod slow;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::args::Args;
use crate::bench;
use crate::load::server::binary;
use crate::shell::Parts;

/// `cargo xtask long [fuzz|portable|hold|slow|bench|all]`.
pub(crate) fn run(mut args: Args) -> Result<()> {
    let which = args.word().unwrap_or_else(|| "all".into());
    let time = Duration::from_secs(args.value("--seconds")?.unwrap_or(60));
    let named: Option<PathBuf> = args.value("--bin")?;
    args.finish()?;
    if !["fuzz", "portable", "hold", "slow", "bench", "all"].contains(&which.as_str()) {
        bail!("`long {which}` is unknown: fuzz, portable, hold, slow, bench or all");
    }
    let wanted = |part: &str| which == part || which == "all";

    let mut parts = Parts::default();
    if wanted("fuzz") {
        parts.part("fuzz", || fuzz::run(time));
    }
    if wanted("portable") {
        parts.part("portable", portable::run);
    }
    if ["fuzz", "portable"].contains(&which.as_str()) {
        return parts.finish();
    }
    let binary = binary(named)?;
    if wanted("hold") {
        parts.part("hold", || hold::run(&binary));
    }
    if wanted("slow") {
        parts.part("slow", || slow::run(&binary, time));
    }
    if wanted("bench") {
        parts.part("bench", || bench::all(&bench::Plan::new(binary.clone())));
    }
    parts.finish()
}
