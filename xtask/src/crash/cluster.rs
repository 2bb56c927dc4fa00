//! The crash campaign on a cluster: how large it is, and the forms in which it is run.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::args::Args;

use super::blows::Blows;
use super::campaign::Campaign;
use super::clients::STEADY;
use super::fleet::Layout;
use super::letter::{Author, Lengths};
use super::trial::{Fault, Trial};
use super::{Work, clean, seed_of_now};

/// A round takes seconds, since an election does.
const ROUNDS_SHORT: u32 = 4;

/// How large a cluster is, and how it spreads mail.
pub(crate) struct Shape {
    nodes: usize,
    servers: usize,
    shards: usize,
    body_shards: usize,
}

impl Default for Shape {
    /// So many shards that most messages to several mailboxes cross them.
    fn default() -> Self {
        Self { nodes: 3, servers: 3, shards: 4, body_shards: 2 }
    }
}

impl Shape {
    pub(crate) fn new(args: &mut Args) -> Result<Self> {
        let usual = Self::default();
        let shards = args.value("--shards")?.unwrap_or(usual.shards);
        Ok(Self {
            nodes: args.value("--nodes")?.unwrap_or(usual.nodes),
            servers: args.value("--servers")?.unwrap_or(usual.servers),
            shards,
            body_shards: args.value("--body-shards")?.unwrap_or(usual.body_shards.min(shards)),
        })
    }

    pub(crate) fn layout(&self, binary: PathBuf, settings: Vec<String>) -> Layout {
        let Self { nodes, servers, shards, body_shards } = *self;
        Layout { binary, settings, nodes, servers, shards, body_shards }
    }
}

/// `cargo xtask crash --engine jetstream`.
pub(super) fn run(layout: Layout, seed: u64, rounds: u32) -> Result<()> {
    let Layout { nodes, servers, shards, body_shards, .. } = layout;
    println!("{rounds} rounds on {servers} brokers and {nodes} nodes, {shards} and {body_shards} shards, seed {seed}");
    let work = Work::new()?;
    let mut campaign = trial(Blows::new(seed), layout, seed, &work);
    campaign.run(rounds, |_| false)?;
    let totals = std::mem::take(&mut campaign.totals);
    drop(campaign);
    println!("\n{}", totals.stalls());
    clean(work, &totals)
}

/// A campaign in which this happens to a cluster.
pub(crate) fn trial<F: Fault>(fault: F, layout: Layout, seed: u64, work: &Work) -> Campaign<Trial<F>> {
    let author = Author { lengths: Lengths::SomeLarge, ..Author::new(seed) };
    Campaign::new(Trial::new(fault, layout, author, work.folder.clone()), STEADY, work.folder.clone())
}

/// The short form that CI runs, on three brokers and three nodes; passed over where `POSTKEEP_NATS_SERVER` is `none`.
pub(crate) fn short(binary: PathBuf) -> Result<()> {
    ensure!(binary.is_file(), "there is no {}: the part `tests` builds it", binary.display());
    if brokers::nats_server()?.is_none() {
        println!("skipped: POSTKEEP_NATS_SERVER is `none`");
        return Ok(());
    }
    run(Shape::default().layout(binary, Vec::new()), seed_of_now(), ROUNDS_SHORT)
}
