//! What this node delivered, the newest of it. Kept only where the engine cannot tell.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::{Delivery, Filed, Item};

/// The ring. With room for none it keeps nothing and costs nothing.
pub(crate) struct Ring {
    items: Mutex<VecDeque<Item>>,
    ring_max: usize,
}

impl Ring {
    pub(crate) fn new(ring_max: usize) -> Self {
        Self { items: Mutex::default(), ring_max }
    }

    /// What is to be remembered of a delivery once it is kept.
    pub(crate) fn note(&self, delivery: &Delivery) -> Vec<Item> {
        if self.ring_max == 0 {
            return Vec::new();
        }
        items(delivery)
    }

    /// It is kept, there and under these names.
    pub(crate) fn keep(&self, noted: Vec<Item>, filed: &[Filed]) {
        if noted.is_empty() {
            return;
        }
        let mut items = self.lock();
        for item in named(noted, filed) {
            if items.len() == self.ring_max {
                items.pop_front();
            }
            items.push_back(item);
        }
    }

    /// All of it, newest first.
    pub(crate) fn items(&self) -> Vec<Item> {
        self.lock().iter().rev().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Item>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What lists will show of a delivery, without ids.
pub(crate) fn items(delivery: &Delivery) -> Vec<Item> {
    let item = |(mailbox, summary)| Item { mailbox, summary: Arc::new(summary) };
    delivery.clone().sort().copies.into_iter().map(item).collect()
}

/// The same under the names that the engine gave them.
pub(crate) fn named(items: Vec<Item>, filed: &[Filed]) -> impl Iterator<Item = Item> {
    items.into_iter().filter_map(|mut item| {
        let id = filed.iter().find(|filed| filed.mailbox == item.mailbox)?.id;
        Arc::make_mut(&mut item.summary).id = id;
        Some(item)
    })
}
