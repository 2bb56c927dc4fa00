//! What takes longer than CI has time for: fuzzing, other systems, thousands of connections, a thousand crashes, power
//! loss, the disk engine and the cluster at full size, TLS in numbers, tests and those who wait in numbers, the page on every
//! engine, an hour of everything at once, and the benchmarks.

mod api;
mod cluster;
mod disk;
mod fuzz;
mod hold;
mod measure;
mod mixed;
mod portable;
mod slow;
mod tls;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::args::Args;
use crate::bench;
use crate::crash;
use crate::faults;
use crate::leaving;
use crate::load::server::binary;
use crate::page;
use crate::shell::Parts;
pub(crate) use api::short as short_api;
use measure::Measure;
pub(crate) use mixed::short as short_mixed;

const PARTS: [&str; 16] = [
    "fuzz", "portable", "hold", "slow", "crash", "power", "disk", "cluster", "faults", "tls", "api", "leaving", "page",
    "mixed", "bench", "all",
];

/// `cargo xtask long [fuzz|portable|hold|slow|crash|power|disk|cluster|faults|tls|api|leaving|page|mixed|bench|all]`, the
/// parts of `disk` and of `api` by name, and those of `cluster`, `faults`, `tls` and `leaving` by further words.
pub(crate) fn run(mut args: Args) -> Result<()> {
    let which = args.word().unwrap_or_else(|| "all".into());
    let part = if ["cluster", "tls", "leaving"].contains(&which.as_str()) { args.word() } else { None };
    let faults = if which == "faults" { std::iter::from_fn(|| args.word()).collect() } else { Vec::new() };
    let time = Duration::from_secs(args.value("--seconds")?.unwrap_or(60));
    let named: Option<PathBuf> = args.value("--bin")?;
    let (rounds, seed, lying) = (args.value("--rounds")?, args.value("--seed")?, args.flag("--lying"));
    let (scale, write) = (args.value("--scale")?.unwrap_or(1.0), args.flag("--write"));
    let engine: Option<String> = args.value("--engine")?;
    let minutes: Option<f64> = args.value("--minutes")?;
    let (part, of_tls, of_leaving) = match which.as_str() {
        "tls" => (None, part, None),
        "leaving" => (None, None, part),
        _ => (part, None, None),
    };
    let wish = cluster::Wish { part, shards: args.value("--shards")?.unwrap_or(1) };
    args.finish()?;
    wish.check()?;
    if !PARTS.iter().chain(&disk::NAMES).chain(&api::NAMES).any(|part| *part == which) {
        let [parts, of_disk, of_api] = [PARTS.join(", "), disk::NAMES.join(", "), api::NAMES.join(", ")];
        bail!("`long {which}` is unknown; there are {parts}, of disk alone {of_disk}, of api {of_api}");
    }
    if lying && !["power", "faults"].contains(&which.as_str()) {
        bail!("--lying belongs to `long power` and `long faults`, and to `cargo xtask crash`");
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
    if wanted("crash") {
        parts.part("crash", || crash::long(binary.clone(), rounds, seed));
    }
    if wanted("power") {
        parts.part("power", || crash::power(binary.clone(), rounds, seed, lying));
    }
    let measure = Measure::new(&binary, scale, write)?;
    disk::run(&measure, &|part: &str| wanted(part) || which == "disk", &mut parts);
    if wanted("cluster") {
        cluster::run(&measure, &wish, &mut parts)?;
    }
    if wanted("faults") {
        let wish = faults::Wish { names: faults, rounds, seed, write, lying };
        parts.part("faults", || faults::run(binary.clone(), wish));
    }
    if wanted("tls") {
        tls::run(&measure, of_tls.as_deref(), rounds, &mut parts)?;
    }
    api::run(&measure, engine.as_deref(), &|part: &str| wanted(part) || which == "api", &mut parts)?;
    if wanted("leaving") {
        let wish = leaving::Wish { part: of_leaving, engine, minutes: minutes.unwrap_or(10.0), write };
        leaving::long(&binary, &wish, &mut parts)?;
    }
    if wanted("page") {
        page::if_possible(&mut parts, page::Size::Long, &binary);
    }
    if wanted("mixed") {
        parts.part("mixed", || mixed::run(&binary, minutes.unwrap_or(60.0), seed));
    }
    if wanted("bench") {
        parts.part("bench", || bench::all(&bench::Plan::new(binary.clone())));
    }
    parts.finish()
}
