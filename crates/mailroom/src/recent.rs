//! What lies in all mailboxes: the newest mail, the mailboxes, names like one. An engine that sees all of it answers for
//! itself. Where it sees one mailbox at a time, each node remembers what it delivered, in a ring, and the one that is asked
//! asks all: what comes of that is not complete, and says so. What has gone since is left out.
//!
//! Refusals are each node's own memory on every engine, and are gathered in the same way.

mod gather;
mod listing;
mod mailboxes;
mod ring;
mod similar;
#[cfg(test)]
mod tests;
mod wire;

use std::time::Duration;

pub use listing::{Mark, Recent, RecentAsk};
pub use mailboxes::Mailboxes;
pub use similar::Similar;

use mail::Mailbox;
use store::Store;

use crate::caller::Caller;
use crate::room::Mailroom;

pub(crate) use gather::Topic;
pub(crate) use ring::{Ring, items, named};
pub(crate) use wire::Line;

/// How much is remembered, and how long others are waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// `recent.ring_max`: so many deliveries of its own a node remembers, where the engine sees no more. Default 2000.
    pub ring_max: usize,
    /// `recent.gather_max`: so long the other nodes are waited for. Default 200 ms.
    pub gather_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { ring_max: 2_000, gather_max: Duration::from_millis(200) }
    }
}

/// Who was asked, and who answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nodes {
    /// Whether nothing can be missing.
    pub complete: bool,
    /// How many nodes were asked, this one among them.
    pub asked: usize,
    /// How many answered in time, this one among them.
    pub answered: usize,
}

impl Nodes {
    /// This one knows it all.
    pub const ALONE: Self = Self { complete: true, asked: 1, answered: 1 };
}

/// Where somebody who may looks into all mailboxes.
pub(crate) struct Desk<'a> {
    pub(crate) room: &'a Mailroom,
    pub(crate) store: &'a dyn Store,
    pub(crate) caller: &'a Caller,
}

impl Desk<'_> {
    /// Leave what the caller may list.
    fn sift<T>(&self, items: &mut Vec<T>, mailbox: impl Fn(&T) -> &Mailbox) {
        self.room.sift(self.caller, items, mailbox);
    }

    fn sees_whole(&self) -> bool {
        self.room.abilities().whole_view
    }
}
