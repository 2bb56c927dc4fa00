//! The crash campaign: kill what keeps mail under load, again and again, and hold what is there afterwards against what
//! the clients were told. It speaks to the real binary over SMTP, REST and signals, and knows nothing of an engine.
//!
//! `campaign` runs the rounds on a `rig`, which is a `lone` server on a disk or the `trial` of a cluster (a `fleet`) under
//! a fault; `clients` and `rest` write down a `history`, `checker` judges it.

mod blows;
mod campaign;
mod checker;
mod clients;
mod cluster;
mod doors;
mod fleet;
mod fuse;
mod history;
mod launch;
mod letter;
mod lone;
mod operator;
mod power;
mod report;
mod rest;
mod rig;
mod syscalls;
mod trial;
mod watch;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};

use crate::args::Args;
use crate::load::server::binary;
use crate::shell::{built, cargo, run as must};
pub(crate) use campaign::Campaign;
pub(crate) use checker::{Kind, Violation};
use clients::BRIEF;
pub(crate) use cluster::{Shape, short as short_cluster, trial};
pub(crate) use fleet::{Fleet, Ground, Layout, Spot};
pub(crate) use fuse::{Moment, Step, Victims};
pub(crate) use history::{Clock, Cut, History, Outcome, Reads, Send, Span};
pub(crate) use letter::Author;
use lone::Lone;
pub(crate) use power::{Image, Switch, missing as no_image};
pub(crate) use report::Totals;
pub(crate) use rig::Aim;
pub(crate) use trial::{Blow, Fault};
pub(crate) use watch::{Lights, is_ready};

/// So many rounds without `--rounds`.
const ROUNDS: u32 = 100;
/// A build that lies is found out long before.
const ROUNDS_LYING: u32 = 40;
const ROUNDS_SHORT: u32 = 25;
const ROUNDS_LONG: u32 = 1000;
const ROUNDS_POWER: u32 = 50;

/// What a campaign is run on.
struct Options {
    rounds: Option<u32>,
    seed: u64,
    named: Option<PathBuf>,
    settings: Vec<String>,
}

impl Options {
    fn new(args: &mut Args) -> Result<Self> {
        let mut settings = Vec::new();
        while let Some(setting) = args.value("--set")? {
            settings.push(setting);
        }
        let seed = args.value("--seed")?.unwrap_or_else(seed_of_now);
        Ok(Self { rounds: args.value("--rounds")?, seed, named: args.value("--bin")?, settings })
    }
}

/// `cargo xtask crash [--rounds N] [--seed S] [--bin PATH] [--set KEY=VALUE]… [--lying | --syscalls]`, and for a cluster
/// `--engine jetstream [--nodes N] [--servers N] [--shards N] [--body-shards N]`.
pub(crate) fn run(mut args: Args) -> Result<()> {
    let (lying, syscalls) = (args.flag("--lying"), args.flag("--syscalls"));
    let engine: String = args.value("--engine")?.unwrap_or_else(|| "disk".into());
    let options = Options::new(&mut args)?;
    if engine == "jetstream" {
        ensure!(!(lying || syscalls), "--lying and --syscalls are for the disk engine; see `cargo xtask long faults`");
        let shape = Shape::new(&mut args)?;
        args.finish()?;
        let layout = shape.layout(binary(options.named.clone())?, options.settings);
        return cluster::run(layout, options.seed, options.rounds.unwrap_or(ROUNDS));
    }
    args.finish()?;
    ensure!(engine == "disk", "--engine is disk or jetstream");
    ensure!(!(lying && syscalls), "--lying and --syscalls are two things: ask for one of them");
    if lying {
        return lies(&options);
    }
    let server = binary(options.named.clone())?;
    match syscalls {
        true => syscalls::run(server, &options),
        false => kills(server, options.seed, options.rounds.unwrap_or(ROUNDS), &options.settings),
    }
}

/// The short form that CI runs on the binary that it built.
pub(crate) fn short(binary: PathBuf) -> Result<()> {
    ensure!(binary.is_file(), "there is no {}: the part `tests` builds it", binary.display());
    kills(binary, seed_of_now(), ROUNDS_SHORT, &[])
}

/// `cargo xtask long crash`: a thousand rounds, a tenth as many in which mail lapses as well, and every system call.
pub(crate) fn long(binary: PathBuf, rounds: Option<u32>, seed: Option<u64>) -> Result<()> {
    let (seed, rounds) = (seed.unwrap_or_else(seed_of_now), rounds.unwrap_or(ROUNDS_LONG));
    kills(binary.clone(), seed, rounds, &[])?;
    kills(binary.clone(), seed, rounds.div_ceil(10), &["mailbox.retention=2s".into()])?;
    syscalls::run(binary, &Options { rounds: None, seed, named: None, settings: Vec::new() })
}

/// `cargo xtask long power`: rounds that end with the power. With `lying` every sync is faked by strace, and the
/// campaign must find that out.
pub(crate) fn power(binary: PathBuf, rounds: Option<u32>, seed: Option<u64>, lying: bool) -> Result<()> {
    if let Some(why) = power::missing() {
        println!("skipped: {why}");
        return Ok(());
    }
    let (seed, work) = (seed.unwrap_or_else(seed_of_now), Work::new()?);
    let image = Image::new(&work.folder)?;
    // The image is small beside what is usually to stay free.
    let data = image.mounted_at.join("data");
    let mut launch = Lone::launch(binary, vec!["store.disk.free_min=16MiB".into()], &data, &work.folder);
    if lying {
        launch.under = syscalls::faked_syncs()?;
    }
    let mut campaign = Campaign::new(Lone::new(launch, data, seed, Some(image)), BRIEF, work.folder.clone());
    println!("seed {seed}");
    campaign
        .run(rounds.unwrap_or(if lying { ROUNDS_LYING } else { ROUNDS_POWER }), |totals| lying && totals.lost > 0)?;
    // Unmounted before the folder that it is mounted in is cleared away.
    let totals = std::mem::take(&mut campaign.totals);
    drop(campaign);
    match lying {
        true => unmasked(work, &totals),
        false => clean(work, &totals),
    }
}

/// The campaign of kills, on a server that is expected to keep its word.
fn kills(binary: PathBuf, seed: u64, rounds: u32, settings: &[String]) -> Result<()> {
    let work = Work::new()?;
    let mut campaign = lone(binary, settings, seed, &work);
    println!("{rounds} rounds, seed {seed}");
    campaign.run(rounds, |_| false)?;
    clean(work, &campaign.totals)
}

/// One server, on a disk in the folder of the campaign.
fn lone(binary: PathBuf, settings: &[String], seed: u64, work: &Work) -> Campaign<Lone> {
    let data = work.folder.join("data");
    let launch = Lone::launch(binary, settings.to_vec(), &data, &work.folder);
    Campaign::new(Lone::new(launch, data, seed, None), BRIEF, work.folder.clone())
}

/// The campaign on a build whose writer acknowledges before it commits: it must be found out.
fn lies(options: &Options) -> Result<()> {
    let binary = match &options.named {
        Some(_) => binary(options.named.clone())?,
        None => lying_binary()?,
    };
    let work = Work::new()?;
    let mut campaign = lone(binary, &options.settings, options.seed, &work);
    println!("a build that lies, seed {}", options.seed);
    campaign.run(options.rounds.unwrap_or(ROUNDS_LYING), |totals| totals.lost > 0)?;
    unmasked(work, &campaign.totals)
}

/// Built apart, so that nobody takes it for the real one.
fn lying_binary() -> Result<PathBuf> {
    let target = built()?.with_file_name("lying");
    let mut build = cargo(["build", "--release", "--package", "postkeep", "--features", "lying", "--target-dir"]);
    must(build.arg(&target))?;
    Ok(target.join("release").join("postkeep"))
}

/// No promise may have been broken, and there must have been some.
pub(crate) fn clean(work: Work, totals: &Totals) -> Result<()> {
    println!("\n{totals}");
    if totals.violations > 0 {
        bail!("promises were broken; data, histories and the server's log: {}", work.kept().display());
    }
    ensure!(totals.acknowledged >= totals.rounds, "hardly anything was acknowledged: this shows nothing");
    Ok(())
}

/// Acknowledged mail must have been found missing, or the campaign would not see a lie.
pub(crate) fn unmasked(work: Work, totals: &Totals) -> Result<()> {
    println!("\n{totals}");
    if totals.lost == 0 {
        bail!("the lie was not found out: see {}", work.kept().display());
    }
    println!("the lie was found out after {} rounds, as it must be", totals.rounds);
    Ok(())
}

pub(crate) fn seed_of_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs())
}

/// The folder of a campaign, cleared away at the end unless something is to be looked at.
pub(crate) struct Work {
    pub(crate) folder: PathBuf,
    clear: bool,
}

impl Work {
    pub(crate) fn new() -> Result<Self> {
        // A process may run several campaigns, and keep what each of them found.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("postkeep-crash-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self { folder, clear: true })
    }

    pub(crate) fn kept(mut self) -> PathBuf {
        self.clear = false;
        self.folder.clone()
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if self.clear {
            // What is left behind lies in the folder for temporary files.
            let _ = fs::remove_dir_all(Path::new(&self.folder));
        }
    }
}
