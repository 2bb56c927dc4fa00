//! The one page of wiring: every room is made here and given the others it needs. The only file that names an engine; the
//! doors are hung in the file beside it.

mod doors;
mod leaving;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use mailroom::access::Keys;
use mailroom::{Mailroom, Say, Senders};
use net::{Lanes, Stopper};
use store::{Memory, SystemClock};
use store_disk::Disk;
#[cfg(feature = "jetstream")]
use store_jetstream::Jetstream;
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::announce::Started;
use crate::config::{self, Config, Engine, Size, Store, Time};
#[cfg(feature = "script")]
use crate::script;
use crate::signals::Signals;
use crate::{certificate, counters, keys, limits, log, users};

/// What has not finished within the grace has so long to say its last word.
const LAST_WORD: Duration = Duration::from_secs(2);
/// How often, and how much at a time, mail is let go whose time has come.
const SWEEP_EVERY: Duration = Duration::from_secs(5);
const SWEEP_MESSAGES: usize = 100_000;
/// How often rates are forgotten that are whole again.
pub(crate) const FORGET_EVERY: Duration = Duration::from_secs(30);

const NO_THREADS: &str = "cannot start the threads; lower runtime.workers or allow this user more";

/// Serve until asked to stop. The doubts about the configuration are told in the log.
pub(crate) fn serve(mut config: Config, doubts: &[String]) -> Result<ExitCode> {
    log::start(config.log_level, config.log_format);
    let workers = config.workers.unwrap_or_else(|| thread::available_parallelism().map_or(1, Into::into));
    let cut = limits::fit(&mut config, workers);
    doubts.iter().chain(&cut).for_each(|doubt| tracing::warn!("{doubt}"));
    // Connections run in the lanes; what is left for this thread is to accept them, to sweep and to hear signals.
    let runtime = Builder::new_current_thread().enable_all().build().context(NO_THREADS)?;
    let lanes = Lanes::open(workers).context(NO_THREADS)?;
    let code = runtime.block_on(run(config, lanes));
    // What still runs was told to end and did not: it is not waited for.
    runtime.shutdown_background();
    code
}

async fn run(mut config: Config, lanes: Arc<Lanes>) -> Result<ExitCode> {
    let mut signals = Signals::hear().context("cannot hear signals")?;
    let counters = counters::start()?;
    let page = web::Page::read(config.page_folder.as_deref())?;
    let begun = certificate::begin(&config.tls, &config.smtp.hostname)?;
    let bound = doors::bind(&config.doors, begun.as_ref().map(|begun| &begun.tls))?;
    config.http.told.smtp = bound.smtp(&config.smtp, begun.is_some());
    let started = Started {
        listeners: bound.told()?,
        look: config.http.public_url.clone(),
        kept: kept(&config.store),
        trust: begun.as_ref().and_then(|begun| begun.trust.clone()),
    };
    let (stopper, stop) = net::stop::channel();
    let grace = config.stop_grace;
    let format = config.log_format;
    let mut servers = JoinSet::new();
    let Opened { engine, close } = tokio::select! {
        opened = open(&config.store, &mut servers) => opened?,
        // Brokers may keep us waiting.
        _ = signals.next() => return Ok(ExitCode::SUCCESS),
    };
    let mailroom = mailroom(engine, &config, &mut servers).await?;
    mailroom.join().await.context("the other nodes cannot be answered; check the connection to the brokers")?;
    leaving::start(&config, &mailroom, outside(&config), started.base_url(), stop.clone())?;
    doors::open(&mut servers, bound, doors::Behind { config, mailroom, page, begun, counters, lanes, stop })?;
    started.tell(format);
    started.ready();
    let code = end(signals, stopper, servers, grace).await?;
    if code == ExitCode::SUCCESS {
        close();
    }
    Ok(code)
}

/// The mailroom, with those who may sign in, and with what its records say of tokens and logins.
async fn mailroom(engine: Arc<dyn store::Store>, config: &Config, servers: &mut JoinSet<()>) -> Result<Arc<Mailroom>> {
    let mut settings = config.mailroom.clone();
    settings.access.keys = keys(config)?;
    if let Some(path) = &config.guards.users {
        let (roll, watched) = users::read_first(path)?;
        settings.senders = Senders::List(Arc::clone(&roll));
        servers.spawn(users::watch(watched, roll));
    }
    settings.hooks = say(config, servers)?;
    let mailroom = Mailroom::new(engine, settings);
    let recalled = mailroom.recall().await.context("cannot read the tokens that were issued; start again")?;
    servers.spawn(recalled);
    servers.spawn(forget(Arc::clone(&mailroom)));
    Ok(mailroom)
}

/// Who has a say about mail: the scripts.
#[cfg(feature = "script")]
fn say(config: &Config, servers: &mut JoinSet<()>) -> Result<Say> {
    let Some(path) = &config.script.path else { return Ok(Say::default()) };
    let (scripts, watched) = script::start(path, &config.script, outside(config))?;
    servers.spawn(script::watch(watched, Arc::clone(&scripts)));
    Ok(Say(Some(scripts)))
}

#[cfg(not(feature = "script"))]
fn say(config: &Config, _servers: &mut JoinSet<()>) -> Result<Say> {
    if config.script.path.is_some() {
        bail!(
            "script.path: this program was built without scripts; build it with the feature script, or leave it empty"
        );
    }
    Ok(Say::default())
}

/// The one client for everything that leaves. Its connections live on the runtime that asks, so each has one of its own.
pub(crate) fn outside(config: &Config) -> outbound::Client {
    outbound::Client::new(config.outbound.clone())
}

/// What inboxes are made with: a file that was named, or what fits the engine. On a cluster nothing fits but a file.
fn keys(config: &Config) -> Result<Option<Keys>> {
    match (&config.key_file, &config.store.engine) {
        (Some(path), _) => Ok(Some(keys::read(path)?)),
        (None, Engine::Memory(_)) => Ok(Some(Keys::make()?)),
        (None, Engine::Disk(disk)) => Ok(Some(keys::read_or_make(&disk.path.join(keys::FILE))?)),
        (None, Engine::Jetstream(_)) => Ok(None),
    }
}

/// Rates that are whole again need not be remembered.
async fn forget(mailroom: Arc<Mailroom>) {
    loop {
        tokio::time::sleep(FORGET_EVERY).await;
        mailroom.forget_idle();
    }
}

/// An engine, and how it is closed when everybody has ended.
struct Opened {
    engine: Arc<dyn store::Store>,
    close: Box<dyn FnOnce()>,
}

/// Open the engine.
async fn open(store: &Store, servers: &mut JoinSet<()>) -> Result<Opened> {
    match &store.engine {
        Engine::Memory(keys) => Ok(Opened { engine: open_memory(store, keys, servers), close: Box::new(|| ()) }),
        Engine::Disk(keys) => {
            let disk = Arc::new(Disk::open(disk_settings(store, keys), Arc::new(SystemClock))?);
            let closing = Arc::clone(&disk);
            Ok(Opened { engine: disk, close: Box::new(move || closing.close()) })
        }
        Engine::Jetstream(keys) => open_jetstream(store, keys).await,
    }
}

#[cfg(feature = "jetstream")]
async fn open_jetstream(store: &Store, keys: &config::Jetstream) -> Result<Opened> {
    let settings = jetstream_settings(store, keys);
    let jetstream = Arc::new(Jetstream::open(settings, Arc::new(SystemClock)).await?);
    let closing = Arc::clone(&jetstream);
    Ok(Opened { engine: jetstream, close: Box::new(move || closing.close()) })
}

#[cfg(not(feature = "jetstream"))]
async fn open_jetstream(_store: &Store, _keys: &config::Jetstream) -> Result<Opened> {
    bail!(
        "this program was built without the engine \"jetstream\"; build it with the feature jetstream, or choose another"
    )
}

fn open_memory(store: &Store, keys: &config::Memory, servers: &mut JoinSet<()>) -> Arc<dyn store::Store> {
    let memory = Arc::new(Memory::new(memory_settings(store, keys), Arc::new(SystemClock)));
    if store.retention.is_some() {
        servers.spawn(sweep(Arc::clone(&memory)));
    }
    memory
}

pub(crate) fn memory_settings(store: &Store, keys: &config::Memory) -> store::memory::Settings {
    store::memory::Settings {
        bytes_max: keys.bytes_max,
        messages_max: store.messages_max,
        retention: store.retention,
        changes_max: keys.changes_max,
        lag_max: keys.lag_max,
        jobs_bytes_max: keys.jobs_bytes_max,
        dead_jobs_max: keys.dead_jobs_max,
        registry_bytes_max: keys.registry_bytes_max,
    }
}

pub(crate) fn disk_settings(store: &Store, keys: &config::Disk) -> store_disk::Settings {
    store_disk::Settings {
        path: keys.path.clone(),
        bytes_max: keys.bytes_max,
        free_min: keys.free_min,
        messages_max: store.messages_max,
        retention: store.retention,
        jump_hold: keys.jump_hold,
        changes_max: keys.changes_max,
        lag_max: keys.lag_max,
        jobs_bytes_max: keys.jobs_bytes_max,
        dead_jobs_max: keys.dead_jobs_max,
        registry_bytes_max: keys.registry_bytes_max,
        queue_max: keys.queue_max,
        wait_max: keys.wait_max,
        readers: keys.readers,
        search: store_disk::Search { index_max: keys.index_max, text_max: keys.index_text_max },
    }
}

#[cfg(feature = "jetstream")]
pub(crate) fn jetstream_settings(store: &Store, keys: &config::Jetstream) -> store_jetstream::Settings {
    let keys = keys.clone();
    store_jetstream::Settings {
        urls: keys.urls,
        credentials: keys.credentials,
        tls_ca: keys.tls_ca,
        tls_cert: keys.tls_cert,
        tls_key: keys.tls_key,
        prefix: keys.prefix,
        replicas: keys.replicas,
        shards: keys.shards,
        body_shards: keys.body_shards,
        sync_waived: keys.sync_waived,
        bytes_max: keys.bytes_max,
        messages_max: store.messages_max,
        retention: store.retention,
        wait_max: keys.wait_max,
        jobs_max: keys.jobs_max,
        dead_jobs_max: keys.dead_jobs_max,
        registry_bytes_max: keys.registry_bytes_max,
        bodies_max: keys.bodies_max,
    }
}

/// Let go what has lapsed, also while nobody calls.
async fn sweep(memory: Arc<Memory>) {
    loop {
        tokio::time::sleep(SWEEP_EVERY).await;
        memory.sweep(SWEEP_MESSAGES);
    }
}

/// Where mail is kept, for a person.
fn kept(store: &Store) -> String {
    let (place, bytes) = match &store.engine {
        Engine::Memory(memory) => ("in memory, until this program ends".to_owned(), Some(memory.bytes_max)),
        Engine::Disk(disk) => (format!("in {}, through a power cut", disk.path.display()), disk.bytes_max),
        Engine::Jetstream(keys) => (on_brokers(keys), keys.bytes_max),
    };
    let mut bounds: Vec<_> = bytes.map(|bytes| format!("{} in all", Size(bytes))).into_iter().collect();
    if store.messages_max != 0 {
        bounds.push(format!("{} messages in a mailbox", store.messages_max));
    }
    bounds.extend(store.retention.map(|time| format!("for {}", Time(time))));
    match bounds.is_empty() {
        true => place,
        false => format!("{place}; at most {}", bounds.join(", ")),
    }
}

fn on_brokers(keys: &config::Jetstream) -> String {
    let places = keys.places();
    let brokers = if places.len() == 1 { "broker" } else { "brokers" };
    let promise = match (keys.replicas, keys.sync_waived) {
        (1, false) => "through a power cut",
        (1, true) => "as long as it has power",
        (5, false) => "through the loss of any two machines",
        (5, true) => "through the loss of any two machines, but not of power to all",
        (_, false) => "through the loss of any one machine",
        (_, true) => "through the loss of any one machine, but not of power to all",
    };
    format!("on the {brokers} at {}, {promise}", places.join(", "))
}

/// Wait to be asked to stop, and stop: at once when asked again.
async fn end(
    mut signals: Signals,
    mut stopper: Stopper,
    mut servers: JoinSet<()>,
    grace: Duration,
) -> Result<ExitCode> {
    let asked = tokio::select! {
        asked = signals.next() => asked,
        _ = servers.join_next() => bail!("a part of the server broke down, see the log; start the program again"),
    };
    tracing::debug!(?asked, "stopping");
    tokio::select! {
        finished = stopper.drain(grace, LAST_WORD) => {
            if !finished {
                tracing::warn!("not everything was finished within stop.grace; what was left got cut off");
            }
            Ok(ExitCode::SUCCESS)
        }
        again = signals.next() => Ok(again.unfinished()),
    }
}

// --- for the owner of a store on a disk ---

pub(crate) use leaving::webhook;
pub(crate) use store_disk::check as checking;

/// A store that is looked at, and which of its messages were found damaged so far.
pub(crate) struct Looked {
    pub(crate) store: Arc<dyn store::Store>,
    pub(crate) damaged: Box<dyn Fn() -> Vec<mail::MessageId>>,
}

/// Look into a store, perhaps beside a server that has it.
pub(crate) fn look(path: &Path) -> Result<Looked> {
    let disk = Arc::new(Disk::look(path, Arc::new(SystemClock))?);
    let damaged = Arc::clone(&disk);
    Ok(Looked { store: disk, damaged: Box::new(move || damaged.damaged()) })
}

/// Take a store for this process, to add to it. Age and cap take nothing meanwhile: the configuration that rules them is
/// the server's, which this one need not be.
pub(crate) fn take(path: &Path, store: &Store) -> Result<Arc<dyn store::Store>> {
    let settings = match &store.engine {
        Engine::Disk(keys) => disk_settings(store, keys),
        Engine::Memory(_) | Engine::Jetstream(_) => store_disk::Settings::new(path),
    };
    // What is added is indexed by the server that comes after.
    let search = store_disk::Search { index_max: 0, ..settings.search };
    let settings = store_disk::Settings { path: path.to_owned(), messages_max: 0, retention: None, search, ..settings };
    match Disk::open(settings, Arc::new(SystemClock)) {
        Err(store_disk::OpenError::InUse { path, holder }) => bail!(
            "{} is in use by a server (process {holder}); hand the mail to that one, as --server http://127.0.0.1:8025, or \
             stop it",
            path.display()
        ),
        opened => Ok(Arc::new(opened?)),
    }
}

/// Check a store.
pub(crate) fn check(
    path: &Path,
    depth: checking::Depth,
    tell: &mut dyn FnMut(checking::Told<'_>),
) -> Result<checking::Checked> {
    Ok(checking::check(path, depth, tell)?)
}

/// Copy a store.
pub(crate) fn backup(path: &Path, to: &Path, tell: &mut dyn FnMut(u64, u64)) -> Result<store_disk::backup::Backed> {
    Ok(store_disk::backup::backup(path, to, tell)?)
}

/// Whether a verb failed because there is no store where one was looked for.
pub(crate) fn is_no_store(error: &anyhow::Error) -> bool {
    use store_disk::OpenError::{Foreign, Link, Missing, NotADirectory};
    use store_disk::backup::BackupError;
    let source = match error.downcast_ref::<BackupError>() {
        Some(BackupError::Source(source)) => Some(source),
        Some(_) => None,
        None => error.downcast_ref::<store_disk::OpenError>(),
    };
    matches!(source, Some(Foreign { .. } | Link { .. } | Missing { .. } | NotADirectory { .. }))
}

/// Run one thing to its end.
pub(crate) fn block_on<T>(doing: impl Future<Output = T>) -> Result<T> {
    Ok(Builder::new_current_thread().enable_all().build().context(NO_THREADS)?.block_on(doing))
}

#[cfg(test)]
mod tests;
