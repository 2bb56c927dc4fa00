//! The fuzz targets, each for a while. A target that executed nothing has not been fuzzed, and fails.
//!
//! They are built with plain Cargo on the pinned toolchain: libFuzzer needs the coverage that LLVM can count, and no
//! sanitizer, as nothing here is unsafe.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use toml::Table;

use crate::load::figures::grouped;
use crate::shell::{built, cargo, output, root, run as must};

const EXECUTED: &str = "stat::number_of_executed_units:";

pub(super) fn run(time: Duration) -> Result<()> {
    let folder = root().join("fuzz");
    let targets = targets(&folder)?;
    let programs = build(&folder)?;
    for target in &targets {
        let count = fuzz(&folder, &programs.join(target), target, time)?;
        println!("{target}: {} executions in {time:?} without a finding", grouped(count as f64));
    }
    Ok(())
}

/// The names of the programs in the fuzz package.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).context("there is no fuzz package")?;
    let manifest: Table = manifest.parse()?;
    let programs = manifest.get("bin").and_then(|programs| programs.as_array()).map(Vec::as_slice).unwrap_or_default();
    let names = programs.iter().filter_map(|program| Some(program.get("name")?.as_str()?.to_owned()));
    let names: Vec<_> = names.collect();
    ensure!(!names.is_empty(), "the fuzz package has no targets");
    Ok(names)
}

/// Build all targets; the folder that they are in. The flags are those of `fuzz/.cargo/config.toml`, which Cargo finds
/// only from inside that folder, and only while no variable overrides it.
fn build(folder: &Path) -> Result<PathBuf> {
    let rustc = output(Command::new("rustc").arg("-vV").current_dir(root()))?;
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not name its host")?;
    let target = built()?.with_file_name("fuzz");
    let mut command = cargo(["build", "--release", "--bins"]);
    command.arg("--target-dir").arg(&target).current_dir(folder).env_remove("RUSTFLAGS");
    must(&mut command)?;
    Ok(target.join(host).join("release"))
}

/// Run one target; how often it was executed. What it learnt stays in `fuzz/corpus`, a finding in `fuzz/artifacts`.
fn fuzz(folder: &Path, program: &Path, target: &str, time: Duration) -> Result<u64> {
    let (corpus, found) = (folder.join("corpus").join(target), folder.join("artifacts").join(target));
    let seeds = folder.join("seeds").join(target);
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&found)?;
    let mut command = Command::new(program);
    command.args([&format!("-max_total_time={}", time.as_secs()), "-timeout=10", "-print_final_stats=1"]);
    command.arg(format!("-artifact_prefix={}/", found.display())).arg(&corpus);
    let words = folder.join("mail.dict");
    if words.is_file() {
        command.arg(format!("-dict={}", words.display()));
    }
    if seeds.is_dir() {
        command.arg(&seeds);
    }
    let ran = command.output().with_context(|| format!("cannot run {}", program.display()))?;
    let report = String::from_utf8_lossy(&ran.stderr);
    if !ran.status.success() {
        let lines: Vec<_> = report.lines().collect();
        bail!("{target} found something:\n{}", lines[lines.len().saturating_sub(40)..].join("\n"));
    }
    let count = executed(&report).unwrap_or(0);
    ensure!(count > 0, "{target} executed nothing:\n{report}");
    Ok(count)
}

fn executed(report: &str) -> Option<u64> {
    report.lines().find_map(|line| line.strip_prefix(EXECUTED))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_ran_nothing_is_told_from_one_that_ran() {
        assert_eq!(executed("Done\nstat::number_of_executed_units: 1234\nstat::peak_rss_mb: 40\n"), Some(1234));
        assert_eq!(executed("stat::number_of_executed_units: 0\n"), Some(0));
        assert_eq!(executed("unknown target\n"), None);
    }
}
