//! When the engine's streams end, perhaps thousands at once: not all ask again together, and the log says once that the
//! engine does not answer.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

/// So many streams are opened again at once; the engine has others to serve too.
pub(super) const REOPENING_MAX: usize = 64;

/// What the pumps share.
pub(super) struct Outage {
    reopening: Semaphore,
    /// How many asked in vain and have no stream.
    silent: AtomicUsize,
}

/// A pump that asked in vain, until dropped.
pub(super) struct Silent<'a>(&'a Outage);

impl Default for Outage {
    fn default() -> Self {
        Self { reopening: Semaphore::new(REOPENING_MAX), silent: AtomicUsize::new(0) }
    }
}

impl Outage {
    /// Wait for one's turn to ask the engine.
    pub(super) async fn turn(&self) -> SemaphorePermit<'_> {
        self.reopening.acquire().await.expect("nobody closes it")
    }

    /// The engine gave no stream.
    pub(super) fn begin(&self, error: &store::Error) -> Silent<'_> {
        if self.silent.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!(%error, "the engine gives no changes; watchers see nothing until it does");
        }
        Silent(self)
    }
}

impl Drop for Silent<'_> {
    fn drop(&mut self) {
        if self.0.silent.fetch_sub(1, Ordering::Relaxed) == 1 {
            tracing::info!("no watcher waits any more for the engine to give changes");
        }
    }
}
