//! The messages of one session: numbered once, at sign-in, and the same until its end (RFC 1939 §4), whatever others do
//! to the mailbox meanwhile. A deletion is a mark until UPDATE.

use std::mem::size_of;

use mail::MessageId;

use crate::reply::number;
use crate::stuffing::Progress;

/// Memory that a session holds for each message it sees.
pub const HELD_BYTES: u64 = (size_of::<Entry>() + size_of::<bool>()) as u64;

/// A message as a session sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its unique id (RFC 1939 §7).
    pub id: MessageId,
    /// Octets as stored. On the wire there may be a few more: a newline on its own leaves as CRLF.
    pub size: u64,
}

/// The messages of a session, and which of them are marked deleted.
#[derive(Debug)]
pub(super) struct Maildrop {
    entries: Vec<Entry>,
    marked: Vec<bool>,
}

/// A message number that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoMessage {
    Unknown,
    Marked,
}

impl Maildrop {
    /// Message 1 is the first of them.
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        Self { marked: vec![false; entries.len()], entries }
    }

    /// The message of this number, unless it is marked.
    pub(super) fn entry(&self, message: usize) -> Result<Entry, NoMessage> {
        let place = message.checked_sub(1).ok_or(NoMessage::Unknown)?;
        let entry = self.entries.get(place).ok_or(NoMessage::Unknown)?;
        if self.marked[place] { Err(NoMessage::Marked) } else { Ok(*entry) }
    }

    /// Mark the message of this number, which was looked up before.
    pub(super) fn mark(&mut self, message: usize) {
        if let Some(marked) = message.checked_sub(1).and_then(|place| self.marked.get_mut(place)) {
            *marked = true;
        }
    }

    pub(super) fn unmark_all(&mut self) {
        self.marked.fill(false);
    }

    /// What is marked.
    pub(super) fn marked(&self) -> Vec<MessageId> {
        let marked = self.entries.iter().zip(&self.marked).filter(|(_, marked)| **marked);
        marked.map(|(entry, _)| entry.id).collect()
    }

    /// How many messages are not marked, and their octets.
    pub(super) fn totals(&self) -> (usize, u64) {
        let left = self.entries.iter().zip(&self.marked).filter(|(_, marked)| !**marked);
        left.fold((0, 0), |(count, octets), (entry, _)| (count + 1, octets + entry.size))
    }
}

/// What a line of a list shows behind a message's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Column {
    Size,
    Id,
}

impl Column {
    /// Append a message's number and this of it.
    pub(super) fn write(self, message: usize, entry: Entry, out: &mut Vec<u8>) {
        number(out, message as u64);
        out.push(b' ');
        match self {
            Self::Size => number(out, entry.size),
            Self::Id => out.extend_from_slice(&entry.id.digits()),
        }
    }
}

/// The list of a maildrop on its way out.
#[derive(Debug)]
pub(super) struct Scan {
    column: Column,
    /// The message that comes next.
    next: usize,
}

impl Scan {
    pub(super) fn new(column: Column) -> Self {
        Self { column, next: 1 }
    }

    /// Append the next lines, about `room` bytes of them.
    pub(super) fn write(&mut self, maildrop: &Maildrop, out: &mut Vec<u8>, room: usize) -> Progress {
        let full = out.len().saturating_add(room);
        while self.next <= maildrop.entries.len() {
            if out.len() >= full {
                return Progress::More;
            }
            if let Ok(entry) = maildrop.entry(self.next) {
                self.column.write(self.next, entry, out);
                out.extend_from_slice(b"\r\n");
            }
            self.next += 1;
        }
        out.extend_from_slice(b".\r\n");
        Progress::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maildrop() -> Maildrop {
        Maildrop::new((1..=4).map(|id| Entry { id: MessageId::new(id), size: 10 * id }).collect())
    }

    fn scanned(maildrop: &Maildrop, column: Column, room: usize) -> String {
        let (mut scan, mut out) = (Scan::new(column), Vec::new());
        while scan.write(maildrop, &mut out, room) == Progress::More {}
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_stay_when_messages_are_marked() {
        let mut maildrop = maildrop();
        assert_eq!(maildrop.totals(), (4, 100));
        maildrop.mark(2);
        maildrop.mark(4);
        maildrop.mark(0);
        maildrop.mark(5);
        assert_eq!(maildrop.totals(), (2, 40));
        assert_eq!(maildrop.entry(2), Err(NoMessage::Marked));
        assert_eq!(maildrop.entry(3).map(|entry| entry.size), Ok(30));
        assert_eq!(maildrop.marked(), [MessageId::new(2), MessageId::new(4)]);
        for unknown in [0, 5, usize::MAX] {
            assert_eq!(maildrop.entry(unknown), Err(NoMessage::Unknown));
        }
        maildrop.unmark_all();
        assert_eq!(maildrop.totals(), (4, 100));
    }

    #[test]
    fn a_list_is_the_same_in_pieces_of_any_size() {
        let mut maildrop = maildrop();
        maildrop.mark(3);
        for room in [1, 7, 1000] {
            assert_eq!(scanned(&maildrop, Column::Size, room), "1 10\r\n2 20\r\n4 40\r\n.\r\n");
            let ids = "1 0000000000001\r\n2 0000000000002\r\n4 0000000000004\r\n.\r\n";
            assert_eq!(scanned(&maildrop, Column::Id, room), ids);
        }
        assert_eq!(scanned(&Maildrop::new(Vec::new()), Column::Size, 9), ".\r\n");
    }
}
