//! What the owner of a store can do with it beside serving it: check it, back it up, export from it, import into it.
//!
//! Here is what a person sees of that: progress, faults, sums, exit codes; and the formats in which mail leaves and
//! comes. What a store looks like inside is its engine's business, and how to open one the assembly's.

mod backup;
mod check;
mod export;
mod files;
mod import;
mod letter;
mod maildir;
mod mbox;
mod name;
mod progress;
mod server;
mod tar;
mod tree;
mod words;

use std::path::PathBuf;

pub(crate) use backup::backup;
pub(crate) use check::check;
pub(crate) use export::{Export, export};
pub(crate) use import::{Import, To, import};

use crate::config::{Config, Engine};

/// How mail is written outside of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// A file for each mailbox.
    Mbox,
    /// A directory for each mailbox.
    Maildir,
    /// One tar of `.eml` files.
    Eml,
}

/// How a verb ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// Everything is as it should be.
    Well,
    /// Something was damaged, or could not be taken; it was named.
    Short,
}

/// What was asked makes no sense, and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Misuse(String);

const NO_DISK: &str = "\
    the configuration keeps no mail on a disk: give --config or --set store.engine=disk as to serve, or name the store's \
    directory with --path";
const BROKERS: &str = "\
    the configuration keeps mail on brokers, not in a directory: import through a running server with --server \
    http://127.0.0.1:8025, and check and back up the brokers with their own tools, as docs/scale.md tells; for a store on a \
    disk name its directory with --path";

/// The directory of the store that is meant, or what to do to say which.
pub(crate) fn directory(config: &Config, given: Option<PathBuf>) -> Result<PathBuf, &'static str> {
    given.or_else(|| config.store.directory()).ok_or(match config.store.engine {
        Engine::Jetstream(_) => BROKERS,
        Engine::Memory(_) | Engine::Disk(_) => NO_DISK,
    })
}
