//! Who watches what. A change finds its watchers by its mailbox, so a watcher costs nothing to changes elsewhere.
//!
//! It knows neither the engine nor where changes come from: the pump hands them in.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mail::Mailbox;
use store::{News, Position, Scope};
use tokio::task::AbortHandle;

use super::queue::Queue;
use crate::error::{Error, Result};

/// The watchers.
pub(super) struct Hub {
    table: Mutex<Table>,
    queue_max: usize,
    watchers_max: usize,
    dropped: AtomicU64,
}

/// One serving of the watchers, from the first that came to the last that left. A pump that was told to stop may still
/// have a change in hand; by its turn it is known to be an old one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Turn(u64);

#[derive(Default)]
struct Table {
    mailboxes: HashMap<Mailbox, Vec<Arc<Queue>>>,
    all: Vec<Arc<Queue>>,
    watchers: usize,
    /// How many turns began or ended: what an ended turn holds is never the number of a later one.
    turns: u64,
    pump: Option<AbortHandle>,
}

impl Hub {
    pub(super) fn new(queue_max: usize, watchers_max: usize) -> Self {
        Self { table: Mutex::default(), queue_max: queue_max.max(1), watchers_max, dropped: AtomicU64::new(0) }
    }

    /// One more watcher, with an empty queue.
    pub(super) fn enter(&self, scope: &Scope) -> Result<Arc<Queue>> {
        let mut table = self.lock();
        if table.watchers >= self.watchers_max {
            return Err(Error::TooMany { what: "watchers (feed.watchers_max)" });
        }
        let queue = Arc::new(Queue::default());
        table.watchers += 1;
        table.queues(scope).push(Arc::clone(&queue));
        Ok(queue)
    }

    /// One watcher less; the last one stops the pump.
    pub(super) fn leave(&self, scope: &Scope, queue: &Arc<Queue>) {
        let mut table = self.lock();
        if !table.remove(scope, queue) {
            return;
        }
        table.watchers -= 1;
        if table.watchers == 0 {
            table.stop();
        }
    }

    /// Nobody is served any more, and everybody is told.
    pub(super) fn close(&self) {
        let mut table = self.lock();
        table.stop();
        table.everybody().for_each(|queue| queue.close());
    }

    /// Whether a pump runs. Once a watcher has entered and seen this, it stays true until that watcher leaves.
    pub(super) fn is_served(&self) -> bool {
        self.lock().pump.is_some()
    }

    /// A new turn begins, and `spawn` starts its pump.
    pub(super) fn serve(&self, spawn: impl FnOnce(Turn) -> AbortHandle) {
        let mut table = self.lock();
        table.stop();
        table.pump = Some(spawn(Turn(table.turns)));
    }

    /// Put a change into the queues of those it concerns; false when the turn is over.
    pub(super) fn tell(&self, turn: Turn, news: News) -> bool {
        let table = self.lock();
        if turn != Turn(table.turns) {
            return false;
        }
        let change = match news {
            News::Change(change) => change,
            News::Lost { position } => {
                self.lose(&table, position);
                return true;
            }
        };
        let here = table.mailboxes.get(change.mailbox()).map_or(&[][..], Vec::as_slice);
        if here.is_empty() && table.all.is_empty() {
            return true;
        }
        let dropped = here.iter().chain(&table.all).filter(|queue| queue.push(change.clone(), self.queue_max)).count();
        self.dropped.fetch_add(dropped as u64, Ordering::Relaxed);
        true
    }

    /// How many events were dropped, over all watchers.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// How many mailboxes have a place in the table.
    #[cfg(test)]
    pub(super) fn mailboxes(&self) -> usize {
        self.lock().mailboxes.len()
    }

    fn lose(&self, table: &Table, position: Position) {
        let dropped: u64 = table.everybody().map(|queue| queue.lose(position)).sum();
        self.dropped.fetch_add(dropped, Ordering::Relaxed);
    }

    /// No holder waits or calls out, and a queue's own lock is only ever taken inside this one.
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn queues(&mut self, scope: &Scope) -> &mut Vec<Arc<Queue>> {
        match scope {
            Scope::Mailbox(mailbox) => self.mailboxes.entry(mailbox.clone()).or_default(),
            Scope::All => &mut self.all,
        }
    }

    fn everybody(&self) -> impl Iterator<Item = &Arc<Queue>> {
        self.mailboxes.values().flatten().chain(&self.all)
    }

    /// Whether the queue was there.
    fn remove(&mut self, scope: &Scope, queue: &Arc<Queue>) -> bool {
        let queues = self.queues(scope);
        let place = queues.iter().position(|known| Arc::ptr_eq(known, queue));
        if let Some(place) = place {
            queues.swap_remove(place);
        }
        if queues.is_empty()
            && let Scope::Mailbox(mailbox) = scope
        {
            self.mailboxes.remove(mailbox);
        }
        place.is_some()
    }

    fn stop(&mut self) {
        self.turns += 1;
        if let Some(pump) = self.pump.take() {
            pump.abort();
        }
    }
}
