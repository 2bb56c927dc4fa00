//! What a campaign did and found, in figures.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::load::figures::percentile;

use super::checker::{Kind, Violation};
use super::history::{History, Outcome, Scope, Target};
use super::rig::Recovered;

/// The sums over all rounds.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) rounds: usize,
    kinds: BTreeMap<String, Tally>,
    /// Kills while the server was starting, more than one in some rounds.
    starts_killed: usize,
    pub(crate) acknowledged: usize,
    refused: usize,
    unasked: usize,
    pub(crate) unknown: usize,
    deleted: usize,
    purged: usize,
    removals_unknown: usize,
    looks: usize,
    compared: usize,
    /// From the start to the ready line, each after a death.
    recoveries: Vec<Duration>,
    pub(crate) violations: usize,
    /// Those of them that are about mail that is not there.
    pub(super) lost: usize,
    /// Rounds that broke a promise.
    pub(super) violated: usize,
}

/// The rounds in which the same happened.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    pub(crate) rounds: usize,
    /// Messages that were refused for the time being.
    pub(crate) put_off: usize,
    /// From the final dot to a reply, of all messages that got one.
    pub(crate) replies: Vec<Duration>,
    /// Of each round, the longest time that a sender waited behind the dot, for a reply or for the end.
    pub(crate) stalls: Vec<Duration>,
}

impl Tally {
    fn add(&mut self, history: &History) {
        self.rounds += 1;
        let later = |outcome: &Outcome| matches!(outcome, Outcome::Refused(reply) if reply.starts_with('4'));
        self.put_off += history.sends.iter().filter(|send| later(&send.outcome)).count();
        let waits = history.sends.iter().filter_map(|send| Some((send.waited?, &send.outcome)));
        self.stalls.extend(waits.clone().map(|(waited, _)| waited).max());
        self.replies.extend(waits.filter(|(_, outcome)| **outcome != Outcome::Unknown).map(|(waited, _)| waited));
    }

    pub(crate) fn absorb(&mut self, other: &Self) {
        self.rounds += other.rounds;
        self.put_off += other.put_off;
        self.replies.extend(&other.replies);
        self.stalls.extend(&other.stalls);
    }

    /// The time that this share of the replies stayed within.
    pub(crate) fn reply(&self, share: f64) -> Duration {
        of(&self.replies, share)
    }

    /// The same of the longest waits.
    pub(crate) fn stall(&self, share: f64) -> Duration {
        of(&self.stalls, share)
    }
}

fn of(times: &[Duration], share: f64) -> Duration {
    if times.is_empty() { Duration::ZERO } else { percentile(&mut times.to_vec(), share) }
}

impl Totals {
    /// One more round.
    pub(super) fn add(&mut self, kind: &str, recovered: &Recovered, history: &History, found: &[Violation]) {
        self.rounds += 1;
        self.kinds.entry(kind.to_owned()).or_default().add(history);
        self.starts_killed += recovered.starts_killed;
        self.recoveries.extend(&recovered.starts);
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

    /// All rounds as if the same had happened in each.
    pub(crate) fn tally(&self) -> Tally {
        let mut all = Tally::default();
        self.kinds.values().for_each(|tally| all.absorb(tally));
        all
    }

    /// In the middle of it, in a line.
    pub(super) fn progress(&self) -> String {
        let Self { rounds, acknowledged, violations, .. } = self;
        format!("{rounds} rounds, {acknowledged} messages acknowledged, {violations} violations")
    }

    /// How long senders waited, by what happened.
    pub(super) fn stalls(&self) -> String {
        let title = ["what happened", "rounds", "reply p50", "p99", "longest of a round, p50", "max"];
        let cells = |tally: &Tally| [tally.reply(0.5), tally.reply(0.99), tally.stall(0.5), tally.stall(1.0)];
        let mut lines = vec![title.map(String::from).join(" | ")];
        for (kind, tally) in &self.kinds {
            let times = cells(tally).map(|time| format!("{time:.1?}")).join(" | ");
            lines.push(format!("{kind} | {} | {times}", tally.rounds));
        }
        lines.join("\n")
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "rounds        {}", self.rounds)?;
        for (kind, tally) in &self.kinds {
            writeln!(out, "  {:>6}      {kind}", tally.rounds)?;
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
