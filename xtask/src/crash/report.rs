//! What a campaign did and found, in figures.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::load::figures::percentile;

use super::checker::{Kind, Violation};
use super::fuse::Death;
use super::history::{History, Outcome, Scope, Target};

/// The sums over all rounds.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) rounds: usize,
    deaths: BTreeMap<Death, usize>,
    /// Kills while the server was starting, more than one in some rounds.
    starts_killed: usize,
    pub(super) acknowledged: usize,
    refused: usize,
    unasked: usize,
    unknown: usize,
    deleted: usize,
    purged: usize,
    removals_unknown: usize,
    looks: usize,
    compared: usize,
    /// From the start to the ready line, each after a death.
    pub(super) recoveries: Vec<Duration>,
    pub(super) violations: usize,
    /// Those of them that are about mail that is not there.
    pub(super) lost: usize,
    /// Rounds that broke a promise.
    pub(super) violated: usize,
}

impl Totals {
    /// One more round.
    pub(super) fn add(&mut self, death: Death, starts_killed: usize, history: &History, found: &[Violation]) {
        self.rounds += 1;
        *self.deaths.entry(death).or_default() += 1;
        self.starts_killed += starts_killed;
        for send in &history.sends {
            *match send.outcome {
                Outcome::Done => &mut self.acknowledged,
                Outcome::Unasked => &mut self.unasked,
                Outcome::Unknown => &mut self.unknown,
                Outcome::Refused(_) | Outcome::Absent => &mut self.refused,
            } += 1;
        }
        for removal in &history.removals {
            match (&removal.outcome, &removal.target) {
                (Outcome::Done, Target::Message(_)) => self.deleted += 1,
                (Outcome::Done, Target::All) => self.purged += 1,
                (Outcome::Unknown, _) => self.removals_unknown += 1,
                _ => {}
            }
        }
        self.looks += history.looks.len();
        self.compared += history.after.iter().filter(|look| look.scope != Scope::Mailbox).count();
        self.violations += found.len();
        self.lost += found.iter().filter(|violation| violation.kind == Kind::Lost).count();
        self.violated += usize::from(!found.is_empty());
    }

    /// In the middle of it, in a line.
    pub(super) fn progress(&self) -> String {
        let Self { rounds, acknowledged, violations, .. } = self;
        format!("{rounds} rounds, {acknowledged} messages acknowledged, {violations} violations")
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "rounds        {}", self.rounds)?;
        for (death, count) in &self.deaths {
            writeln!(out, "  {count:>6}      {death}")?;
        }
        if self.starts_killed > 0 {
            writeln!(out, "  {:>6}      starts that were killed", self.starts_killed)?;
        }
        writeln!(
            out,
            "messages      {} acknowledged, {} refused, {} never sent in full, {} without a reply",
            self.acknowledged, self.refused, self.unasked, self.unknown
        )?;
        let Self { deleted, purged, removals_unknown, .. } = self;
        writeln!(out, "removals      {deleted} deletes, {purged} purges, {removals_unknown} without an answer")?;
        writeln!(out, "reads         {} at work, {} sources compared after a restart", self.looks, self.compared)?;
        if !self.recoveries.is_empty() {
            let [p50, most] = [0.5, 1.0].map(|share| percentile(&mut self.recoveries.clone(), share));
            writeln!(out, "recovery      p50 {p50:.1?}, max {most:.1?}")?;
        }
        write!(out, "violations    {} in {} rounds", self.violations, self.violated)
    }
}
