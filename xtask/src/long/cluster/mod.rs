//! The cluster's engine with three brokers, and where it matters three nodes, on this machine: that no node ever shows a
//! mailbox as it was before a change, whether anything gets slower with a million mailboxes, and whether room and memory
//! stay what they are while mail comes and goes. Brokers are started for each measurement, and go with what they kept.

mod change;
mod fill;
mod mailboxes;
mod stale;
mod turnover;

use anyhow::{Result, ensure};

use super::measure::{Measure, Spread};
use crate::load::cluster::possible;
use crate::shell::Parts;

/// The measurements by name.
const NAMES: [&str; 3] = ["stale", "mailboxes", "turnover"];

/// What is asked for besides.
pub(super) struct Wish {
    /// One of the measurements; else all.
    pub(super) part: Option<String>,
    /// Of `mailboxes`: streams of summaries, and as many of bodies.
    pub(super) shards: usize,
}

impl Wish {
    /// Whether it can be fulfilled.
    pub(super) fn check(&self) -> Result<()> {
        let known = self.part.as_deref().is_none_or(|part| NAMES.contains(&part));
        ensure!(known, "`long cluster` has {}", NAMES.join(", "));
        ensure!(self.shards == 1 || self.part.as_deref() == Some("mailboxes"), "--shards belongs to `mailboxes`");
        Ok(())
    }
}

/// Run what is wished.
pub(super) fn run(measure: &Measure<'_>, wish: &Wish, parts: &mut Parts) -> Result<()> {
    if !possible()? {
        return Ok(());
    }
    let wanted = |part: &str| wish.part.as_deref().is_none_or(|wished| wished == part);
    if wanted("stale") {
        parts.part("stale", || stale::run(measure));
    }
    if wanted("mailboxes") {
        parts.part("mailboxes", || mailboxes::run(measure, wish.shards));
    }
    if wanted("turnover") {
        parts.part("turnover", || turnover::run(measure));
    }
    Ok(())
}
