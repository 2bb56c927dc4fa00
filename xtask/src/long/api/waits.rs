//! Ten thousand who wait, each for a mail of its own.

use anyhow::Result;

use super::{Part, memory, spread};
use crate::bench::Report;
use crate::load::figures::{Goal, grouped, megabytes};
use crate::load::tools::Figures;
use crate::long::measure::Measure;

const WAITERS: usize = 10_000;
const RATE: &str = "500";
const P99_GOAL: Goal = Goal::AtMost(50.0);
/// In MB, for all of them.
const MEMORY_GOAL: Goal = Goal::AtMost(262.1);
const COLUMNS: &[&str] = &[
    "engine",
    "waiters",
    "answered once",
    "mails/s",
    "250 to answer, p50 / p99 ms",
    "goal, p99",
    "at most, ms",
    "RSS before",
    "with them",
    "goal, growth in MB",
    "after",
];

pub(super) const PART: Part = Part { report: || Report::new("long waits", COLUMNS), tool: "wait-load", words, row };

fn words(measure: &Measure<'_>) -> Vec<String> {
    ["--waiters", &measure.scaled(WAITERS).to_string(), "--rate", RATE].map(String::from).to_vec()
}

fn row(report: &mut Report, engine: &str, measure: &Measure<'_>, told: &Figures) -> Result<()> {
    let [before, held, after] = ["before", "held", "after"].map(|when| memory(told, when));
    report.row(vec![
        engine.into(),
        grouped(measure.scaled(WAITERS) as f64),
        grouped(told.number("messages")?),
        grouped(told.number("rate")?),
        spread(told)?,
        P99_GOAL.judged(told.number("p99_ms")?),
        format!("{:.1}", told.number("max_ms")?),
        megabytes(before),
        megabytes(held),
        MEMORY_GOAL.judged((held.saturating_sub(before) as f64 / 1e5).round() / 10.0),
        megabytes(after),
    ]);
    Ok(())
}
