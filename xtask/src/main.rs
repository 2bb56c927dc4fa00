//! Everything a developer runs, as `cargo xtask …`. It knows the repository, not the product: the server is a binary
//! to start and to measure, never a library to call.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command for people: what it prints is what it is for")]

mod args;
#[cfg(target_os = "linux")]
mod bench;
mod ci;
#[cfg(target_os = "linux")]
mod crash;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod long;
mod shell;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::args::Args;

const HELP: &str = "\
cargo xtask ci                                    what CI runs: fmt, clippy, tidy, tests, a short crash campaign, docs
                                                  (and deny where installed)
cargo xtask tidy                                  the repository's own rules: walls, sizes, links, banned crates
cargo xtask bench [smtp|http|start|disk|all]      speed, beside a yardstick in the same run
    --rounds N --seconds N                        how often and how long (5 and 5)
    --write                                       put the table into docs/performance.md
    --bin PATH                                    a binary that is already built
cargo xtask crash                                 kill the server under load, again and again, and hold what is there
                                                  after it against what the clients were told
    --rounds N --seed S                           how often (100), and a seed to do the same again
    --set KEY=VALUE                               a setting of the server; store.engine=disk is set already
    --syscalls                                    instead: kill it at every write and sync, by strace
    --lying                                       instead: a build that acknowledges too early, which must be found out
    --bin PATH                                    a binary that is already built
cargo xtask long [fuzz|portable|hold|slow|crash|power|disk|bench|all]
                                                  what takes longer than CI has time for
    --seconds N                                   how long each fuzz target, and the slow clients, run (60)
    --rounds N --seed S                           how often the server is killed (1000), or loses its power (50; as root)
    --lying                                       power only: fake every sync, which must be found out
    --scale X --write                             disk only (growth, expiry, reopen, turnover, also by name): a smaller
                                                  size for trying out; put the tables into docs/
    --bin PATH                                    a binary that is already built
";

fn main() -> ExitCode {
    match run(Args::from_env()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut args: Args) -> Result<()> {
    match args.word().as_deref() {
        Some("ci") => ci::run(args),
        Some("tidy") => tidy::run(args),
        #[cfg(target_os = "linux")]
        Some("bench") => bench::run(args),
        #[cfg(target_os = "linux")]
        Some("crash") => crash::run(args),
        #[cfg(target_os = "linux")]
        Some("long") => long::run(args),
        #[cfg(not(target_os = "linux"))]
        Some("bench" | "crash" | "long") => bail!("this reads /proc and so runs on Linux only"),
        None | Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(())
        }
        Some(word) => bail!("there is no `{word}` here; what there is:\n{HELP}"),
    }
}
