//! Webhooks: who is told of what, and the note that is written for each. The note says what happened, with what a list shows
//! of the message, so that it can be told also when the message has gone since. Where it is sent, and in which
//! words, is not known here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use bytes::Bytes;
use jiff::Timestamp;
use mail::{Mailbox, Summary};
use serde::{Deserialize, Serialize};
use store::{Delivery, Item, NewJob};

use crate::access::Pattern;
use crate::recent::{self, Line};
use crate::transaction::Transactions;

/// What the jobs of all targets begin with; behind it stands the target's name.
const KIND: &str = "webhook:";
/// The form of the notes.
const FORM: u8 = 1;

/// Somebody who wants to be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// What it is called.
    pub name: String,
    /// Of these mailboxes.
    pub mailboxes: Vec<Pattern>,
    /// Of these events.
    pub events: Vec<Event>,
}

/// What can happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Event {
    /// A message is kept.
    Deliver,
    /// Messages were deleted.
    Delete,
    /// A mailbox was emptied.
    Purge,
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// Names this event for good: the same for all targets and at every attempt.
    pub id: String,
    /// What.
    pub event: Event,
    /// When.
    pub at: Timestamp,
    /// Where.
    pub mailbox: Mailbox,
    /// The message that was delivered, but for its id: that comes with the job.
    pub summary: Option<Arc<Summary>>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    id: String,
    event: Event,
    at: i64,
    mailbox: String,
    line: Option<Line>,
}

impl Event {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Deliver, Self::Delete, Self::Purge];

    /// The verb that it is told of.
    pub fn word(self) -> &'static str {
        match self {
            Self::Deliver => "deliver",
            Self::Delete => "delete",
            Self::Purge => "purge",
        }
    }
}

impl Target {
    /// The kind of its jobs.
    pub fn kind(&self) -> String {
        kind(&self.name)
    }

    fn wants(&self, event: Event, mailbox: &Mailbox) -> bool {
        self.events.contains(&event) && self.mailboxes.iter().any(|pattern| pattern.covers(mailbox))
    }
}

/// The kind of the jobs of a target.
pub fn kind(name: &str) -> String {
    format!("{KIND}{name}")
}

/// The target that a job of this kind is for.
pub fn target(kind: &str) -> Option<&str> {
    kind.strip_prefix(KIND)
}

impl Note {
    /// Read the payload of a job; none when another version wrote it.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let (form, written) = postcard::from_bytes::<(u8, Written)>(payload).ok()?;
        let Written { id, event, at, mailbox, line } = written;
        let summary = match line {
            Some(line) => Some(line.item()?.summary),
            None => None,
        };
        let (at, mailbox) = (Timestamp::from_microsecond(at).ok()?, Mailbox::from_canonical(&mailbox));
        (form == FORM).then_some(Self { id, event, at, mailbox, summary })
    }

    fn write(id: &str, event: Event, at: Timestamp, mailbox: &Mailbox, item: Option<&Item>) -> Bytes {
        let (id, mailbox) = (id.to_owned(), mailbox.as_str().to_owned());
        let written = Written { id, event, at: at.as_microsecond(), mailbox, line: item.map(Line::of) };
        // A plain structure: writing it cannot fail.
        postcard::to_allocvec(&(FORM, written)).map(Bytes::from).unwrap_or_default()
    }
}

/// All who want to be told.
pub(super) struct Webhooks {
    targets: Vec<Target>,
    /// For which of them so much waits that nothing is written for it now.
    behind: Vec<AtomicBool>,
    left_out: AtomicU64,
    ids: Transactions,
}

impl Webhooks {
    pub(super) fn new(targets: Vec<Target>) -> Self {
        let behind = targets.iter().map(|_| AtomicBool::new(false)).collect();
        Self { targets, behind, left_out: AtomicU64::new(0), ids: Transactions::default() }
    }

    /// Whether a target, by its place, is so far behind that nothing more is written for it; whether that is news.
    pub(super) fn set_behind(&self, place: usize, is_behind: bool) -> bool {
        self.behind.get(place).is_some_and(|behind| behind.swap(is_behind, Relaxed) != is_behind)
    }

    /// How many events were not written because of that.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out.load(Relaxed)
    }

    pub(super) fn targets(&self) -> &[Target] {
        &self.targets
    }

    pub(super) fn on_deliver(&self, delivery: &Delivery) -> Vec<NewJob> {
        // Else every mail would be taken apart for nobody.
        if !delivery.copies.iter().any(|copy| self.wanting(Event::Deliver, &copy.mailbox).next().is_some()) {
            return Vec::new();
        }
        let items = recent::items(delivery);
        let jobs =
            items.iter().flat_map(|item| self.notes(Event::Deliver, &item.mailbox, delivery.received_at, Some(item)));
        jobs.collect()
    }

    /// About a mailbox: one for each target that wants it, all about one event.
    pub(super) fn on(&self, event: Event, mailbox: &Mailbox, at: Timestamp) -> Vec<NewJob> {
        self.notes(event, mailbox, at, None)
    }

    fn notes(&self, event: Event, mailbox: &Mailbox, at: Timestamp, item: Option<&Item>) -> Vec<NewJob> {
        let (behind, wanting): (Vec<_>, Vec<_>) =
            self.wanting(event, mailbox).partition(|(place, _)| self.behind[*place].load(Relaxed));
        self.left_out.fetch_add(behind.len() as u64, Relaxed);
        if wanting.is_empty() {
            return Vec::new();
        }
        let id = format!("msg_{}", self.ids.begin(at));
        let payload = Note::write(&id, event, at, mailbox, item);
        // In order for each mailbox; and mail is never refused because somebody cannot be told of it.
        let job =
            |target: &Target| NewJob::new(target.kind(), payload.clone()).in_lane(mailbox.as_str()).if_there_is_room();
        wanting.into_iter().map(|(_, target)| job(target)).collect()
    }

    fn wanting<'a>(&'a self, event: Event, mailbox: &'a Mailbox) -> impl Iterator<Item = (usize, &'a Target)> {
        self.targets.iter().enumerate().filter(move |(_, target)| target.wants(event, mailbox))
    }
}

#[cfg(test)]
mod tests;
