//! Postkeep, the program.

mod announce;
mod assembly;
mod certificate;
mod cli;
mod config;
mod counters;
mod keys;
mod limits;
mod log;
mod owner;
mod relay;
#[cfg(feature = "script")]
mod script;
mod sendmail;
mod signals;
mod users;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
