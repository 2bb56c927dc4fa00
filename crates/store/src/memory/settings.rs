//! The bounds of the memory engine. Each is a promise about memory, whatever clients do.

use std::time::Duration;

/// How much the memory engine keeps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Bytes of mail in all: bodies once each, and for every copy what its summary and its place in the indexes take.
    /// When it is met, the largest mailbox loses its oldest message, see [`crate::memory`]. One message over it is refused.
    pub bytes_max: u64,
    /// Messages in one mailbox; beyond it the oldest goes. 0: no such bound.
    pub messages_max: usize,
    /// How long a message is kept after it was received. None: until something else takes it.
    pub retention: Option<Duration>,
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
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            bytes_max: 512 << 20,
            messages_max: 500,
            retention: Some(Duration::from_secs(7 * 24 * 60 * 60)),
            changes_max: 10_000,
            lag_max: 1_024,
            jobs_bytes_max: 64 << 20,
            dead_jobs_max: 1_000,
            registry_bytes_max: 16 << 20,
        }
    }
}
