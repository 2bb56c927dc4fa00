//! What changed, and where in the order of changes.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::Stream;
use mail::{Mailbox, MessageId, Summary};

/// A place in the order of changes of one mailbox (on a single node: of the store).
///
/// Messages, deletes and purges draw from one sequence: a message's id is the position of its delivery.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position(pub u64);

impl Position {
    /// Before everything.
    pub const START: Self = Self(0);
    /// Behind everything that is there.
    pub const END: Self = Self(u64::MAX);
}

impl From<MessageId> for Position {
    fn from(id: MessageId) -> Self {
        Self(id.number())
    }
}

/// Where a message was put.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filed {
    /// The mailbox.
    pub mailbox: Mailbox,
    /// Its name there.
    pub id: MessageId,
}

/// One mailbox or all of them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Scope {
    /// This one.
    Mailbox(Mailbox),
    /// Every one.
    All,
}

/// One thing that happened. Age and cap raise none: they follow from what is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// A message came.
    Delivered {
        /// Where.
        mailbox: Mailbox,
        /// What; its id is the position.
        summary: Arc<Summary>,
    },
    /// A message was deleted.
    Deleted {
        /// Where.
        mailbox: Mailbox,
        /// Which.
        id: MessageId,
        /// Place of the delete in the order of changes.
        position: Position,
    },
    /// A mailbox was emptied.
    Purged {
        /// Which.
        mailbox: Mailbox,
        /// Messages up to here went; never later than `position`.
        up_to: Position,
        /// Place of the purge in the order of changes.
        position: Position,
    },
}

/// What a stream of changes tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    /// What happened.
    Change(Change),
    /// Changes were lost on the way to here: list anew.
    Lost {
        /// The stream goes on behind this position.
        position: Position,
    },
}

/// A stream of changes.
pub type Changes = Pin<Box<dyn Stream<Item = News> + Send>>;

impl Change {
    /// The mailbox it happened in.
    pub fn mailbox(&self) -> &Mailbox {
        match self {
            Self::Delivered { mailbox, .. } | Self::Deleted { mailbox, .. } | Self::Purged { mailbox, .. } => mailbox,
        }
    }

    /// Its place in the order of changes.
    pub fn position(&self) -> Position {
        match self {
            Self::Delivered { summary, .. } => summary.id.into(),
            Self::Deleted { position, .. } | Self::Purged { position, .. } => *position,
        }
    }
}

impl News {
    /// Its place in the order of changes.
    pub fn position(&self) -> Position {
        match self {
            Self::Change(change) => change.position(),
            Self::Lost { position } => *position,
        }
    }
}

impl From<Change> for News {
    fn from(change: Change) -> Self {
        Self::Change(change)
    }
}
