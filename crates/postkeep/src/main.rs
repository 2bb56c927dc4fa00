//! Postkeep, the program.

mod announce;
mod assembly;
mod cli;
mod config;
mod limits;
mod log;
mod owner;
mod signals;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
