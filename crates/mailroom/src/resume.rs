//! Following from where one was, as far as that still can be: what changed since is told first, or it is said why not.
//!
//! It knows places and their age. Who may follow what was asked before, and how it is told is each edge's own business.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use store::{Position, RecentPage, Scope, Store};

use crate::cursor::{BadCursor, Cursor, Place};
use crate::error::Result;
use crate::feed::Watch;

/// Somebody who follows, and from where on.
pub struct Followed {
    /// What happens.
    pub watch: Watch,
    /// Everything behind this position is told.
    pub position: Position,
    /// Why nothing of what they missed is told: they have to list anew.
    pub gap: Option<Gap>,
}

/// Why what was missed cannot be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// The cursor is older than what is remembered of deletes.
    Expired,
    /// The cursor is of an earlier life of the store, or ahead of one that was put back.
    Restarted,
    /// The cursor is of all mailboxes and of another node, or of this one before it was started anew.
    Node,
}

/// Which cursors are of this life, and what one of another means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Life {
    /// That of its cursors.
    pub(crate) epoch: u64,
    /// Any other one's.
    pub(crate) other: Gap,
}

/// Where one who comes back goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    /// Behind this position.
    After(Position),
    /// From now on, with a gap before it or none.
    Now(Option<Gap>),
}

impl Start {
    /// Read the cursor of one who comes back. Whether the store has come so far is asked afterwards.
    pub(crate) fn of(
        since: Option<&str>,
        scope: &Scope,
        life: Life,
        now: Timestamp,
        window: Duration,
    ) -> std::result::Result<Self, BadCursor> {
        let Some(text) = since else { return Ok(Self::Now(None)) };
        let cursor = Cursor::decode(text)?;
        if cursor.place != Place::of(scope) {
            return Err(BadCursor::Foreign);
        }
        let window = SignedDuration::try_from(window).unwrap_or(SignedDuration::MAX);
        Ok(match () {
            () if cursor.epoch != life.epoch => Self::Now(Some(life.other)),
            () if now.duration_since(cursor.issued) >= window => Self::Now(Some(Gap::Expired)),
            () => Self::After(cursor.position),
        })
    }
}

/// Where a mailbox, or a store with one order of all of them, stands.
pub(crate) async fn stands(store: &dyn Store, scope: &Scope) -> Result<Position> {
    match scope {
        Scope::Mailbox(mailbox) => Ok(store.position(mailbox).await?),
        Scope::All => Ok(store.recent(RecentPage { before: None, limit: 1 }).await?.position),
    }
}

#[cfg(test)]
mod tests;
