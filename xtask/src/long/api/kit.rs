//! Ten thousand tests, a hundred at a time, each with an inbox of its own: none may flake.

use anyhow::Result;

use super::{Part, counted, spread};
use crate::bench::Report;
use crate::load::figures::{Goal, grouped};
use crate::load::tools::Figures;
use crate::long::measure::Measure;

const TESTS: usize = 10_000;
const PARALLEL: &str = "100";
const GOAL: Goal = Goal::AtMost(0.0);
const COLUMNS: &[&str] =
    &["engine", "tests", "at once", "passed", "flakes", "tests/s", "250 to code, p50 / p99 ms", "at most, ms"];

pub(super) const PART: Part = Part { report: || Report::new("long kit", COLUMNS), tool: "kit-load", words, row };

fn words(measure: &Measure<'_>) -> Vec<String> {
    ["--tests", &measure.scaled(TESTS).to_string(), "--parallel", PARALLEL].map(String::from).to_vec()
}

fn row(report: &mut Report, engine: &str, measure: &Measure<'_>, told: &Figures) -> Result<()> {
    report.row(vec![
        engine.into(),
        grouped(measure.scaled(TESTS) as f64),
        PARALLEL.into(),
        grouped(counted(told, "passed") as f64),
        GOAL.judged(told.number("errors")?),
        grouped(told.number("rate")?),
        spread(told)?,
        format!("{:.1}", told.number("max_ms")?),
    ]);
    Ok(())
}
