//! What the writer remembers of mailboxes: their numbers, the next place in each, and how many messages it holds. All of
//! it can be read from the database; remembering spares that for mailboxes that get mail again and again.

use std::collections::HashMap;
use std::ops::Range;

use mail::Mailbox;
use rusqlite::{Connection, OptionalExtension};

/// The low bits of a place are its number within the mailbox, the others are the mailbox's.
pub(crate) const PLACE_BITS: u32 = 29;
/// The last number of a mailbox.
const NO_MAX: i64 = (1 << (63 - PLACE_BITS)) - 1;
/// Mailboxes remembered; when there are more, all are forgotten and read again as they come.
const SEATS_MAX: usize = 50_000;

/// The places of a mailbox.
pub(crate) fn place_range(no: i64) -> Range<i64> {
    let first = no << PLACE_BITS;
    first..first.saturating_add(1 << PLACE_BITS)
}

/// A mailbox as the writer remembers it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    /// Where its next message goes.
    pub(super) next: i64,
    /// How many messages it holds; none where no cap asks.
    pub(super) count: Option<u64>,
}

/// Mailboxes by name and by number.
pub(super) struct Seats {
    numbers: HashMap<Mailbox, i64>,
    seats: HashMap<i64, Seat>,
    last_no: i64,
}

impl Seats {
    pub(super) fn new(connection: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT max((SELECT coalesce(max(no), 0) FROM mailbox), (SELECT coalesce(max(no), 0) FROM grave))";
        let last_no = connection.query_row(sql, [], |row| row.get(0))?;
        Ok(Self { numbers: HashMap::new(), seats: HashMap::new(), last_no })
    }

    /// The number of a mailbox that holds mail.
    pub(super) fn number(&mut self, connection: &Connection, mailbox: &Mailbox) -> rusqlite::Result<Option<i64>> {
        if let Some(no) = self.numbers.get(mailbox) {
            return Ok(Some(*no));
        }
        let mut statement = connection.prepare_cached("SELECT no FROM mailbox WHERE name = ?1")?;
        let no = statement.query_row([mailbox.as_str()], |row| row.get(0)).optional()?;
        if let Some(no) = no {
            self.remember(mailbox, no);
        }
        Ok(no)
    }

    /// Give a number to a mailbox that holds no mail yet.
    pub(super) fn open(&mut self, connection: &Connection, mailbox: &Mailbox) -> rusqlite::Result<i64> {
        let no = self.fresh(connection)?;
        let mut statement =
            connection.prepare_cached("INSERT INTO mailbox (no, name, removed_at) VALUES (?1, ?2, 0)")?;
        statement.execute((no, mailbox.as_str()))?;
        self.remember(mailbox, no);
        self.seats.insert(no, Seat { next: place_range(no).start, count: Some(0) });
        Ok(no)
    }

    /// A number that nobody has. They are given in order, and from the beginning again when the last was given.
    pub(super) fn fresh(&mut self, connection: &Connection) -> rusqlite::Result<i64> {
        let wrapped = self.last_no >= NO_MAX;
        self.last_no = if wrapped { 1 } else { self.last_no + 1 };
        let sql = "SELECT EXISTS (SELECT 1 FROM mailbox WHERE no = ?1) OR EXISTS (SELECT 1 FROM grave WHERE no = ?1)";
        while connection.prepare_cached(sql)?.query_row([self.last_no], |row| row.get(0))? {
            self.last_no += 1;
        }
        Ok(self.last_no)
    }

    /// What is known of a mailbox; its messages are counted only where a cap asks.
    pub(super) fn seat(&mut self, connection: &Connection, no: i64, counted: bool) -> rusqlite::Result<&mut Seat> {
        let known = self.seats.get(&no).is_some_and(|seat| !counted || seat.count.is_some());
        if !known {
            let seat = Seat::read(connection, no, counted)?;
            self.seats.insert(no, seat);
        }
        Ok(self.seats.entry(no).or_insert(Seat { next: place_range(no).start, count: None }))
    }

    /// A message of this mailbox is gone.
    pub(super) fn removed(&mut self, no: i64) {
        if let Some(count) = self.seats.get_mut(&no).and_then(|seat| seat.count.as_mut()) {
            *count = count.saturating_sub(1);
        }
    }

    /// A mailbox is gone, or has another number.
    pub(super) fn forget_one(&mut self, mailbox: &Mailbox, no: i64) {
        self.numbers.remove(mailbox);
        self.seats.remove(&no);
    }

    /// Forget everything but the last number given: a number is not given twice even when a transaction fails.
    pub(super) fn forget(&mut self) {
        self.numbers.clear();
        self.seats.clear();
    }

    fn remember(&mut self, mailbox: &Mailbox, no: i64) {
        if self.numbers.len() >= SEATS_MAX || self.seats.len() >= SEATS_MAX {
            self.forget();
        }
        self.numbers.insert(mailbox.clone(), no);
    }
}

impl Seat {
    fn read(connection: &Connection, no: i64, counted: bool) -> rusqlite::Result<Self> {
        let Range { start, end } = place_range(no);
        let newest = "SELECT place FROM message WHERE place >= ?1 AND place < ?2 ORDER BY place DESC LIMIT 1";
        let newest: Option<i64> =
            connection.prepare_cached(newest)?.query_row((start, end), |row| row.get(0)).optional()?;
        let count = if counted {
            let sql = "SELECT count(*) FROM message WHERE place >= ?1 AND place < ?2";
            let count: i64 = connection.prepare_cached(sql)?.query_row((start, end), |row| row.get(0))?;
            Some(count.unsigned_abs())
        } else {
            None
        };
        Ok(Self { next: newest.map_or(start, |place| place + 1), count })
    }
}
