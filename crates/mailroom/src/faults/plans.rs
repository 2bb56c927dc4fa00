//! The plans that are in force, kept at hand on every node: read whole once, and followed from then on. Where there is
//! none, as nearly always, that costs one look at a number.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};

use jiff::Timestamp;
use store::Entry;
use tokio::sync::Mutex;

use super::plan::Plan;

/// The kind of their records.
pub(crate) const KIND: &str = "fault";

/// So many plans that were removed are remembered: what was written of them before may be told only afterwards.
const REMOVED_MAX: usize = 64;

/// A plan that is known here.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) plan: Plan,
    /// Those who count at this node do it one by one, so that only other nodes can be in the way.
    pub(crate) turn: Mutex<()>,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    /// In the order in which they were made.
    known: RwLock<Arc<Vec<Arc<Known>>>>,
    count: AtomicUsize,
    /// The last that were removed. No id comes twice.
    removed: StdMutex<VecDeque<String>>,
}

impl Plans {
    /// Those in force, in the order in which they are asked.
    pub(crate) fn in_force(&self) -> Option<Arc<Vec<Arc<Known>>>> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        Some(Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// How many are in force that a condition holds for.
    pub(crate) fn count(&self, now: Timestamp, condition: impl Fn(&Plan) -> bool) -> usize {
        let plans = self.in_force().unwrap_or_default();
        plans.iter().filter(|known| known.plan.is_live(now) && condition(&known.plan)).count()
    }

    /// A record was written.
    pub(crate) fn put(&self, entry: &Entry) {
        if self.removed().contains(&entry.key) {
            return;
        }
        let Some(plan) = understand(entry) else { return };
        self.change(|plans| {
            // One that is known already stays the one on which others wait for their turn.
            if !plans.iter().any(|known| known.plan.id == plan.id) {
                plans.push(Arc::new(Known { plan, turn: Mutex::default() }));
            }
        });
    }

    /// A record was deleted.
    pub(crate) fn remove(&self, id: &str) {
        let mut removed = self.removed();
        removed.push_back(id.to_owned());
        if removed.len() > REMOVED_MAX {
            removed.pop_front();
        }
        drop(removed);
        self.change(|plans| plans.retain(|known| known.plan.id != id));
    }

    /// These are all there are.
    pub(crate) fn replace(&self, entries: &[Entry]) {
        let is_there = |known: &Arc<Known>| entries.iter().any(|entry| entry.key == known.plan.id);
        self.change(|plans| plans.retain(is_there));
        entries.iter().for_each(|entry| self.put(entry));
    }

    /// Forget those whose time is over.
    pub(crate) fn forget(&self, now: Timestamp) {
        if self.in_force().is_some() {
            self.change(|plans| plans.retain(|known| known.plan.is_live(now)));
        }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<Known>>)) {
        let mut known = self.write();
        let mut plans = Vec::clone(&known);
        change(&mut plans);
        plans.sort_by(|one, other| (one.plan.created, &one.plan.id).cmp(&(other.plan.created, &other.plan.id)));
        self.count.store(plans.len(), Ordering::Release);
        *known = Arc::new(plans);
    }

    fn removed(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.removed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Arc<Vec<Arc<Known>>>> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn understand(entry: &Entry) -> Option<Plan> {
    let read = Plan::read(entry);
    if read.is_none() {
        tracing::warn!(id = ?entry.key, "a fault plan cannot be read; it was written by another version, and does nothing");
    }
    read
}
