//! From what the feed says to what a stream tells: pure, time is an argument.
//!
//! It knows how far was told, what a gap means, and when it is too much; not how a line looks.

use std::sync::Arc;
use std::time::Duration;

use mailroom::{Acted, Change, Event, Gap, Mailroom, Refusal, Refused};
use tokio::time::Instant;

use super::places::Places;

const SECOND: Duration = Duration::from_secs(1);

/// Something to tell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Line {
    /// What happened.
    Change(Change),
    /// Something is missing here: list anew.
    Resync(Reason),
    /// So many changes were left out.
    Skipped(u64),
    /// Something was refused.
    Refused(Arc<Refusal>),
    /// A fault on demand did something else.
    Acted(Arc<Acted>),
}

impl From<Refused> for Line {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::One(refusal) => Self::Refused(refusal),
            Refused::Acted(acted) => Self::Acted(acted),
            Refused::Missed(count) => Self::Skipped(count),
        }
    }
}

/// Why a client has to list anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reason {
    /// It read too slowly, or the engine lost something on the way.
    Lagged,
    /// What it missed is not remembered any more.
    Expired,
    /// The store has begun anew.
    Restarted,
    /// Only the node that it came from could tell.
    Node,
}

/// What a stream has told.
#[derive(Debug)]
pub(super) struct Story {
    places: Places,
    /// Of each place, whether it is of one who came back and was not told anything yet.
    returning: Vec<bool>,
    thin: Option<Thin>,
}

/// At most so many in each second.
#[derive(Debug)]
pub(super) struct Thin {
    rate_max: u32,
    since: Instant,
    told: u32,
    skipped: u64,
}

impl Story {
    /// A stream at these places, in some of which somebody came back.
    pub(super) fn new(places: Places, returning: Vec<bool>, thin: Option<Thin>) -> Self {
        Self { places, returning, thin }
    }

    /// Something happened in one of the places. It may be nothing to tell.
    pub(super) fn hear(&mut self, place: usize, event: Event, now: Instant) -> Option<Line> {
        self.places.reach(place, event.position());
        let returning = self.returning.get_mut(place).is_some_and(std::mem::take);
        match event {
            Event::Change(change, _) => {
                self.thin.as_mut().is_none_or(|thin| thin.admits(now)).then_some(Line::Change(change))
            }
            // The engine did not remember as much as the cursor's age promised.
            Event::Lagged { missed: 0, .. } if returning => Some(Line::Resync(Reason::Expired)),
            Event::Lagged { .. } => Some(Line::Resync(Reason::Lagged)),
        }
    }

    /// How many were left out, once the second in which they were is over.
    pub(super) fn skipped(&mut self, now: Instant) -> Option<Line> {
        self.thin.as_mut()?.skipped(now).map(Line::Skipped)
    }

    /// When to ask for that.
    pub(super) fn skipped_at(&self) -> Option<Instant> {
        self.thin.as_ref().filter(|thin| thin.skipped > 0).map(|thin| thin.since + SECOND)
    }

    /// The id of what is told now.
    pub(super) fn id(&self, mailroom: &Mailroom) -> String {
        self.places.text(mailroom)
    }
}

impl Thin {
    pub(super) fn new(rate_max: u32, now: Instant) -> Self {
        Self { rate_max, since: now, told: 0, skipped: 0 }
    }

    fn admits(&mut self, now: Instant) -> bool {
        // What was left out is told of before anything else is told.
        if self.skipped == 0 && now >= self.since + SECOND {
            (self.since, self.told) = (now, 0);
        }
        let admits = self.skipped == 0 && self.told < self.rate_max;
        if admits {
            self.told += 1;
        } else {
            self.skipped += 1;
        }
        admits
    }

    fn skipped(&mut self, now: Instant) -> Option<u64> {
        if self.skipped == 0 || now < self.since + SECOND {
            return None;
        }
        (self.since, self.told) = (now, 0);
        Some(std::mem::take(&mut self.skipped))
    }
}

impl Reason {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Lagged => "lagged",
            Self::Expired => "expired",
            Self::Restarted => "restarted",
            Self::Node => "node",
        }
    }
}

impl From<Gap> for Reason {
    fn from(gap: Gap) -> Self {
        match gap {
            Gap::Expired => Self::Expired,
            Gap::Restarted => Self::Restarted,
            Gap::Node => Self::Node,
        }
    }
}

#[cfg(test)]
mod tests {
    use mail::{Mailbox, MessageId};
    use mailroom::{Position, Scope};

    use super::*;

    fn gone(position: u64) -> Event {
        let (id, position) = (MessageId::new(1), Position(position));
        Event::Change(Change::Deleted { mailbox: Mailbox::from_canonical("a"), id, position }, position)
    }

    fn lagged(missed: u64) -> Event {
        Event::Lagged { missed, position: Position(9) }
    }

    fn story(returning: bool, thin: Option<Thin>) -> Story {
        let scope = || Scope::Mailbox(Mailbox::from_canonical("a"));
        let places = Places::new(vec![(scope(), Position(1)), (scope(), Position(2))]);
        Story::new(places, vec![returning, false], thin)
    }

    #[test]
    fn a_gap_is_named_by_what_it_means() {
        let now = Instant::now();
        let resync = |reason| Some(Line::Resync(reason));
        let rows: [(bool, &[Event], Option<Line>); 5] = [
            (false, &[lagged(0)], resync(Reason::Lagged)),
            (true, &[lagged(0)], resync(Reason::Expired)),
            // Its queue ran over while it was told what it had missed.
            (true, &[lagged(3)], resync(Reason::Lagged)),
            (true, &[gone(5), lagged(0)], resync(Reason::Lagged)),
            (true, &[lagged(0), lagged(0)], resync(Reason::Lagged)),
        ];
        for (returning, events, expected) in rows {
            let mut story = story(returning, None);
            let last = events.iter().map(|event| story.hear(0, event.clone(), now)).last();
            assert_eq!(last, Some(expected), "{returning} {events:?}");
        }
    }

    #[test]
    fn each_place_moves_by_its_own_changes() {
        let mut told = story(false, None);
        assert!(told.hear(1, gone(7), Instant::now()).is_some());
        assert!(told.hear(0, gone(8), Instant::now()).is_some());
        let mut expected = story(false, None);
        expected.places.reach(0, Position(8));
        expected.places.reach(1, Position(7));
        assert_eq!(told.places, expected.places);
    }

    #[test]
    fn what_is_too_much_in_a_second_is_counted_and_told_when_it_is_over() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut told = story(false, Some(Thin::new(2, start)));
        let tells = |told: &mut Story, millis| told.hear(0, gone(5), at(millis)).is_some();
        assert_eq!([0, 10, 20, 990].map(|millis| tells(&mut told, millis)), [true, true, false, false]);
        assert_eq!((told.skipped(at(999)), told.skipped_at()), (None, Some(at(1000))));
        // Nothing is told between what was left out and being told of it, or the order would lie.
        assert!(!tells(&mut told, 1000));
        assert_eq!(told.skipped(at(1001)), Some(Line::Skipped(3)));
        assert_eq!((told.skipped(at(3000)), told.skipped_at()), (None, None));
        assert_eq!([1002, 1003, 1004].map(|millis| tells(&mut told, millis)), [true, true, false]);
        let mut quiet = story(false, Some(Thin::new(2, start)));
        assert_eq!([0, 1, 1001, 1002].map(|millis| tells(&mut quiet, millis)), [true; 4], "each second anew");
    }
}
