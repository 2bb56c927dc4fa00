//! The feed: what happens to mail, told to whoever watches. Bounded per watcher, never in delivery's way.
//!
//! Deliveries do not know it. Each mailbox that is watched has one task, which takes the engine's changes of that mailbox
//! and puts each into the queues of those who watch there; it comes with the first of them and goes with the last. All
//! mailboxes together are watched in the same way. Of what nobody watches the engine is never asked. Who reads slowly
//! loses the oldest of its own queue, and is told.

mod audience;
mod count;
mod hub;
mod outage;
mod pump;
mod queue;

use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use mail::Mailbox;
use store::{Change, Position, Scope};

use crate::access::{Permit, Vault};
use crate::error::Result;
use hub::{Hub, Seat};

/// What a watcher sees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// What happened, and its place in what is watched: on the engine's order of changes, or, over all mailboxes where
    /// that has none, on this node's count.
    Change(Change, Position),
    /// Events are missing here: list anew. What follows is complete again.
    Lagged {
        /// How many events of this watcher's queue were dropped; what the engine lost before is not counted.
        missed: u64,
        /// The last position that may be missing, as far as it is known.
        position: Position,
    },
}

type Sieve = Box<dyn Fn(&Mailbox) -> bool + Send + Sync>;

/// Somebody watching. Dropping it ends that.
pub struct Watch {
    seat: Seat,
    hub: Arc<Hub>,
    /// Whether what happens in a mailbox may be told; none: all of it.
    sieve: Option<Sieve>,
}

/// All who watch.
pub(crate) struct Feed {
    hub: Arc<Hub>,
    /// Tells this node's count of what happens in all mailboxes from any other's.
    life: Option<u64>,
}

impl Feed {
    /// A feed; where the engine has no order of all mailboxes, one that counts what happens there.
    pub(crate) fn new(queue_max: usize, watchers_max: usize, counts: bool) -> Self {
        let life = counts.then(|| RandomState::new().hash_one("node"));
        Self { hub: Arc::new(Hub::new(queue_max, watchers_max, counts)), life }
    }

    /// What every count of this node has in common; none: nothing is counted.
    pub(crate) fn life(&self) -> Option<u64> {
        self.life
    }

    /// Enter the queue first and see that the engine's stream runs second: whatever happens after this returned comes
    /// by that stream and finds the queue.
    pub(crate) async fn watch(&self, vault: &Vault, permit: Permit, scope: Scope, after: Position) -> Result<Watch> {
        let watch = Watch { seat: self.hub.enter(scope, after)?, hub: Arc::clone(&self.hub), sieve: None };
        let audience = &watch.seat.audience;
        audience.pump.get_or_try_init(|| pump::start(&self.hub, audience, vault, permit)).await?;
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
    /// The next event, in order per mailbox; none when the mailroom is gone, or the watcher may watch no more.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// The same, for those who wait for several things at once without a task for each.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            let Some(event) = ready!(self.seat.queue.poll_next(context)) else { return Poll::Ready(None) };
            let (Event::Change(change, _), Some(may)) = (&event, &self.sieve) else { return Poll::Ready(Some(event)) };
            match self.scope() {
                _ if may(change.mailbox()) => return Poll::Ready(Some(event)),
                Scope::Mailbox(_) => return Poll::Ready(None),
                Scope::All => {}
            }
        }
    }

    /// Asked before each event: whoever may not know it does not hear of it.
    pub(crate) fn sifted(mut self, may: impl Fn(&Mailbox) -> bool + Send + Sync + 'static) -> Self {
        self.sieve = Some(Box::new(may));
        self
    }

    /// Everything behind this place is told; none: behind the one that was asked for.
    pub(crate) fn begins(&self) -> Option<Position> {
        self.seat.begins
    }

    /// What is watched.
    pub fn scope(&self) -> &Scope {
        &self.seat.audience.scope
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.hub.leave(&self.seat);
    }
}

impl Event {
    /// Its place in the order of changes.
    pub fn position(&self) -> Position {
        match self {
            Self::Change(_, position) | Self::Lagged { position, .. } => *position,
        }
    }
}

#[cfg(test)]
mod tests;
