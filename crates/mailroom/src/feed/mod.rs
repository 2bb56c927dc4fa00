//! The feed: what happens to mail, told to whoever watches. Bounded per watcher, never in delivery's way.
//!
//! Deliveries do not know it: one task takes the engine's stream of changes while anybody watches, and puts each
//! change into the queues of those it concerns. Who reads slowly loses the oldest of its own queue, and is told.

mod hub;
mod pump;
mod queue;

use std::sync::Arc;

use store::{Change, Position, Scope};
use tokio::sync::Mutex;

use crate::access::{Permit, Vault};
use crate::error::Result;
use hub::Hub;
use queue::Queue;

/// What a watcher sees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// What happened.
    Change(Change),
    /// Events are missing here: list anew. What follows is complete again.
    Lagged {
        /// How many events of this watcher's queue were dropped; what the engine lost before is not counted.
        missed: u64,
        /// The last position that may be missing.
        position: Position,
    },
}

/// Somebody watching. Dropping it ends that.
pub struct Watch {
    scope: Scope,
    queue: Arc<Queue>,
    hub: Arc<Hub>,
}

/// All who watch, and the task that serves them.
pub(crate) struct Feed {
    hub: Arc<Hub>,
    /// Held by the one who starts the task, so that the others wait until it runs.
    starting: Mutex<()>,
}

impl Feed {
    pub(crate) fn new(queue_max: usize, watchers_max: usize) -> Self {
        Self { hub: Arc::new(Hub::new(queue_max, watchers_max)), starting: Mutex::new(()) }
    }

    /// Enter the queue first and see that the engine's stream runs second: whatever happens after this returned comes
    /// by that stream and finds the queue.
    pub(crate) async fn watch(&self, vault: &Vault, permit: Permit, scope: Scope) -> Result<Watch> {
        let queue = self.hub.enter(&scope)?;
        let watch = Watch { scope, queue, hub: Arc::clone(&self.hub) };
        if self.hub.is_served() {
            return Ok(watch);
        }
        let _starting = self.starting.lock().await;
        if !self.hub.is_served() {
            let changes = pump::open(vault, permit).await?;
            pump::start(&self.hub, vault.clone(), permit, changes);
        }
        Ok(watch)
    }

    /// How many events were dropped, over all watchers.
    pub(crate) fn dropped(&self) -> u64 {
        self.hub.dropped()
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.hub.close();
    }
}

impl Watch {
    /// The next event, in order per mailbox; none when the mailroom is gone.
    pub async fn next(&mut self) -> Option<Event> {
        self.queue.next().await
    }

    /// What is watched.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.hub.leave(&self.scope, &self.queue);
    }
}

impl Event {
    /// Its place in the order of changes.
    pub fn position(&self) -> Position {
        match self {
            Self::Change(change) => change.position(),
            Self::Lagged { position, .. } => *position,
        }
    }
}

#[cfg(test)]
mod tests;
