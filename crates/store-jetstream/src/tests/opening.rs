//! What the engine refuses to open, and how it takes over what others left.

use std::sync::Arc;
use std::time::Duration;

use brokers::{Accounts, Cluster, Plan, Sync};
use store::{Error, Store, SystemClock};

use super::rig::{self, open, send, settings_on, subjects, until};
use crate::{Jetstream, OpenError, Settings};

async fn refusal(settings: &Settings) -> OpenError {
    match Jetstream::open(settings.clone(), Arc::new(SystemClock)).await {
        Ok(_) => panic!("it opened"),
        Err(error) => error,
    }
}

/// Brokers that acknowledge before they sync are refused, with a sentence that says what to do, unless that is waived.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn brokers_that_do_not_sync_are_refused() {
    if rig::cluster().is_none() {
        return;
    }
    let lazy = Cluster::start(Plan { sync: Sync::Default, ..Plan::of(1) }).expect("a broker starts");
    let settings = settings_on(&lazy);
    let error = refusal(&settings).await;
    assert!(matches!(error, OpenError::NotSynced { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("sync_interval: always") && text.contains("sync_waived") && text.contains("n1"), "{text}");
    let store = open(&Settings { sync_waived: true, ..settings }).await;
    send(&store, "1", "ann").await;
    assert_eq!(subjects(&store, "ann").await, ["1"]);
}

/// Brokers that do not say whether they sync are refused as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn brokers_that_do_not_say_are_refused() {
    if rig::cluster().is_none() {
        return;
    }
    let silent = Cluster::start(Plan { accounts: Accounts::Open, ..Plan::of(1) }).expect("a broker starts");
    let error = refusal(&settings_on(&silent)).await;
    assert!(matches!(error, OpenError::NotSynced { .. }), "{error}");
    assert!(error.to_string().contains("postkeep.jsz"), "{error}");
}

/// A store is opened with the layout it was made with, or not at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_layout_is_refused() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    send(&store, "1", "ann").await;
    for other in [Settings { shards: 8, ..settings.clone() }, Settings { body_shards: 1, ..settings.clone() }] {
        let error = refusal(&other).await;
        assert!(matches!(error, OpenError::OtherLayout { .. }), "{error}");
        assert!(error.to_string().contains("another store.jetstream.prefix"), "{error}");
    }
    assert_eq!(subjects(&store, "ann").await, ["1"]);
}

/// Who starts last sets cap and age for all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_start_sets_cap_and_age() {
    let Some(settings) = rig::settings() else { return };
    let first = open(&settings).await;
    for subject in ["1", "2", "3"] {
        send(&first, subject, "ann").await;
    }
    let second = open(&Settings { messages_max: 2, retention: Some(Duration::from_secs(3600)), ..settings }).await;
    assert_eq!(subjects(&second, "ann").await, ["2", "3"]);
    send(&first, "4", "ann").await;
    assert_eq!(subjects(&first, "ann").await, ["3", "4"]);
}

/// Without any broker it says where it looked, without passwords, and gives up in time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_there_is_said() {
    let settings = Settings::new(vec!["nats://ann:secret@127.0.0.1:1".to_owned()], "postkeep");
    let error = refusal(&Settings { wait_max: Duration::from_millis(500), ..settings }).await.to_string();
    assert!(error.contains("nats://127.0.0.1:1") && error.contains("store.jetstream.urls"), "{error}");
    assert!(!error.contains("secret"), "{error}");
}

/// A stream that somebody deleted is made anew: mail is taken again, and ids go on above those given before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f20_a_deleted_stream_is_made_anew() {
    if rig::cluster().is_none() {
        return;
    }
    let cluster = Cluster::start(Plan::of(1)).expect("a broker starts");
    let settings = Settings { shards: 1, body_shards: 1, wait_max: Duration::from_secs(20), ..settings_on(&cluster) };
    let store = open(&settings).await;
    let before = send(&store, "1", "ann").await;
    until(Duration::from_secs(10), "it is ready", async || store.ready().await.is_ok()).await;
    let operator = Settings { urls: cluster.operator_urls(), ..settings.clone() };
    let link = crate::wire::Link::open(&operator).await.expect("the operator connects");
    let stream = store.parts.office.names.summaries(0);
    let deleted: Result<serde_json::Value, _> =
        link.api(&format!("STREAM.DELETE.{stream}"), &serde_json::Value::Null).await;
    deleted.expect("the operator may delete it");
    until(Duration::from_secs(10), "it is seen", async || store.ready().await.is_err()).await;
    until(Duration::from_secs(20), "mail is taken again", async || store.ready().await.is_ok()).await;
    let after = send(&store, "2", "ann").await;
    assert!(after > before, "{after} after {before}");
    assert_eq!(subjects(&store, "ann").await, ["2"]);
}

/// Readiness tells within two seconds that the only broker died, and by itself that it is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f17_readiness_follows_the_broker() {
    if rig::cluster().is_none() {
        return;
    }
    let mut cluster = Cluster::start(Plan::of(1)).expect("a broker starts");
    let store = open(&settings_on(&cluster)).await;
    until(Duration::from_secs(10), "it is ready", async || store.ready().await.is_ok()).await;
    cluster.kill(0).expect("the broker is killed");
    until(Duration::from_secs(6), "it is not ready", async || store.ready().await.is_err()).await;
    cluster.start_again(0).expect("it starts again");
    until(Duration::from_secs(30), "it is ready again", async || store.ready().await.is_ok()).await;
    cluster.pause(0).expect("the broker is paused");
    until(Duration::from_secs(15), "it is not ready", async || store.ready().await.is_err()).await;
    let ann = rig::mailbox("ann");
    let refused = store.position(&ann);
    assert!(matches!(tokio::time::timeout(Duration::from_secs(30), refused).await, Ok(Err(Error::TryLater { .. }))));
    cluster.resume(0).expect("the broker goes on");
    until(Duration::from_secs(30), "it is ready again", async || store.ready().await.is_ok()).await;
}
