//! Lists and their pages. A page is named by a position, so arrivals shift nothing.

use std::sync::Arc;

use jiff::Timestamp;
use mail::{Mailbox, MessageId, Summary};

use crate::change::Position;

/// Which part of a mailbox to list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Only messages behind this position: later ones in order [`Order::Oldest`], earlier ones in [`Order::Newest`].
    /// None: from the respective end.
    pub after: Option<Position>,
    /// At most this many.
    pub limit: usize,
    /// Which end comes first.
    pub order: Order,
}

/// Which end of a mailbox comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// Arrival order.
    #[default]
    Oldest,
    /// Arrival order reversed.
    Newest,
}

/// Which part of all mail to list, newest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecentPage {
    /// Only messages before this position; none: from the newest.
    pub before: Option<Position>,
    /// At most this many.
    pub limit: usize,
}

/// Summaries, and where they end: of one mailbox, or each with its mailbox as [`Item`].
#[derive(Clone, Debug)]
pub struct Listing<T = Arc<Summary>> {
    /// The summaries in the order asked for.
    pub items: Vec<T>,
    /// Where the mailbox (or the store) stood when this list was made, as [`crate::Store::position`] says.
    pub position: Position,
    /// Whether the page ended before the messages did.
    pub more: bool,
    /// How many messages there are in all, where counting costs nothing.
    pub total: Option<u64>,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self { items: Vec::new(), position: Position::START, more: false, total: None }
    }
}

/// One summary in a list over mailboxes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// Where it lies.
    pub mailbox: Mailbox,
    /// What it is.
    pub summary: Arc<Summary>,
}

impl AsRef<Summary> for Item {
    fn as_ref(&self) -> &Summary {
        &self.summary
    }
}

/// Which mailboxes to list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MailboxPage<'a> {
    /// Only names that begin so.
    pub prefix: &'a str,
    /// In which order, and from where on.
    pub order: MailboxOrder<'a>,
    /// At most this many.
    pub limit: usize,
}

/// The order of a list of mailboxes, with the place where a page begins.
///
/// By newest mail the place is a message, not a name: the last mailbox of a page may get mail before the next page is
/// asked for, and its name would then stand at the front. A mailbox that gets mail between pages moves ahead of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MailboxOrder<'a> {
    /// By name, bytewise.
    Name {
        /// Only names behind this one.
        after: Option<&'a Mailbox>,
    },
    /// The one with the newest mail first.
    Newest {
        /// Only mailboxes whose newest message is older than this one.
        before: Option<MessageId>,
    },
}

impl Default for MailboxOrder<'_> {
    fn default() -> Self {
        Self::Name { after: None }
    }
}

/// What a mailbox holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MailboxState {
    /// Which.
    pub mailbox: Mailbox,
    /// How many messages.
    pub messages: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Its last change.
    pub position: Position,
    /// Its newest message.
    pub newest: MessageId,
    /// When that came.
    pub newest_at: Timestamp,
}
