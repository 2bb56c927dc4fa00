//! What these tests hold in their hands: a store in a directory of its own on a clock of its own, a second look at its
//! tables beside the engine, what a whole store must look like there, and what the engine wrote to the log.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use mail::{Mailbox, MessageId};
use rusqlite::{Connection, OpenFlags};
use store::conformance::Letter;
use store::list::{Order, Page};
use store::{Clock, Filed, ManualClock, Result, Store};
use tracing::field::{Field, Visit};
use tracing::span;

use super::Place;
use crate::pack::unpack;
use crate::row::{self, BODY, MESSAGE, MESSAGE_WIDTH};
use crate::{Disk, OpenError, Search, Settings};

/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A directory where a sync costs nothing, for tests that are not about what a sync brings.
pub(crate) fn quick_place() -> Place {
    let place = Place::new();
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        return place;
    }
    Place(memory.join(place.path().file_name().unwrap()))
}

/// A store that is opened and closed as a test likes.
pub(crate) struct Bench {
    pub(crate) place: Place,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) settings: Settings,
}

impl Bench {
    /// Without bounds, and believing its clock.
    pub(crate) fn new(bounds: impl FnOnce(&mut Settings)) -> Self {
        let place = quick_place();
        let mut settings = Settings {
            free_min: 0,
            messages_max: 0,
            retention: None,
            jump_hold: Duration::ZERO,
            readers: 1,
            // Tests of the index ask for it.
            search: Search { index_max: 0, ..Search::default() },
            ..Settings::new(place.path())
        };
        bounds(&mut settings);
        let clock = Arc::new(ManualClock::at(Timestamp::from_second(1_800_000_000).unwrap()));
        Self { place, clock, settings }
    }

    pub(crate) fn try_open(&self) -> std::result::Result<Disk, OpenError> {
        Disk::open(self.settings.clone(), self.clock.clone())
    }

    pub(crate) fn open(&self) -> Disk {
        self.try_open().expect("the store opens")
    }

    /// What a crash would leave, opened: the files as they lie there now.
    pub(crate) fn reopen_after_crash(&self, disk: Disk) -> Disk {
        let left = quick_place();
        copy(self.place.path(), left.path());
        drop(disk);
        fs::remove_dir_all(self.place.path()).unwrap();
        fs::rename(left.path(), self.place.path()).unwrap();
        self.open()
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.clock.advance(SignedDuration::from_secs(seconds));
    }

    pub(crate) async fn try_send(&self, disk: &Disk, letter: &Letter) -> Result<Vec<Filed>> {
        disk.append(letter.delivery(self.clock.now())).await
    }

    pub(crate) async fn send(&self, disk: &Disk, letter: Letter) -> Vec<MessageId> {
        let filed = self.try_send(disk, &letter).await.expect("an append within all bounds succeeds");
        filed.into_iter().map(|filed| filed.id).collect()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.place.path().join("postkeep.db")
    }

    /// A connection of our own beside the engine.
    pub(crate) fn beside(&self) -> Connection {
        connect(&self.database())
    }

    /// One number from the tables.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.beside().query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

pub(crate) fn connect(database: &Path) -> Connection {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    connection.busy_timeout(PATIENCE).unwrap();
    connection
}

/// Copy the files of a store, but for those that SQLite makes anew.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in ["postkeep.db", "postkeep.db-wal"] {
        match fs::copy(from.join(name), to.join(name)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            copied => _ = copied.unwrap(),
        }
    }
}

pub(crate) fn mailbox(name: &str) -> Mailbox {
    Mailbox::from_canonical(name)
}

/// The subjects in a mailbox, oldest first.
pub(crate) async fn subjects(disk: &Disk, name: &str) -> Vec<String> {
    let page = Page { after: None, limit: 100_000, order: Order::Oldest };
    let listing = disk.list(&mailbox(name), page).await.expect("a list is answered");
    listing.items.iter().map(|summary| summary.subject.clone()).collect()
}

/// Look again and again until it is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What must hold in the tables of every store, whatever happened to it: nothing is left over, nothing is missing.
pub(crate) fn assert_whole(database: &Path) {
    let connection = connect(database);
    let none = [
        ("a message without a body", "SELECT count(*) FROM message WHERE body NOT IN (SELECT id FROM body)"),
        ("a body without a message", "SELECT count(*) FROM body WHERE id NOT IN (SELECT body FROM message)"),
        (
            "a message of no mailbox",
            "SELECT count(*) FROM message WHERE place >> 29 NOT IN (SELECT no FROM mailbox UNION SELECT no FROM grave)",
        ),
        ("an empty mailbox", "SELECT count(*) FROM mailbox WHERE no NOT IN (SELECT place >> 29 FROM message)"),
        ("a mailbox in its grave", "SELECT count(*) FROM mailbox WHERE no IN (SELECT no FROM grave)"),
        (
            "copies counted wrongly",
            "SELECT count(*) FROM shared s WHERE copies <> (SELECT count(*) FROM message WHERE body = s.body)",
        ),
        (
            "a body of several mailboxes that is not counted",
            "SELECT count(*) FROM message WHERE shared <> (body IN (SELECT body FROM shared))",
        ),
        (
            "a body of several mailboxes that is taken for one's own",
            "SELECT count(*) FROM (SELECT body FROM message GROUP BY body HAVING count(*) > 1 AND min(shared) = 0)",
        ),
        (
            "a sequence behind what it gave",
            "SELECT count(*) FROM state WHERE last_position < (SELECT coalesce(max(id), 0) FROM message) \
             OR last_position < (SELECT coalesce(max(position), 0) FROM removal) \
             OR last_job < (SELECT coalesce(max(id), 0) FROM job) \
             OR last_version < (SELECT coalesce(max(version), 0) FROM record)",
        ),
        (
            "messages out of order",
            "SELECT count(*) FROM (SELECT id, lag(id) OVER (PARTITION BY place >> 29 ORDER BY place) AS before \
             FROM message WHERE place >> 29 NOT IN (SELECT no FROM grave)) WHERE id <= before",
        ),
    ];
    for (what, sql) in none {
        let found: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(found, 0, "{what}");
    }
    let sound: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    assert_sealed(&connection);
}

/// Every seal is right, and every body is what its hash says.
fn assert_sealed(connection: &Connection) {
    let sql = format!("SELECT {MESSAGE}, x.name FROM message m JOIN mailbox x ON x.no = m.place >> 29");
    let mut statement = connection.prepare(&sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let name: String = row.get(MESSAGE_WIDTH).unwrap();
        assert!(row::message(row, &name).is_ok(), "a message of {name} is under its seal");
    }
    let mut statement = connection.prepare(&format!("SELECT {BODY} FROM body b")).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (cover, data) = row::body(row, 0).expect("a body is under its seal");
        unpack(cover.packing, data, cover.size, &cover.hash).expect("a body is what its hash says");
    }
}

/// The log of every engine of this process, from a moment on. Tests run at once: look for names of your own.
pub(crate) struct Log(usize);

impl Log {
    pub(crate) fn here() -> Self {
        static STARTED: OnceLock<()> = OnceLock::new();
        // The first of a process stays; there is no other.
        STARTED.get_or_init(|| _ = tracing::subscriber::set_global_default(Recorder));
        Self(LOGGED.lock().unwrap().len())
    }

    /// Whether a line since then has all of these.
    pub(crate) fn has(&self, words: &[&str]) -> bool {
        let logged = LOGGED.lock().unwrap();
        logged[self.0..].lines().any(|line| words.iter().all(|word| line.contains(word)))
    }
}

static LOGGED: Mutex<String> = Mutex::new(String::new());

struct Recorder;

impl tracing::Subscriber for Recorder {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::INFO
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        LOGGED.lock().unwrap().push_str(&(line.0 + "\n"));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0 += &format!(" {}={value:?}", field.name());
    }
}
