//! Where a stream has come to in each mailbox that it follows, as one text: the id of its events.
//!
//! A stream of one mailbox has that mailbox's cursor for an id, which every other route takes as well; one of several has
//! their cursors with dots between, in the order of the names. It opens no cursor: the mailroom does.

use mailroom::{BadCursor, Mailroom, Position, Scope};

/// In no cursor.
const BETWEEN: char = '.';

/// What is followed, and up to where it was told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Places(Vec<(Scope, Position)>);

impl Places {
    pub(super) fn new(places: Vec<(Scope, Position)>) -> Self {
        Self(places)
    }

    /// Everything up to here was told.
    pub(super) fn reach(&mut self, place: usize, position: Position) {
        if let Some((_, reached)) = self.0.get_mut(place) {
            *reached = position;
        }
    }

    /// The places as one text, issued now.
    pub(super) fn text(&self, mailroom: &Mailroom) -> String {
        let mut text = String::with_capacity(36 * self.0.len());
        for (scope, position) in &self.0 {
            if !text.is_empty() {
                text.push(BETWEEN);
            }
            text.push_str(&mailroom.cursor(scope, *position));
        }
        text
    }
}

/// The cursor of each of so many places.
pub(super) fn split(text: &str, places: usize) -> Result<Vec<&str>, BadCursor> {
    // One more would be one too many, however many follow.
    let cursors: Vec<&str> = text.split(BETWEEN).take(places + 1).collect();
    if cursors.len() == places { Ok(cursors) } else { Err(BadCursor::Foreign) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_as_many_places_as_there_are() {
        assert_eq!(split("AQ", 1), Ok(vec!["AQ"]));
        assert_eq!(split("AQ.AR.AS", 3), Ok(vec!["AQ", "AR", "AS"]));
        for (text, places) in [("AQ", 2), ("AQ.AR", 1), ("", 2), (".".repeat(100_000).as_str(), 16)] {
            assert_eq!(split(text, places), Err(BadCursor::Foreign), "{places}");
        }
    }
}
