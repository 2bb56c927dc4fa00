//! What tests ask of the server, in numbers: thousands who wait, whole tests side by side, thousands who watch. Each on
//! a server that keeps mail in memory, on one that keeps it on disk, and on three nodes over brokers.

mod events;
mod kit;
mod sites;
mod waits;

use std::path::Path;

use anyhow::{Result, bail, ensure};

use super::measure::Measure;
use crate::bench::Report;
use crate::load::process::allow_files;
use crate::load::tools::{Figures, build, figures, tool};
use crate::shell::Parts;
use sites::{ENGINES, Site};

/// The parts by name.
pub(super) const NAMES: [&str; 3] = ["waits", "kit", "events"];
/// Waiters and watchers hold a connection each, at both ends; each end is a process of its own.
const FILES: u64 = 16_000;
/// The scale of the short form.
const SHORT: f64 = 0.05;

/// One measurement: its table, the load generator, and how it is read.
struct Part {
    report: fn() -> Report,
    tool: &'static str,
    /// What is behind the addresses on the command line, at this scale.
    words: fn(&Measure<'_>) -> Vec<String>,
    row: fn(&mut Report, &str, &Measure<'_>, &Figures) -> Result<()>,
}

const PARTS: [Part; 3] = [waits::PART, kit::PART, events::PART];

/// `cargo xtask long waits|kit|events [--engine memory|disk|jetstream]`.
pub(super) fn run(
    measure: &Measure<'_>,
    engine: Option<&str>,
    wanted: &dyn Fn(&str) -> bool,
    parts: &mut Parts,
) -> Result<()> {
    if let Some(engine) = engine.filter(|engine| !ENGINES.contains(engine)) {
        bail!("--engine {engine} is unknown; there are {}", ENGINES.join(", "));
    }
    if !NAMES.iter().any(|name| wanted(name)) {
        return Ok(());
    }
    build()?;
    for (name, part) in NAMES.iter().zip(&PARTS).filter(|(name, _)| wanted(name)) {
        parts.part(name, || part.run(measure, engine));
    }
    Ok(())
}

/// The short form that CI runs on what it built: a few seconds each, in memory.
pub(crate) fn short(binary: &Path) -> Result<()> {
    ensure!(binary.is_file(), "there is no {}: the part `tests` builds it", binary.display());
    let measure = Measure::new(binary, SHORT, false)?;
    PARTS.iter().try_for_each(|part| part.run(&measure, Some(ENGINES[0])))
}

impl Part {
    fn run(&self, measure: &Measure<'_>, engine: Option<&str>) -> Result<()> {
        allow_files(FILES)?;
        let mut report = (self.report)();
        for name in ENGINES.iter().filter(|name| engine.is_none_or(|engine| engine == **name)) {
            let Some(site) = Site::start(name, measure.binary)? else { continue };
            let mut command = tool(self.tool, None)?;
            site.words(&mut command)?;
            let told = figures(command.args((self.words)(measure)))?;
            report.raw(format!("{name}: {}", told.json()));
            (self.row)(&mut report, name, measure, &told)?;
            site.stop()?;
            told.sound()?;
        }
        measure.done(&report)
    }
}

/// A size in bytes that was told among those of memory.
fn memory(told: &Figures, when: &str) -> u64 {
    told.json()["memory"][when].as_u64().unwrap_or(0)
}

/// How often something was done.
fn counted(told: &Figures, what: &str) -> u64 {
    told.json()["tally"]["counts"][what].as_u64().unwrap_or(0)
}

/// `0.31 / 1.20`.
fn spread(told: &Figures) -> Result<String> {
    Ok(format!("{:.2} / {:.2}", told.number("p50_ms")?, told.number("p99_ms")?))
}
