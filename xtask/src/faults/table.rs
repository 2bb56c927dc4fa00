//! The table of faults: what happened, how often, what the clients saw, and what was broken.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::bench::Report;
use crate::crash::{Lights, Totals};
use crate::load::figures::percentile;

const COLUMNS: &[&str] = &[
    "fault",
    "rounds",
    "messages acknowledged / told to come later / without a reply",
    "violations",
    "reply, p50 / p99",
    "longest wait of a round, p50 / max",
    "`/readyz` red after, p50 / max",
    "green after, p50 / max",
];

/// A scenario that was played.
pub(super) struct Row {
    pub(super) totals: Totals,
    pub(super) lights: Vec<Lights>,
    /// Whether reads under it may be old.
    pub(super) lagging: bool,
}

/// All of them.
pub(super) struct Table {
    report: Report,
    failed: Vec<&'static str>,
    violations: usize,
    skipped: usize,
}

impl Table {
    pub(super) fn new(seed: u64) -> Self {
        let mut report = Report::within("docs/reliability.md", "long faults", COLUMNS);
        report.raw(format!("seed {seed}"));
        Self { report, failed: Vec::new(), violations: 0, skipped: 0 }
    }

    pub(super) fn row(&mut self, what: &str, row: &Row) {
        let Row { totals, lights, lagging } = row;
        let tally = totals.tally();
        let mark = if *lagging { " ¹" } else { "" };
        self.violations += totals.violations;
        let violations = match totals.violations {
            0 => "**0**".into(),
            some => format!("**{some}**"),
        };
        self.report.row(vec![
            format!("{what}{mark}"),
            totals.rounds.to_string(),
            format!("{} / {} / {}", totals.acknowledged, tally.put_off, totals.unknown),
            violations,
            format!("{} / {}", shown(tally.reply(0.5)), shown(tally.reply(0.99))),
            format!("{} / {}", shown(tally.stall(0.5)), shown(tally.stall(1.0))),
            spread(lights.iter().filter_map(|lights| lights.red).collect()),
            spread(lights.iter().filter_map(|lights| lights.green).collect()),
        ]);
        let stalls: Vec<_> = tally.stalls.iter().map(|stall| shown(*stall)).collect();
        self.report.raw(format!("{what}: longest wait of each round {}", stalls.join(", ")));
    }

    pub(super) fn skipped(&mut self, what: &str, why: &str) {
        self.skipped += 1;
        self.report.raw(format!("{what}: skipped: {why}"));
    }

    pub(super) fn failed(&mut self, name: &'static str, error: &anyhow::Error) {
        self.report.raw(format!("{name}: it could not be played to its end: {error:#}"));
        self.failed.push(name);
    }

    /// Show it, write it down if that is wanted, and fail if anything did.
    pub(super) fn done(self, write: bool) -> Result<()> {
        println!("\n{}", self.report.text());
        println!("¹ reads while it lasts may be old, and are not held against it");
        if !self.failed.is_empty() {
            bail!("not played to their end: {}", self.failed.join(", "));
        }
        if self.violations > 0 {
            bail!("promises were broken");
        }
        if write {
            self.report.write()?;
        }
        Ok(())
    }
}

fn spread(mut times: Vec<Duration>) -> String {
    if times.is_empty() {
        return "–".into();
    }
    let [p50, most] = [0.5, 1.0].map(|share| percentile(&mut times, share));
    format!("{} / {}", shown(p50), shown(most))
}

fn shown(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 1.0 => format!("{:.0} ms", seconds * 1e3),
        seconds => format!("{seconds:.1} s"),
    }
}
