//! Who reads the streams of an engine, each with a bounded queue of its own. For engines: whoever reads mail holds a
//! stream and sees none of this.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;

use crate::queue::Queue;

/// Readers by what they follow.
pub struct Readers<K, T> {
    queues: HashMap<K, Vec<Arc<Queue<T>>>>,
    lag_max: usize,
}

impl<K: Eq + Hash + Clone, T> Readers<K, T> {
    /// Nobody yet; for each reader up to `lag_max` items may wait.
    pub fn new(lag_max: usize) -> Self {
        Self { queues: HashMap::new(), lag_max }
    }

    /// Whether nobody reads anything.
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Those who follow this.
    pub fn of(&self, what: &K) -> &[Arc<Queue<T>>] {
        self.queues.get(what).map(Vec::as_slice).unwrap_or_default()
    }

    /// A new reader, who is first told these.
    pub fn join(&mut self, what: &K, begin: VecDeque<T>) -> Arc<Queue<T>> {
        let queue = Arc::new(Queue::new(begin, self.lag_max));
        self.queues.entry(what.clone()).or_default().push(Arc::clone(&queue));
        queue
    }

    /// A reader that is gone.
    pub fn leave(&mut self, what: &K, queue: &Arc<Queue<T>>) {
        let Some(queues) = self.queues.get_mut(what) else { return };
        queues.retain(|other| !Arc::ptr_eq(other, queue));
        if queues.is_empty() {
            self.queues.remove(what);
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.queues.values().map(Vec::len).sum()
    }
}

impl<K, T> Readers<K, T> {
    /// The engine is going: every stream ends, once its reader has what waits for it.
    pub fn close(&self) {
        for queue in self.queues.values().flatten() {
            queue.close();
            queue.wake();
        }
    }
}

impl<K, T> Drop for Readers<K, T> {
    fn drop(&mut self) {
        self.close();
    }
}
