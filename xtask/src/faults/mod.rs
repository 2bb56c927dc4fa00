//! What can happen to a cluster, one thing after the other, each some times over under the load of the crash campaign and
//! judged by its checker: brokers and nodes killed, cut off, stopped, out of room, without power. Each is a scenario with a
//! name; what one needs and this machine has not is said, and the scenario passed over.

mod disks;
mod kills;
mod monitor;
mod net;
mod partitions;
mod proxy;
mod replies;
mod rolling;
mod scenarios;
mod streams;
mod table;

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};

use crate::crash::{Fault, Layout, Shape, Work, no_image, seed_of_now, trial};
use scenarios::{SCENARIOS, Scenario};
use table::{Row, Table};

const ROUNDS: u32 = 10;

/// What all scenarios have in common.
struct Stage {
    binary: PathBuf,
    rounds: u32,
    seed: u64,
}

/// What is asked for.
pub(crate) struct Wish {
    /// Scenarios by name; none: all.
    pub(crate) names: Vec<String>,
    pub(crate) rounds: Option<u32>,
    pub(crate) seed: Option<u64>,
    /// Whether the table goes into its book.
    pub(crate) write: bool,
    /// Instead: brokers that do not sync lose their power, which must be found out.
    pub(crate) lying: bool,
}

/// `cargo xtask long faults [NAME…] [--rounds N] [--seed S] [--write | --lying]`.
pub(crate) fn run(binary: PathBuf, wish: Wish) -> Result<()> {
    if brokers::nats_server()?.is_none() {
        println!("skipped: POSTKEEP_NATS_SERVER is `none`");
        return Ok(());
    }
    let known = |name: &String| SCENARIOS.iter().any(|scenario| scenario.name == *name);
    if let Some(name) = wish.names.iter().find(|name| !known(name)) {
        let names: Vec<_> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
        bail!("`long faults {name}` is unknown; there are {}", names.join(", "));
    }
    let (rounds, seed) = (wish.rounds.unwrap_or(ROUNDS), wish.seed.unwrap_or_else(seed_of_now));
    let stage = Stage { binary, rounds, seed };
    if wish.lying {
        return stage.unmask();
    }
    let wanted = |scenario: &&Scenario| wish.names.is_empty() || wish.names.iter().any(|name| name == scenario.name);
    let mut table = Table::new(seed);
    for scenario in SCENARIOS.iter().filter(wanted) {
        println!("\n-- {}: {}", scenario.name, scenario.what);
        match (scenario.missing)() {
            Some(why) => table.skipped(scenario.what, &why),
            None => match (scenario.play)(&stage) {
                Ok(row) => table.row(scenario.what, &row),
                Err(error) => table.failed(scenario.name, &error),
            },
        }
    }
    table.done(wish.write)
}

impl Stage {
    fn layout(&self) -> Layout {
        Shape::default().layout(self.binary.clone(), Vec::new())
    }

    /// Let a fault happen in this many rounds, and as many more where only one of several shows it.
    fn play<F: Fault>(&self, fault: F, of_each: u32) -> Result<Row> {
        let work = Work::new()?;
        let mut campaign = trial(fault, self.layout(), self.seed, &work);
        let lagging = campaign.rig.fault.reads() == crate::crash::Reads::Lagging;
        let ran = campaign.run(self.rounds * of_each, |_| false);
        let (totals, lights) = (std::mem::take(&mut campaign.totals), std::mem::take(&mut campaign.rig.lights));
        drop(campaign);
        println!("{totals}");
        if ran.is_err() || totals.violations > 0 {
            println!("data, histories and logs: {}", work.kept().display());
        }
        ran?;
        ensure!(totals.acknowledged >= totals.rounds, "hardly anything was acknowledged: this shows nothing");
        Ok(Row { totals, lights, lagging })
    }

    /// Brokers that answer before they sync, and lose their power together: mail must be found missing.
    fn unmask(&self) -> Result<()> {
        if let Some(why) = no_image() {
            println!("skipped: {why}");
            return Ok(());
        }
        println!("brokers that do not sync lose their power, seed {}", self.seed);
        let work = Work::new()?;
        let mut campaign = trial(disks::Power::new(brokers::Sync::Default), self.layout(), self.seed, &work);
        campaign.run(self.rounds, |totals| totals.violations > 0)?;
        let totals = std::mem::take(&mut campaign.totals);
        drop(campaign);
        println!("{totals}");
        ensure!(totals.violations > 0, "it was not found out: see {}", work.kept().display());
        println!("found out after {} rounds, as it must be", totals.rounds);
        Ok(())
    }
}
