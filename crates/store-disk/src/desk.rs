//! What the writer has before it while a transaction is open: the connection, the sequences, what it remembers of
//! mailboxes, and what will have to be told once the transaction is committed.
//!
//! One writer makes every change, so what is remembered here is true as long as no transaction fails; after one that did,
//! it is read anew. Steps check first and write then: one that is refused has written nothing.

mod append;
pub(crate) mod jobs;
mod records;
mod remove;
mod room;
mod seats;
mod sweep;

use std::sync::Arc;

use jiff::Timestamp;
use mail::Mailbox;
use rusqlite::{CachedStatement, Connection};
use store::outbox::LeftOut;
use store::{Change, Clock, RegistryChange};

use crate::feeds::Feeds;
use crate::row::micros;
use crate::settings::Settings;
use crate::sundial::Sundial;

use append::Hot;
use room::Room;
pub(crate) use room::free;
use seats::Seats;
pub(crate) use seats::{PLACE_BITS, place_range};

/// A time in microseconds; [`NEVER`] is later than all of them.
pub(crate) type Micros = i64;

/// No deadline.
pub(crate) const NEVER: Micros = Micros::MAX;

/// What the writer works with.
pub(crate) struct Desk<'c> {
    connection: &'c Connection,
    hot: Hot<'c>,
    settings: Arc<Settings>,
    clock: Arc<dyn Clock>,
    sundial: Arc<Sundial>,
    feeds: Arc<Feeds>,
    books: Books,
    /// The books as they were when the transaction began.
    before: Books,
    seats: Seats,
    room: Room,
    /// No message lapses before this.
    next_deadline: Micros,
    /// The clock when the transaction began; for everything but the age of mail.
    now: Timestamp,
    /// The time by which mail ages.
    today: Micros,
    changes: Vec<Change>,
    record_changes: Vec<(String, RegistryChange)>,
    /// Messages appended in this transaction.
    appended: u64,
    /// Jobs left out in this transaction.
    left_out: u64,
    all_left_out: Arc<LeftOut>,
}

/// Sequences and sums, kept in memory and rolled back with the transaction.
#[derive(Clone, Copy, Debug, Default)]
struct Books {
    last_position: i64,
    forgotten: i64,
    last_job: i64,
    last_version: i64,
    removals: i64,
    jobs_bytes: u64,
    registry_bytes: u64,
}

impl<'c> Desk<'c> {
    pub(crate) fn new(
        connection: &'c Connection,
        settings: Arc<Settings>,
        clock: Arc<dyn Clock>,
        sundial: Arc<Sundial>,
        feeds: Arc<Feeds>,
        all_left_out: Arc<LeftOut>,
    ) -> rusqlite::Result<Self> {
        let books = Books::read(connection)?;
        let mut desk = Self {
            hot: Hot::prepare(connection)?,
            seats: Seats::new(connection)?,
            room: Room::new(connection, &settings)?,
            next_deadline: NEVER,
            now: clock.now(),
            today: sundial.now(),
            connection,
            settings,
            clock,
            sundial,
            feeds,
            books,
            before: books,
            changes: Vec::new(),
            record_changes: Vec::new(),
            appended: 0,
            left_out: 0,
            all_left_out,
        };
        desk.find_next_deadline()?;
        Ok(desk)
    }

    /// Begin a transaction.
    pub(crate) fn begin(&mut self) -> rusqlite::Result<()> {
        self.before = self.books;
        self.now = self.clock.now();
        self.today = self.sundial.now();
        self.statement("BEGIN IMMEDIATE")?.execute([]).map(drop)
    }

    /// Everything of the transaction is written but the commit itself.
    pub(crate) fn close_books(&mut self) -> rusqlite::Result<()> {
        let Books { last_position, forgotten, last_job, last_version, .. } = self.books;
        let sql = "UPDATE state SET last_position = ?1, forgotten = ?2, last_job = ?3, last_version = ?4, seen_at = ?5";
        self.statement(sql)?.execute((last_position, forgotten, last_job, last_version, self.today)).map(drop)
    }

    pub(crate) fn commit(&mut self) -> rusqlite::Result<()> {
        self.statement("COMMIT")?.execute([]).map(drop)
    }

    /// The transaction is durable: tell those who follow what changed. How many messages it brought.
    pub(crate) fn committed(&mut self) -> rusqlite::Result<u64> {
        self.feeds.tell(self.changes.drain(..), self.record_changes.drain(..));
        self.all_left_out.add(std::mem::take(&mut self.left_out), "store.disk.jobs_bytes_max");
        self.room.measure(self.connection)?;
        Ok(std::mem::take(&mut self.appended))
    }

    /// Undo everything since [`Desk::begin`], in the database and here.
    pub(crate) fn roll_back(&mut self) {
        if !self.connection.is_autocommit() {
            // SQLite rolls back by itself where this fails.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.books = self.before;
        self.seats.forget();
        self.changes.clear();
        self.record_changes.clear();
        self.appended = 0;
        self.left_out = 0;
        self.room.forget_pending();
    }

    /// Bytes of new mail in this transaction.
    pub(crate) fn pending_bytes(&self) -> u64 {
        self.room.pending()
    }

    fn statement(&self, sql: &str) -> rusqlite::Result<CachedStatement<'c>> {
        self.connection.prepare_cached(sql)
    }

    /// The next position: ahead of all others, and of the time in microseconds. A clock that steps back only makes them
    /// denser.
    fn draw(&mut self) -> i64 {
        let by_clock = micros(self.now).clamp(0, i64::MAX >> 11) << 10;
        self.books.last_position = by_clock.max(self.books.last_position + 1);
        self.books.last_position
    }

    /// Messages received at this time or before have lapsed.
    fn lapsed_from(&self) -> Micros {
        lapsed_from(self.today, &self.settings)
    }

    fn is_live(&self, received_at: Micros, expires: Option<Micros>) -> bool {
        received_at > self.lapsed_from() && expires.is_none_or(|expires| expires > self.today)
    }

    fn note(&mut self, mailbox: &Mailbox, change: impl FnOnce() -> Change) {
        if self.feeds.is_read(mailbox) {
            self.changes.push(change());
        }
    }
}

/// Messages received at this time or before have lapsed at `today`.
pub(crate) fn lapsed_from(today: Micros, settings: &Settings) -> Micros {
    let age = settings.retention.map(|age| Micros::try_from(age.as_micros()).unwrap_or(NEVER));
    age.map_or(Micros::MIN, |age| today.saturating_sub(age))
}

impl Books {
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT last_position, forgotten, last_job, last_version, (SELECT count(*) FROM removal) FROM state";
        let mut books = connection.query_row(sql, [], |row| {
            Ok(Self {
                last_position: row.get(0)?,
                forgotten: row.get(1)?,
                last_job: row.get(2)?,
                last_version: row.get(3)?,
                removals: row.get(4)?,
                ..Self::default()
            })
        })?;
        books.jobs_bytes = jobs::bytes(connection)?;
        books.registry_bytes = records::bytes(connection)?;
        Ok(books)
    }
}
