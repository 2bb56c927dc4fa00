//! Five thousand who watch, a thousand of them stalled, while ten thousand mails come.

use anyhow::Result;

use super::{Part, counted, memory, spread};
use crate::bench::Report;
use crate::load::figures::{Goal, grouped, megabytes};
use crate::load::tools::Figures;
use crate::long::measure::Measure;

const CLIENTS: usize = 5_000;
const STALLED: usize = 1_000;
/// Of those who read: who break off again and again.
const BREAKING: usize = 400;
const MESSAGES: usize = 10_000;
/// Each message is seen by the good ones of its mailbox, eight of them.
const MAILBOXES: usize = 500;
/// A stalled stream has ended so long after the last message: twice `events.write_max`.
const STALL_MAX: &str = "20";
/// All of them, at full size.
const STALLED_GOAL: Goal = Goal::AtLeast(STALLED as f64);
const COLUMNS: &[&str] = &[
    "engine",
    "clients, stalled",
    "mails",
    "events seen",
    "saw all",
    "came back; repeated; resync",
    "goal, stalled and ended",
    "250 to event, p50 / p99 ms",
    "RSS before",
    "with them",
    "after",
];

pub(super) const PART: Part = Part { report: || Report::new("long events", COLUMNS), tool: "events-load", words, row };

fn words(measure: &Measure<'_>) -> Vec<String> {
    let count = |name: &str, count| [format!("--{name}"), measure.scaled(count).to_string()];
    let counts = [("clients", CLIENTS), ("stalled", STALLED), ("breaking", BREAKING), ("messages", MESSAGES)];
    let mut words: Vec<_> = counts.into_iter().flat_map(|(name, number)| count(name, number)).collect();
    words.extend(count("mailboxes", MAILBOXES));
    // Trying out need not wait for the last of them.
    words.extend(["--stall-max".into(), if measure.scale < 1.0 { "1" } else { STALL_MAX }.into()]);
    words
}

fn row(report: &mut Report, engine: &str, measure: &Measure<'_>, told: &Figures) -> Result<()> {
    let count = |what: &str| grouped(counted(told, what) as f64);
    report.row(vec![
        engine.into(),
        format!("{}, {}", grouped(measure.scaled(CLIENTS) as f64), grouped(measure.scaled(STALLED) as f64)),
        grouped(measure.scaled(MESSAGES) as f64),
        count("events"),
        count("saw all"),
        format!("{}; {}; {}", count("came back"), count("repeated"), count("resync")),
        STALLED_GOAL.judged(told.number("stalled_ended")?),
        spread(told)?,
        megabytes(memory(told, "before")),
        megabytes(memory(told, "held")),
        megabytes(memory(told, "after")),
    ]);
    Ok(())
}
