//! What leaves the server: events to a receiver that fails, hangs, is slow or is gone, while the server is killed. Every
//! event of mail that was acknowledged arrives, under the same id at every attempt and in order for each mailbox; and
//! the mail waits for none of it.

mod campaign;
mod full;
mod pace;
mod receiver;
mod releases;
mod senders;
mod site;
mod tally;

use std::path::Path;
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use crate::bench::Report;
use crate::load::cluster;
use crate::shell::{Parts, cargo, run};

pub(crate) use campaign::Plan;
use site::Engine;

/// `cargo xtask long leaving [events|full|pace|releases|bodies]`, and with `--engine` on one of them alone.
pub(crate) fn long(binary: &Path, wish: &Wish, parts: &mut Parts) -> Result<()> {
    let engines = Engine::named(wish.engine.as_deref())?;
    let wanted = |part: &str| wish.part.as_deref().is_none_or(|wish| wish == part);
    if let Some(part) =
        wish.part.as_deref().filter(|part| !["events", "full", "pace", "releases", "bodies"].contains(part))
    {
        bail!("`long leaving {part}` is unknown; there are events, full, pace, releases, bodies");
    }
    if wanted("events") {
        parts.part("leaving events", || events(binary, &engines, &Plan::long(wish.minutes), wish.write));
    }
    if wanted("full") {
        parts.part("leaving full", || engines.iter().try_for_each(|engine| full::run(binary, *engine)));
    }
    if wanted("pace") {
        parts.part("leaving pace", || pace::run(binary, &engines, wish.write));
    }
    if wanted("releases") {
        // What is in memory does not outlive its program.
        let durable = || engines.iter().filter(|engine| **engine != Engine::Memory);
        parts.part("leaving releases", || durable().try_for_each(|engine| releases::run(binary, *engine)));
    }
    if wanted("bodies") {
        parts.part("leaving bodies", bodies);
    }
    Ok(())
}

/// 100,000 bodies of what ends lines and of dots, sent on to a strict server: one message each, and the same bytes (T002).
fn bodies() -> Result<()> {
    let words = ["test", "--release", "--package", "postkeep-courier", "--lib", "--", "--ignored", "t002"];
    run(&mut cargo(words))
}

/// The short form that CI runs on what it built: less than a minute.
pub(crate) fn short(binary: &Path) -> Result<()> {
    ensure!(binary.is_file(), "there is no {}: the part `tests` builds it", binary.display());
    events(binary, &Engine::named(None)?, &Plan::short(), false)?;
    full::run(binary, Engine::Disk)
}

/// What to do.
pub(crate) struct Wish {
    pub(crate) part: Option<String>,
    pub(crate) engine: Option<String>,
    /// How long the receiver is gone.
    pub(crate) minutes: f64,
    pub(crate) write: bool,
}

/// The campaign on each engine, all at the same time: it is mostly waiting.
fn events(binary: &Path, engines: &[Engine], plan: &Plan, write: bool) -> Result<()> {
    let mut report = Report::within("docs/reliability.md", "long leaving events", &campaign::COLUMNS);
    let tallies = thread::scope(|scope| {
        let begun: Vec<_> = engines
            .iter()
            .filter(|engine| **engine != Engine::Jetstream || cluster::possible().unwrap_or(true))
            .map(|engine| (engine, scope.spawn(|| campaign::run(binary, *engine, plan))))
            .collect();
        begun.into_iter().map(|(engine, run)| (*engine, run.join().expect("no campaign panics"))).collect::<Vec<_>>()
    });
    let mut judged = Ok(());
    for (engine, outcome) in tallies {
        // All are told of, also when one of them went wrong.
        let outcome = outcome.inspect(|tally| {
            report.raw(format!("{}: {}", engine.name(), tally.raw()));
            report.row(tally.row(engine));
        });
        let outcome = outcome.and_then(|tally| tally.judged()).with_context(|| format!("on {}", engine.name()));
        judged = judged.and(outcome);
    }
    println!("\n{}", report.text());
    if write {
        report.write()?;
    }
    judged
}
