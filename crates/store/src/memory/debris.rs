//! What one step under the lock leaves behind: memory to be freed and readers to be woken once the lock is open again,
//! so that neither costs those who wait for it.

use std::collections::VecDeque;
use std::sync::Arc;

use mail::Summary;

use crate::change::News;
use crate::queue::Queue;

use super::kept::Parcel;

/// Collected under the lock, let go behind it.
#[derive(Default)]
pub(super) struct Debris {
    pub(super) parcels: Vec<Parcel>,
    pub(super) summaries: Vec<Arc<Summary>>,
    pub(super) backlogs: Vec<VecDeque<News>>,
    pub(super) readers: Vec<Arc<Queue<News>>>,
}

impl Debris {
    /// Wake the readers, then drop everything.
    pub(super) fn clear_away(self) {
        for reader in &self.readers {
            reader.wake();
        }
    }
}
