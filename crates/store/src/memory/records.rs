//! The registry: small records under a lock of their own.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, PoisonError, Weak};
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::Stream;
use jiff::Timestamp;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::queue::Queue;
use crate::readers::Readers;
use crate::registry::{Entry, Expect, Put, Registry, RegistryChange, RegistryChanges, Version};
use crate::sync::{Mutex, MutexGuard};

/// Charged for each record beside its key and value.
const RECORD_WEIGHT: u64 = 256;
/// Expired records freed by one put: more than it writes, so that they never gather.
const SWEEP: usize = 4;

/// The records of the memory engine.
pub(super) struct Records {
    state: Arc<Mutex<State>>,
    clock: Arc<dyn Clock>,
}

struct State {
    kinds: HashMap<String, BTreeMap<String, Entry>>,
    expiries: BTreeSet<(Timestamp, String, String)>,
    readers: Readers<String, RegistryChange>,
    bytes: u64,
    bytes_max: u64,
    last: u64,
}

impl Records {
    pub(super) fn new(bytes_max: u64, lag_max: usize, clock: Arc<dyn Clock>) -> Self {
        let (kinds, readers) = (HashMap::new(), Readers::new(lag_max));
        let state = State { kinds, expiries: BTreeSet::new(), readers, bytes: 0, bytes_max, last: 0 };
        Self { state: Arc::new(Mutex::new(state)), clock }
    }

    fn hold(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn get(&self, kind: &str, key: &str, now: Timestamp) -> Option<&Entry> {
        self.kinds.get(kind)?.get(key).filter(|entry| entry.is_live(now))
    }

    fn put(&mut self, kind: &str, entry: Entry, now: Timestamp) -> Result<Put> {
        self.sweep(now, SWEEP);
        let before = self.kinds.get(kind).and_then(|entries| entries.get(&entry.key)).map_or(0, weight);
        if self.bytes - before + weight(&entry) > self.bytes_max {
            self.sweep(now, usize::MAX);
            let before = self.kinds.get(kind).and_then(|entries| entries.get(&entry.key)).map_or(0, weight);
            if self.bytes - before + weight(&entry) > self.bytes_max {
                return Err(Error::Full { what: format!("records take the {} bytes kept for them", self.bytes_max) });
            }
        }
        self.remove(kind, &entry.key);
        self.last += 1;
        let entry = Entry { version: Version(self.last), ..entry };
        self.bytes += weight(&entry);
        if let Some(expires) = entry.expires {
            self.expiries.insert((expires, kind.to_owned(), entry.key.clone()));
        }
        self.tell(kind, &RegistryChange::Put(entry.clone()));
        self.kinds.entry(kind.to_owned()).or_default().insert(entry.key.clone(), entry);
        Ok(Put::Written(Version(self.last)))
    }

    fn remove(&mut self, kind: &str, key: &str) -> Option<Entry> {
        let entries = self.kinds.get_mut(kind)?;
        let entry = entries.remove(key)?;
        if entries.is_empty() {
            self.kinds.remove(kind);
        }
        self.bytes -= weight(&entry);
        if let Some(expires) = entry.expires {
            self.expiries.remove(&(expires, kind.to_owned(), key.to_owned()));
        }
        Some(entry)
    }

    /// Free expired records, at most so many.
    fn sweep(&mut self, now: Timestamp, budget: usize) {
        for _ in 0..budget {
            let Some((_, kind, key)) = self.expiries.first().filter(|(at, ..)| *at <= now).cloned() else { return };
            if self.remove(&kind, &key).is_none() {
                self.expiries.pop_first();
            }
        }
    }

    /// Records change seldom and their readers are few: they are woken under the lock.
    fn tell(&self, kind: &str, change: &RegistryChange) {
        for reader in self.readers.of(&kind.to_owned()) {
            reader.put(change.clone(), || RegistryChange::Lost);
            reader.wake();
        }
    }
}

#[async_trait]
impl Registry for Records {
    async fn get(&self, kind: &str, key: &str) -> Result<Option<Entry>> {
        let now = self.clock.now();
        Ok(self.hold().get(kind, key, now).cloned())
    }

    async fn list(&self, kind: &str) -> Result<Vec<Entry>> {
        let now = self.clock.now();
        let state = self.hold();
        let entries = state.kinds.get(kind).into_iter().flat_map(BTreeMap::values);
        Ok(entries.filter(|entry| entry.is_live(now)).cloned().collect())
    }

    async fn put(
        &self,
        kind: &str,
        key: &str,
        value: Bytes,
        expires: Option<Timestamp>,
        expect: Expect,
    ) -> Result<Put> {
        let now = self.clock.now();
        let entry = Entry { key: key.to_owned(), value, version: Version(0), expires };
        let mut state = self.hold();
        let there = state.get(kind, key, now);
        if !expect.is_met(there) {
            return Ok(Put::Conflict(there.cloned()));
        }
        state.put(kind, entry, now)
    }

    async fn delete(&self, kind: &str, key: &str, expect: Expect) -> Result<bool> {
        let now = self.clock.now();
        let mut state = self.hold();
        let there = state.get(kind, key, now);
        if there.is_none() || !expect.is_met(there) {
            return Ok(false);
        }
        state.remove(kind, key);
        state.tell(kind, &RegistryChange::Deleted(key.to_owned()));
        Ok(true)
    }

    async fn watch(&self, kind: &str) -> Result<RegistryChanges> {
        let queue = self.hold().readers.join(&kind.to_owned(), VecDeque::new());
        Ok(Box::pin(Watch { queue, kind: kind.to_owned(), state: Arc::downgrade(&self.state) }))
    }
}

/// One held stream.
struct Watch {
    queue: Arc<Queue<RegistryChange>>,
    kind: String,
    state: Weak<Mutex<State>>,
}

impl Stream for Watch {
    type Item = RegistryChange;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.queue.poll(context)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Some(state) = self.state.upgrade() else { return };
        state.lock().unwrap_or_else(PoisonError::into_inner).readers.leave(&self.kind, &self.queue);
    }
}

fn weight(entry: &Entry) -> u64 {
    RECORD_WEIGHT + (entry.key.len() + entry.value.len()) as u64
}
