//! The bounds of the disk engine.

use std::path::PathBuf;
use std::time::Duration;

/// Where the disk engine keeps mail, and how much.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The directory. It is made when it is not there; one process at a time has it.
    pub path: PathBuf,
    /// Bytes of the database that may be in use; beyond it new mail is refused. None: no such bound.
    pub bytes_max: Option<u64>,
    /// Bytes that stay free on the file system: with less, new mail is refused, while deletes go on.
    pub free_min: u64,
    /// Messages in one mailbox; beyond it the oldest goes. 0: no such bound.
    pub messages_max: usize,
    /// How long a message is kept after it was received. None: until something else takes it.
    pub retention: Option<Duration>,
    /// For so long a clock that jumped forward is not believed in matters of age; see `sundial.rs`.
    pub jump_hold: Duration,
    /// Deletes and purges remembered for streams that begin in the past, and how many changes such a stream may begin
    /// with; beyond it the stream begins with `Lost`.
    pub changes_max: usize,
    /// Changes that may wait for a slow reader of a stream; beyond it they are dropped and it is told `Lost`.
    pub lag_max: usize,
    /// Bytes of jobs that wait or are leased; beyond it what carries a job is refused.
    pub jobs_bytes_max: u64,
    /// Dead jobs kept to be looked at; beyond it the oldest goes.
    pub dead_jobs_max: usize,
    /// Bytes of records in the registry; beyond it a put is refused.
    pub registry_bytes_max: u64,
    /// Writes, and as many reads, that may wait for the disk; beyond it a call is told to try later.
    pub queue_max: usize,
    /// How long a write may wait until it is begun; beyond it the call is told to try later.
    pub wait_max: Duration,
    /// Threads that read.
    pub readers: usize,
    /// The index of texts.
    pub search: Search,
}

/// The bounds of the index of texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Search {
    /// Bytes of the index; beyond it the oldest mail is not in it. 0: there is none, and searches look at everything.
    pub index_max: u64,
    /// Bytes of each text of a message that are in it; what is longer is looked at.
    pub text_max: usize,
}

impl Default for Search {
    fn default() -> Self {
        Self { index_max: 10 << 30, text_max: 64 << 10 }
    }
}

impl Settings {
    /// The usual bounds, in this directory.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            bytes_max: None,
            free_min: 256 << 20,
            messages_max: 500,
            retention: Some(Duration::from_secs(7 * 24 * 60 * 60)),
            jump_hold: Duration::from_secs(24 * 60 * 60),
            changes_max: 10_000,
            lag_max: 1_024,
            jobs_bytes_max: 64 << 20,
            dead_jobs_max: 1_000,
            registry_bytes_max: 16 << 20,
            queue_max: 10_000,
            wait_max: Duration::from_secs(30),
            readers: 4,
            search: Search::default(),
        }
    }
}
