//! The engine itself: every call is a step for the writer or a look by a reader.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;
use mail::{Mailbox, MessageId};
use rusqlite::Connection;
use store::list::{Item, Listing, MailboxPage, MailboxState, Page, RecentPage};
use store::outbox::{DeadJob, Handback, Job, JobId, LeftOut, Outbox};
use store::peers::{Alone, Peers};
use store::registry::{Registry, RegistryChanges};
use store::{
    Abilities, Budget, Changes, Clock, Delivery, Entry, Error, Expect, Filed, Found, Lease, NewJob, Position, Put,
    Query, Result, Scan, Scope, Span, Store, Stored,
};

use crate::checkpoint::Checkpoints;
use crate::desk::{Desk, jobs};
use crate::directory::{self, Directory};
use crate::draft::Draft;
use crate::error::{Fault, OpenError};
use crate::feeds::{Feeds, Told};
use crate::health::Health;
use crate::index::{self, Index};
use crate::pack::Press;
use crate::pool::Pool;
use crate::quarantine::Quarantine;
use crate::schema;
use crate::settings::Settings;
use crate::step::step;
use crate::sundial::Sundial;
use crate::views::{Look, Pages, View, others};
use crate::writer::Writer;

/// The disk engine.
pub struct Disk {
    shared: Arc<Shared>,
    /// None: this one only looks.
    writer: Option<Writer>,
    pool: Pool,
    /// None: searches look at everything.
    pub(crate) index: Option<Index>,
    epoch: u64,
    _directory: Option<Directory>,
}

/// What callers, writer and readers all need.
pub(crate) struct Shared {
    pub(crate) settings: Arc<Settings>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) sundial: Arc<Sundial>,
    pub(crate) feeds: Arc<Feeds>,
    pub(crate) health: Arc<Health>,
    pub(crate) quarantine: Quarantine,
    pub(crate) press: Press,
    pub(crate) left_out: Arc<LeftOut>,
}

impl Disk {
    /// Open the store in this directory, made when it is not there, and take it for this process.
    pub fn open(settings: Settings, clock: Arc<dyn Clock>) -> std::result::Result<Self, OpenError> {
        let directory = Directory::take(&settings.path)?;
        let database = directory.database();
        let failed = |source| OpenError::database(&database, source);
        let mut connection = schema::open_writer(&database)?;
        jobs::let_go(&connection).map_err(failed)?;
        let settings = Settings { path: directory.path().to_owned(), ..settings };
        let (epoch, seen_at) = origin(&connection).map_err(failed)?;
        let shared = Arc::new(Shared::new(settings, clock, seen_at));
        let beside = schema::open_beside(&database)?;
        let checkpoints = Checkpoints::start(&mut connection, beside, Arc::clone(&shared.health)).map_err(failed)?;
        let writer = Writer::start(connection, Arc::clone(&shared), checkpoints).map_err(failed)?;
        let pool = readers(&database, &shared.settings)?;
        let index = (shared.settings.search.index_max > 0).then(|| Index::start(&database, Arc::clone(&shared), epoch));
        let looking = Arc::clone(&shared);
        pool.walk(move |connection, after| looking.view(connection).name_hidden(after));
        Ok(Self { shared, writer: Some(writer), pool, index, epoch, _directory: Some(directory) })
    }

    /// Open the store in this directory to look at it, perhaps beside a process that has it.
    pub fn look(path: &Path, clock: Arc<dyn Clock>) -> std::result::Result<Self, OpenError> {
        let database = directory::visit(path)?;
        let connection = schema::open_reader(&database)?;
        let (epoch, _) = origin(&connection).map_err(|source| OpenError::database(&database, source))?;
        // Whoever looks into a store wants to see all of it: what has lapsed and was not let go yet as well.
        let settings = Settings { retention: None, readers: 1, ..Settings::new(path) };
        let pool = readers(&database, &settings)?;
        let shared = Arc::new(Shared::new(settings, clock, 0));
        Ok(Self { shared, writer: None, pool, index: None, epoch, _directory: None })
    }

    /// The messages that were found damaged since it was opened.
    pub fn damaged(&self) -> Vec<MessageId> {
        self.shared.quarantine.all()
    }

    /// Do what is left, and end: all threads of this engine are gone then. Calls made later are told to try later.
    pub fn close(&self) {
        if let Some(writer) = &self.writer {
            writer.close();
        }
        if let Some(index) = &self.index {
            index.close();
        }
        self.pool.close();
        self.shared.feeds.close();
    }

    /// Have the writer do something.
    async fn change<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Desk<'_>) -> std::result::Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let (what, instead) = ("change what it only looks at", "ask the server that has the store");
        let writer = self.writer.as_ref().ok_or(Error::Unsupported { what, instead })?;
        self.shared.health.check()?;
        let (step, waiting) = step(work);
        writer.put(step)?;
        waiting.answer(self.shared.settings.wait_max).await
    }

    /// Have a reader look at something.
    async fn view<T: Send + 'static>(
        &self,
        look: impl FnOnce(View<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = Arc::clone(&self.shared);
        let look = move |connection: &Connection| look(shared.view(connection));
        self.pool.ask(look).await
    }
}

impl Disk {
    /// These messages, as far as they are still there and in scope, in the order named.
    pub(crate) async fn items(&self, ids: Vec<i64>, scope: &Scope) -> Result<Vec<Item>> {
        let scope = scope.clone();
        self.view(move |view| view.items(&ids, &scope)).await
    }
}

impl Shared {
    fn new(settings: Settings, clock: Arc<dyn Clock>, seen_at: i64) -> Self {
        let sundial = Sundial::new(Arc::clone(&clock), settings.retention, settings.jump_hold, seen_at);
        Self {
            feeds: Arc::new(Feeds::new(settings.lag_max)),
            settings: Arc::new(settings),
            clock,
            sundial: Arc::new(sundial),
            health: Arc::default(),
            quarantine: Quarantine::default(),
            press: Press::default(),
            left_out: Arc::default(),
        }
    }

    /// What is seen now.
    fn view<'c>(&'c self, connection: &'c Connection) -> View<'c> {
        let Self { settings, sundial, quarantine, .. } = self;
        View { connection, settings, quarantine, today: sundial.now() }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.close();
    }
}

/// The threads that read a store.
fn readers(database: &Path, settings: &Settings) -> std::result::Result<Pool, OpenError> {
    Pool::start("store-reader", settings.readers, settings.queue_max, || schema::open_reader(database))
}

/// The epoch of a store, and the clock at its last write.
fn origin(connection: &Connection) -> rusqlite::Result<(u64, i64)> {
    let sql = "SELECT epoch, seen_at FROM state";
    connection.query_row(sql, [], |row| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?)))
}

#[async_trait]
impl Store for Disk {
    fn abilities(&self) -> Abilities {
        Abilities { engine: "disk", promise: "through a power cut", epoch: self.epoch, whole_view: true }
    }

    async fn ready(&self) -> Result<()> {
        self.shared.health.check()
    }

    async fn append(&self, delivery: Delivery) -> Result<Vec<Filed>> {
        let draft = Draft::of(delivery, &self.shared.press);
        self.change(move |desk| desk.append(&draft)).await
    }

    async fn list(&self, mailbox: &Mailbox, page: Page) -> Result<Listing> {
        let mailbox = mailbox.clone();
        self.view(move |view| view.list(&mailbox, page)).await
    }

    async fn recent(&self, page: RecentPage) -> Result<Listing<Item>> {
        self.view(move |view| view.recent(page)).await
    }

    async fn mailboxes(&self, page: MailboxPage<'_>) -> Result<Vec<MailboxState>> {
        let pages = Pages::from(page);
        self.view(move |view| view.mailboxes(&pages)).await
    }

    async fn position(&self, mailbox: &Mailbox) -> Result<Position> {
        let mailbox = mailbox.clone();
        self.view(move |view| view.position(&mailbox)).await
    }

    async fn read(&self, mailbox: &Mailbox, id: MessageId) -> Result<Option<Stored>> {
        let name = mailbox.clone();
        match self.view(move |view| view.read(&name, id)).await? {
            Look::Whole(stored) => Ok(Some(*stored)),
            Look::Damaged => Err(Error::Damaged { mailbox: mailbox.clone(), id }),
            Look::Absent => Ok(None),
        }
    }

    async fn delete(&self, mailbox: &Mailbox, ids: &[MessageId], jobs: Vec<NewJob>) -> Result<Vec<MessageId>> {
        let (mailbox, ids) = (mailbox.clone(), ids.to_vec());
        self.change(move |desk| desk.delete(&mailbox, &ids, &jobs)).await
    }

    async fn purge(&self, mailbox: &Mailbox, up_to: Position, jobs: Vec<NewJob>) -> Result<u64> {
        let mailbox = mailbox.clone();
        self.change(move |desk| desk.purge(&mailbox, up_to, &jobs)).await
    }

    async fn search(&self, query: &dyn Query, span: &Span, budget: Budget) -> Result<Found> {
        let mut scan = Scan::new(self, query, budget);
        match &self.index {
            Some(index) => index::search(self, index, &mut scan, span).await?,
            None => scan.walk(span).await?,
        }
        Ok(scan.found)
    }

    async fn changes(&self, scope: Scope, after: Position) -> Result<Changes> {
        let live = self.shared.feeds.follow(scope.clone());
        // Whatever transaction was open when we joined did not know of us: what it changed is in the database when the
        // writer has come to this step.
        self.change(|_| Ok(())).await?;
        if after == Position::END {
            return Ok(Box::pin(live));
        }
        let past = self.view(move |view| view.changes_since(&scope, after)).await?;
        Ok(Box::pin(Told::new(past.news, past.up_to, live)))
    }

    fn outbox(&self) -> &dyn Outbox {
        self
    }

    fn registry(&self) -> &dyn Registry {
        self
    }

    fn peers(&self) -> &dyn Peers {
        &Alone
    }
}

#[async_trait]
impl Outbox for Disk {
    async fn take(&self, kind: &str, limit: usize, lease: Duration) -> Result<Vec<Job>> {
        let (now, kind) = (self.shared.clock.now(), kind.to_owned());
        let asked = kind.clone();
        // Whoever asks in vain, again and again, shall not make the writer sync for it.
        if !self.pool.ask(move |connection| others::is_any_due(connection, &asked, now)).await? {
            return Ok(Vec::new());
        }
        self.change(move |desk| desk.take_jobs(&kind, limit, lease)).await
    }

    async fn done(&self, lease: Lease) -> Result<Handback> {
        self.change(move |desk| desk.finish_job(lease)).await
    }

    async fn retry(&self, lease: Lease, not_before: Timestamp) -> Result<Handback> {
        self.change(move |desk| desk.retry_job(lease, not_before)).await
    }

    async fn dead(&self, lease: Lease, reason: &str) -> Result<Handback> {
        let reason = reason.to_owned();
        self.change(move |desk| desk.bury_job(lease, &reason)).await
    }

    async fn submit(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>> {
        self.change(move |desk| desk.submit_jobs(&jobs)).await
    }

    async fn revive(&self, job: JobId) -> Result<Option<JobId>> {
        self.change(move |desk| desk.revive_job(job)).await
    }

    async fn dead_job(&self, job: JobId) -> Result<Option<DeadJob>> {
        self.pool.ask(move |connection| others::dead_job(connection, job)).await
    }

    async fn dead_jobs(&self, kind: &str, limit: usize) -> Result<Vec<DeadJob>> {
        let kind = kind.to_owned();
        self.pool.ask(move |connection| others::dead_jobs(connection, &kind, limit)).await
    }

    async fn waiting(&self, kind: &str) -> Result<u64> {
        let kind = kind.to_owned();
        self.pool.ask(move |connection| others::waiting(connection, &kind)).await
    }

    fn left_out(&self) -> u64 {
        self.shared.left_out.count()
    }
}

#[async_trait]
impl Registry for Disk {
    async fn get(&self, kind: &str, key: &str) -> Result<Option<Entry>> {
        let (now, kind, key) = (self.shared.clock.now(), kind.to_owned(), key.to_owned());
        let entry = self.pool.ask(move |connection| others::record(connection, &kind, &key)).await?;
        Ok(entry.filter(|entry| entry.is_live(now)))
    }

    async fn list(&self, kind: &str) -> Result<Vec<Entry>> {
        let (now, kind) = (self.shared.clock.now(), kind.to_owned());
        let mut entries = self.pool.ask(move |connection| others::records(connection, &kind)).await?;
        entries.retain(|entry| entry.is_live(now));
        Ok(entries)
    }

    async fn put(
        &self,
        kind: &str,
        key: &str,
        value: Bytes,
        expires: Option<Timestamp>,
        expect: Expect,
    ) -> Result<Put> {
        let (kind, key) = (kind.to_owned(), key.to_owned());
        self.change(move |desk| desk.put_record(&kind, &key, &value, expires, expect)).await
    }

    async fn delete(&self, kind: &str, key: &str, expect: Expect) -> Result<bool> {
        let (kind, key) = (kind.to_owned(), key.to_owned());
        self.change(move |desk| desk.delete_record(&kind, &key, expect)).await
    }

    async fn watch(&self, kind: &str) -> Result<RegistryChanges> {
        Ok(Box::pin(self.shared.feeds.follow_records(kind)))
    }
}
