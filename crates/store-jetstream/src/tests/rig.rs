//! Brokers for the tests of this process, stores on them that nobody else uses, and short words for what tests do.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use brokers::{Cluster, Plan};
use mail::{Mailbox, MessageId};
use store::conformance::Letter;
use store::list::{Order, Page};
use store::{Clock as _, Store, SystemClock};
use tokio::time::{Instant, sleep};

use crate::{Jetstream, Settings};

static CLUSTER: OnceLock<Option<Mutex<Cluster>>> = OnceLock::new();

/// The three brokers that the tests share; none when these tests are to be passed over.
pub(super) fn cluster() -> Option<MutexGuard<'static, Cluster>> {
    let cluster = CLUSTER.get_or_init(|| {
        let server = brokers::nats_server().unwrap_or_else(|error| panic!("{error:#}"));
        server.map(|_| Mutex::new(Cluster::start(Plan::of(3)).expect("three brokers start")))
    });
    cluster.as_ref().map(|cluster| cluster.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Settings for a store of its own on the shared brokers.
pub(super) fn settings() -> Option<Settings> {
    let cluster = cluster()?;
    let settings = Settings::new(cluster.urls(), cluster.prefix());
    Some(Settings { replicas: 3, shards: 4, body_shards: 2, ..settings })
}

/// Settings for a store on brokers of its own.
pub(super) fn settings_on(cluster: &Cluster) -> Settings {
    let settings = Settings::new(cluster.urls(), cluster.prefix());
    let replicas = if cluster.len() < 3 { 1 } else { 3 };
    Settings { replicas, shards: 4, body_shards: 2, ..settings }
}

/// A process over a store.
pub(super) async fn open(settings: &Settings) -> Arc<Jetstream> {
    let opened = Jetstream::open(settings.clone(), Arc::new(SystemClock)).await;
    Arc::new(opened.unwrap_or_else(|error| panic!("{error}")))
}

pub(super) fn mailbox(name: &str) -> Mailbox {
    Mailbox::from_canonical(name)
}

/// Append a letter, which must succeed.
pub(super) async fn append(store: &Jetstream, letter: &Letter) -> Vec<MessageId> {
    let filed = store.append(letter.delivery(SystemClock.now())).await.expect("an append succeeds");
    filed.into_iter().map(|filed| filed.id).collect()
}

pub(super) async fn send(store: &Jetstream, subject: &str, to: &str) -> MessageId {
    append(store, &Letter::new(subject, &[to])).await[0]
}

/// The subjects in a mailbox, oldest first.
pub(super) async fn subjects(store: &Jetstream, name: &str) -> Vec<String> {
    let all = Page { after: None, limit: 10_000, order: Order::Oldest };
    let listing = store.list(&mailbox(name), all).await.expect("a list is answered");
    listing.items.iter().map(|summary| summary.subject.clone()).collect()
}

/// Wait until something is so.
pub(super) async fn until(within: Duration, what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + within;
    while !is_so().await {
        assert!(Instant::now() < end, "{what} within {within:?}");
        sleep(Duration::from_millis(20)).await;
    }
}
