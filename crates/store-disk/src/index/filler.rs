//! The thread that fills the index: it reads behind the commits what is new, takes each message apart, and puts its texts
//! in; it takes out what has gone; it keeps the file within its bounds. It gives way to everything else, and nobody waits
//! for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mail::letter::{self, Letter};
use mail::query::Texts;
use mail::{Mailbox, MessageId};
use rusqlite::{Connection, Row};

use crate::desk::{PLACE_BITS, free};
use crate::engine::Shared;
use crate::error::{OpenError, is_damage};
use crate::inbox::Inbox;
use crate::pack;
use crate::row::{self, BODY, BODY_WIDTH, MESSAGE, MESSAGE_WIDTH, Spoilt};
use crate::schema;
use crate::settings;

use super::book::{Book, Origin};
use super::{Desk, Range};

/// How often it looks for something new.
const EVERY: Duration = Duration::from_millis(250);
/// After a failure.
const LATER: Duration = Duration::from_secs(10);
/// Messages, and bytes of them, put in at once.
const BATCH: usize = 500;
const BATCH_BYTES: u64 = 8 << 20;
/// Messages looked after at once, whether they are still there; and how long it rests when it has seen all.
const SLICE: usize = 1_000;
const REST: Duration = Duration::from_secs(60);
/// Messages taken out at once when the index is too large.
const TRIM: usize = 500;

/// What failed.
enum Trouble {
    /// The mail could not be read: the index is none the worse.
    Mail(rusqlite::Error),
    /// The index.
    Book(rusqlite::Error),
}

type Result<T> = std::result::Result<T, Trouble>;

/// The thread as the engine sees it.
pub(super) struct Filler {
    end: Arc<Inbox<()>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Filler {
    pub(super) fn start(database: PathBuf, shared: Arc<Shared>, desk: Arc<Desk>, epoch: u64) -> Self {
        let end = Arc::new(Inbox::new(1));
        let own = Arc::clone(&end);
        let thread = thread::Builder::new().name("store-search".to_owned()).spawn(move || {
            give_way();
            let keep = || keep(&database, &shared, &desk, epoch, &own);
            if catch_unwind(AssertUnwindSafe(keep)).is_err() {
                tracing::error!(
                    "the filling of the search index broke down: until the next start, searches go without it"
                );
            }
            desk.shut();
        });
        if let Err(error) = &thread {
            tracing::error!(%error, "there is no thread for the search index: searches go without it");
        }
        Self { end, thread: Mutex::new(thread.ok()) }
    }

    /// Come to an end; what is not in the index by then will be after the next start.
    pub(super) fn close(&self) {
        self.end.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It catches its own panics.
            let _ = thread.join();
        }
    }
}

/// Keep the index until the end; after a failure, from the beginning.
fn keep(database: &Path, shared: &Shared, desk: &Desk, epoch: u64, end: &Inbox<()>) {
    loop {
        match Work::begin(database, shared, desk, epoch).and_then(|mut work| work.run(end)) {
            Ok(()) => return,
            Err(Trouble::Mail(error)) => tracing::warn!(%error, "the search index could not read the mail"),
            Err(Trouble::Book(error)) => {
                desk.met(&error);
                tracing::warn!(%error, "the search index failed; searches go without it until it is tried again");
            }
        }
        desk.shut();
        if end.take_group(1, LATER).is_none() {
            return;
        }
    }
}

/// The thread at work.
struct Work<'a> {
    mail: Connection,
    book: Book,
    desk: &'a Desk,
    shared: &'a Shared,
    settings: settings::Search,
    origin: Origin,
    /// Messages up to here were looked after.
    seen: i64,
    next_look: Instant,
    is_short: bool,
}

/// A message as it goes into the index.
type Entry = (MessageId, Mailbox, Texts);

impl<'a> Work<'a> {
    fn begin(database: &Path, shared: &'a Shared, desk: &'a Desk, epoch: u64) -> Result<Self> {
        let mail = schema::open_reader(database).map_err(|error| Trouble::Mail(sql(error)))?;
        let settings = shared.settings.search;
        let origin = Origin { epoch: epoch as i64, text_max: settings.text_max };
        let last = last_position(&mail).map_err(Trouble::Mail)?;
        let book = match desk.is_spoilt() {
            Some(why) => {
                tracing::warn!(why, "the search index is damaged; it is made anew from the mail");
                Book::anew(&desk.path, origin)?
            }
            None => Book::open(&desk.path, origin, last)?,
        };
        desk.open()?;
        let next_look = Instant::now();
        Ok(Self { mail, book, desk, shared, settings, origin, seen: 0, next_look, is_short: false })
    }

    fn run(&mut self, end: &Inbox<()>) -> Result<()> {
        let mut patience = Duration::ZERO;
        while end.take_group(1, patience).is_some() {
            if let Some(why) = self.desk.is_spoilt() {
                self.begin_anew(&why)?;
            }
            patience = if self.turn()? { Duration::ZERO } else { EVERY };
        }
        Ok(())
    }

    fn begin_anew(&mut self, why: &str) -> Result<()> {
        tracing::warn!(why, "the search index is damaged; it is made anew from the mail");
        self.desk.shut();
        self.book = Book::anew(&self.desk.path, self.origin)?;
        self.seen = 0;
        Ok(self.desk.open()?)
    }

    /// One turn; whether there is more to do at once.
    fn turn(&mut self) -> Result<bool> {
        let bytes = self.book.bytes()?;
        if bytes > self.settings.index_max {
            self.trim()?;
        }
        // A quarter over its bound, and on a disk that runs short, it takes nothing more.
        if bytes > self.settings.index_max.saturating_add(self.settings.index_max / 4) || self.is_short_of_disk() {
            return Ok(false);
        }
        let is_behind = self.fill()?;
        if !is_behind {
            self.look_after()?;
        }
        Ok(is_behind)
    }

    /// Put in what is new; whether there may be more.
    fn fill(&mut self) -> Result<bool> {
        let Range { head, .. } = self.book.range()?;
        let Some(read) = read(&self.mail, head).map_err(Trouble::Mail)? else { return Ok(false) };
        let (head, is_behind) = read.stopped_at.map_or((read.last, false), |id| (id, true));
        self.book.add(&read.entries, self.settings.text_max, head)?;
        Ok(is_behind)
    }

    /// Take out what is no longer in the store, a slice at a time.
    fn look_after(&mut self) -> Result<()> {
        if Instant::now() < self.next_look {
            return Ok(());
        }
        let held = self.book.ids(self.seen, SLICE)?;
        let Some((first, last)) = held.first().zip(held.last()) else {
            (self.seen, self.next_look) = (0, Instant::now() + REST);
            return Ok(());
        };
        let there = ids_between(&self.mail, *first, *last).map_err(Trouble::Mail)?;
        let gone: Vec<i64> = held.iter().copied().filter(|id| there.binary_search(id).is_err()).collect();
        if !gone.is_empty() {
            self.book.remove(&gone, None)?;
        }
        self.seen = *last;
        Ok(())
    }

    /// The oldest go: they are found by looking at them from then on.
    fn trim(&mut self) -> Result<()> {
        let oldest = self.book.ids(0, TRIM)?;
        if let Some(last) = oldest.last() {
            self.book.remove(&oldest, Some(*last))?;
        }
        Ok(self.book.merge()?)
    }

    /// The mail comes first: the index leaves it twice what it needs to go on.
    fn is_short_of_disk(&mut self) -> bool {
        let settings = &self.shared.settings;
        let is_short = free(&settings.path) < settings.free_min.saturating_mul(2);
        if is_short && !self.is_short {
            tracing::warn!(
                "the disk runs short: the search index grows no more until there is room, and searches become slower"
            );
        }
        self.is_short = is_short;
        is_short
    }
}

/// Some messages behind an id.
struct Read {
    entries: Vec<Entry>,
    /// Where the store stood.
    last: i64,
    /// There may be more behind this one.
    stopped_at: Option<i64>,
}

/// The next messages behind an id, at one moment; none when there are none.
fn read(mail: &Connection, after: i64) -> rusqlite::Result<Option<Read>> {
    let moment = mail.unchecked_transaction()?;
    let last = last_position(&moment)?;
    if last <= after {
        return Ok(None);
    }
    let mut read = Read { entries: Vec::new(), last, stopped_at: None };
    let mut at = after;
    match read_rows(&moment, &mut at, &mut read) {
        // What cannot be read matches nothing, here or elsewhere: it is stepped over.
        Err(error) if is_damage(&error) => read.stopped_at = Some(next(&moment, at)?),
        done => done?,
    }
    Ok(Some(read))
}

fn read_rows(mail: &Connection, at: &mut i64, read: &mut Read) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT {MESSAGE}, {BODY}, x.name FROM message m JOIN body b ON b.id = m.body \
         JOIN mailbox x ON x.no = m.place >> {PLACE_BITS} WHERE m.id > ?1 ORDER BY m.id"
    );
    let mut statement = mail.prepare_cached(&sql)?;
    let mut rows = statement.query([*at])?;
    let (mut taken, mut bytes) = (None, 0);
    while let Some(row) = rows.next()? {
        *at = row.get(1)?;
        bytes += row.get::<_, i64>(6)?.unsigned_abs();
        // One that is damaged matches nothing.
        read.entries.extend(entry(row, &mut taken));
        if read.entries.len() >= BATCH || bytes >= BATCH_BYTES {
            read.stopped_at = Some(*at);
            break;
        }
    }
    Ok(())
}

/// The id of the next message.
fn next(mail: &Connection, after: i64) -> rusqlite::Result<i64> {
    let sql = "SELECT min(id) FROM message INDEXED BY message_by_id WHERE id > ?1";
    let next: Option<i64> = mail.prepare_cached(sql)?.query_row([after], |row| row.get(0))?;
    Ok(next.unwrap_or(after.saturating_add(1)))
}

fn ids_between(mail: &Connection, first: i64, last: i64) -> rusqlite::Result<Vec<i64>> {
    let mut there = mail.prepare_cached("SELECT id FROM message WHERE id >= ?1 AND id <= ?2 ORDER BY id")?;
    there.query_map((first, last), |row| row.get(0))?.collect()
}

/// One message. The copies of a body follow each other, and it is taken apart once for all of them.
fn entry(row: &Row<'_>, last: &mut Option<(i64, Letter)>) -> std::result::Result<Entry, Spoilt> {
    let name: String = row::get(row, MESSAGE_WIDTH + BODY_WIDTH)?;
    let row::Kept { body, summary } = row::message(row, &name)?;
    let (cover, data) = row::body(row, MESSAGE_WIDTH)?;
    if last.as_ref().is_none_or(|(known, _)| *known != body) {
        let raw = pack::unpack(cover.packing, data, cover.size, &cover.hash)?;
        *last = Some((body, Letter::of(&raw, &letter::Limits::default().without_finds())));
    }
    let envelope = cover.envelope(&summary)?;
    let (_, letter) = last.as_ref().ok_or(Spoilt)?;
    Ok((summary.id, Mailbox::from_canonical(&name), Texts::of(&summary, &envelope, letter)))
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Book(error)
    }
}

fn last_position(mail: &Connection) -> rusqlite::Result<i64> {
    mail.prepare_cached("SELECT last_position FROM state")?.query_row([], |row| row.get(0))
}

fn sql(error: OpenError) -> rusqlite::Error {
    match error {
        OpenError::Database { source, .. } => source,
        error => rusqlite::Error::ToSqlConversionFailure(Box::new(error)),
    }
}

/// Whatever answers somebody comes first.
#[cfg(target_os = "linux")]
fn give_way() {
    const NICE: i32 = 10;
    // Without it all is well but for a storm.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
}

#[cfg(not(target_os = "linux"))]
fn give_way() {}
