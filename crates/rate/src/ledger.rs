//! Who has used how much of its quota: for each key the moment at which all of it will have come back. Bounded.
//!
//! It knows no quota; what the moments mean is governor's business.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::ShrinkableKeyedStateStore;

/// The moments, by key. A clone is the same ledger.
pub(crate) struct Ledger<K> {
    due: Arc<Mutex<HashMap<K, Nanos>>>,
    entries_max: usize,
    not_counted: metrics::Counter,
}

impl<K> Clone for Ledger<K> {
    fn clone(&self) -> Self {
        let (due, not_counted) = (Arc::clone(&self.due), self.not_counted.clone());
        Self { due, entries_max: self.entries_max, not_counted }
    }
}

impl<K> Ledger<K> {
    pub(crate) fn new(entries_max: usize) -> Self {
        let not_counted = metrics::counter!("postkeep_rates_not_counted_total");
        Self { due: Arc::default(), entries_max, not_counted }
    }

    /// When all of this key's quota will have come back; none: nothing is known of it.
    pub(crate) fn due(&self, key: &K) -> Option<Nanos>
    where
        K: Hash + Eq,
    {
        self.lock().get(key).copied()
    }

    /// For how many keys there is memory.
    #[cfg(test)]
    pub(crate) fn room(&self) -> usize {
        self.lock().capacity()
    }

    /// Each change is one insertion, so the map is sound after any panic.
    fn lock(&self) -> MutexGuard<'_, HashMap<K, Nanos>> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone> StateStore for Ledger<K> {
    type Key = K;

    fn measure_and_replace<T, F, E>(&self, key: &K, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut due = self.lock();
        if let Some(known) = due.get_mut(key) {
            let (measured, next) = measure(Some(*known))?;
            *known = next;
            return Ok(measured);
        }
        let (measured, next) = measure(None)?;
        if due.len() < self.entries_max {
            due.insert(key.clone(), next);
        } else {
            self.not_counted.increment(1);
        }
        Ok(measured)
    }
}

impl<K: Hash + Eq + Clone> ShrinkableKeyedStateStore<K> for Ledger<K> {
    fn retain_recent(&self, drop_below: Nanos) {
        let mut due = self.lock();
        due.retain(|_, moment| *moment > drop_below);
        // The room of a flood is given back, that of the ordinary coming and going is kept.
        if due.len() < due.capacity() / 4 {
            due.shrink_to_fit();
        }
    }

    fn len(&self) -> usize {
        self.lock().len()
    }

    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }
}
