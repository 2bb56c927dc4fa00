//! Real mail programs send to and read from the real server: the same forty letters over every transport, and every octet
//! compared. The result is a matrix, `docs/interop.md`, that only a whole run writes.

mod compare;
mod corpus;
mod matrix;
mod page;
mod plan;
mod program;
mod readers;
mod relays;
mod senders;
mod site;
pub(crate) mod tools;
mod trial;
mod wire;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::args::Args;
use crate::load::server::binary;

use plan::Plan;
use program::Program;

/// A kind of program, as its part of the matrix is called.
struct Kind {
    title: &'static str,
    programs: Vec<Box<dyn Program>>,
}

fn kinds() -> Vec<Kind> {
    vec![
        Kind { title: "Sending", programs: senders::all() },
        Kind { title: "Relaying", programs: relays::all() },
        Kind { title: "Reading", programs: readers::all() },
    ]
}

/// `cargo xtask interop [--only NAME,…] [--short] [--seed N] [--install] [--bin PATH]`
pub(crate) fn run(mut args: Args) -> Result<()> {
    let (install, short) = (args.flag("--install"), args.flag("--short"));
    let only: Option<String> = args.value("--only")?;
    let (seed, bin) = (args.value("--seed")?, args.value::<PathBuf>("--bin")?);
    args.finish()?;
    let bin = || binary(bin);
    if only.as_deref() == Some(relays::retries::NAME) {
        return relays::retries::run(&bin()?);
    }
    let kinds = chosen(only.as_deref())?;
    if install {
        return self::install(&kinds);
    }
    let binary = bin()?;
    let plan = Plan::new(short, seed);
    let begin = Instant::now();
    let matrix = trial::run(&binary, &kinds, &plan)?;
    if only.is_none() {
        relays::retries::run(&binary)?;
    }
    println!("\n{}\n{:.0} s", matrix.summary(), begin.elapsed().as_secs_f64());
    let told = if short || only.is_some() { page::compare(&matrix) } else { page::write(&matrix) };
    matrix.verdict().and(told)
}

/// All programs, or those of these names.
fn chosen(only: Option<&str>) -> Result<Vec<Kind>> {
    let mut kinds = kinds();
    let Some(only) = only else { return Ok(kinds) };
    let names: Vec<_> = only.split(',').collect();
    let known: Vec<_> = kinds.iter().flat_map(|kind| &kind.programs).map(|program| program.name()).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        bail!("there is no program `{unknown}`; there are {}", known.join(", "));
    }
    for kind in &mut kinds {
        kind.programs.retain(|program| names.contains(&program.name()));
    }
    Ok(kinds)
}

/// Install what is missing. What cannot be installed is told, and is no failure: its row of the matrix gives the reason.
fn install(kinds: &[Kind]) -> Result<()> {
    for program in kinds.iter().flat_map(|kind| &kind.programs) {
        if let Ok(version) = program.version() {
            println!("{:<16} {version}", program.name());
            continue;
        }
        let outcome = program.install().and_then(|()| program.version().map_err(anyhow::Error::msg));
        match outcome {
            Ok(version) => println!("{:<16} {version} (installed)", program.name()),
            Err(error) => println!("{:<16} cannot be installed: {error:#}", program.name()),
        }
    }
    Ok(())
}
