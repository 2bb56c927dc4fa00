//! An order of what happens in all mailboxes, for an engine that has none: each node counts what it was told, and remembers
//! the last of it for those who come back. The count means nothing on another node, nor after a restart.

use std::collections::VecDeque;

use store::{Change, Position};

/// The last of what was told, each with its number.
#[derive(Debug)]
pub(super) struct Count {
    last: Position,
    /// Everything behind this is remembered.
    floor: Position,
    told: VecDeque<(Change, Position)>,
}

impl Count {
    /// Nothing was told yet; the first one is numbered behind this.
    pub(super) fn behind(last: Position) -> Self {
        Self { last, floor: last, told: VecDeque::new() }
    }

    pub(super) fn last(&self) -> Position {
        self.last
    }

    /// One more, of which so many are remembered; its number.
    pub(super) fn push(&mut self, change: &Change, told_max: usize) -> Position {
        self.last.0 += 1;
        self.told.push_back((change.clone(), self.last));
        if self.told.len() > told_max {
            self.floor = self.told.pop_front().map_or(self.floor, |(_, number)| number);
        }
        self.last
    }

    /// Something is missing here: nobody goes on from before it.
    pub(super) fn lose(&mut self) -> Position {
        self.last.0 += 1;
        *self = Self::behind(self.last);
        self.last
    }

    /// What was told behind a number, unless that is not remembered.
    pub(super) fn after(&self, position: Position) -> Option<impl Iterator<Item = &(Change, Position)>> {
        let is_known = (self.floor..=self.last).contains(&position);
        is_known.then(|| self.told.iter().filter(move |(_, number)| *number > position))
    }
}
