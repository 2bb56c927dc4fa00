//! All mailboxes followed at once: through any node, whatever gets lost on the way, and through the death of brokers.

use std::collections::BTreeMap;
use std::time::Duration;

use brokers::{Cluster, Plan};
use futures_util::StreamExt;
use serde_json::Value;
use store::conformance::Letter;
use store::{Change, Changes, News, Position, Scope, Store};
use tokio::time::timeout;

use super::rig::{self, mailbox, open, send, settings_on, until};
use crate::{Jetstream, Settings};

/// In each of four shards lies one of these, at least.
const NAMES: [&str; 8] = ["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal"];

async fn follow(store: &Jetstream) -> Changes {
    store.changes(Scope::All, Position::END).await.expect("changes of all are streamed")
}

/// The next change: in which mailbox, and what.
async fn word(changes: &mut Changes) -> (String, String) {
    let next = timeout(Duration::from_secs(30), changes.next()).await.expect("a change comes in time");
    let News::Change(change) = next.expect("the stream goes on") else { return (String::new(), "lost".to_owned()) };
    let name = change.mailbox().as_str().to_owned();
    match change {
        Change::Delivered { summary, .. } => (name, summary.subject.clone()),
        Change::Deleted { .. } => (name, "-".to_owned()),
        Change::Purged { .. } => (name, "purged".to_owned()),
    }
}

/// The next so many changes, by mailbox, in their order.
async fn words(changes: &mut Changes, count: usize) -> BTreeMap<String, Vec<String>> {
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for _ in 0..count {
        let (name, what) = word(changes).await;
        told.entry(name).or_default().push(what);
    }
    told
}

/// So many messages, one after the other into the next mailbox, and what is told of them.
async fn send_round(store: &Jetstream, first: usize, count: usize) -> BTreeMap<String, Vec<String>> {
    let mut sent: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for number in first..first + count {
        let name = NAMES[number % NAMES.len()];
        let letter = Letter::new(format!("{number}"), &[name]);
        until(Duration::from_secs(40), "mail is taken", async || {
            store.append(letter.delivery(jiff::Timestamp::now())).await.is_ok()
        })
        .await;
        sent.entry(name.to_owned()).or_default().push(format!("{number}"));
    }
    sent
}

/// What any node does in any mailbox is told by every other one, each thing once, in the order of its mailbox.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_that_any_node_does_is_told_by_every_node() {
    let Some(settings) = rig::settings() else { return };
    let nodes = [open(&settings).await, open(&settings).await];
    let names = &nodes[0].parts.office.names;
    let mut shards: Vec<_> = NAMES.iter().map(|name| names.place(&mailbox(name)).shard).collect();
    shards.sort_unstable();
    shards.dedup();
    assert_eq!(shards, [0, 1, 2, 3], "the mailboxes lie in all shards");
    let mut watches = [follow(&nodes[0]).await, follow(&nodes[1]).await];
    for round in 0..20 {
        let (here, there) = (&nodes[round % 2], &nodes[(round + 1) % 2]);
        let name = NAMES[round % NAMES.len()];
        let id = send(here, &format!("{round}"), name).await;
        there.delete(&mailbox(name), &[id], Vec::new()).await.expect("a delete is answered");
        send(there, "kept", name).await;
        here.purge(&mailbox(name), Position::END, Vec::new()).await.expect("a purge is answered");
        for watch in &mut watches {
            for what in [&format!("{round}"), "-", "kept", "purged"] {
                assert_eq!(word(watch).await, (name.to_owned(), what.to_owned()));
            }
        }
    }
    rig::append(&nodes[0], &Letter::new("all", &NAMES)).await;
    for watch in &mut watches {
        let told = words(watch, NAMES.len()).await;
        assert!(told.len() == NAMES.len() && told.values().all(|what| what == &["all"]), "{told:?}");
    }
}

/// Who does not read holds up nobody, and is told everything when it reads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_reads_late_is_told_everything() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let mut watch = follow(&store).await;
    let mut sending = Vec::new();
    for name in NAMES {
        let store = std::sync::Arc::clone(&store);
        sending.push(tokio::spawn(async move {
            for number in 0..300 {
                send(&store, &format!("{number}"), name).await;
            }
        }));
    }
    for task in sending {
        task.await.expect("no sender panics");
    }
    let told = words(&mut watch, 8 * 300).await;
    let expected: Vec<_> = (0..300).map(|number| format!("{number}")).collect();
    assert_eq!(told.len(), 8);
    assert!(told.values().all(|what| *what == expected));
}

/// What the brokers did not tell, or what got lost on its way, is found.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_told_by_the_brokers_is_found() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let office = &store.parts.office;
    let mut watch = follow(&store).await;
    let stream = office.names.summaries(office.names.place(&mailbox("ann")).shard);
    let mut config = office.link.stream(&stream).await.expect("it is answered").expect("it is there").config;
    config.remove("republish");
    let _: Value =
        office.link.api(&format!("STREAM.UPDATE.{stream}"), &Value::Object(config)).await.expect("it is changed");
    let id = send(&store, "silent", "ann").await;
    assert_eq!(word(&mut watch).await, ("ann".to_owned(), "silent".to_owned()));
    store.delete(&mailbox("ann"), &[id], Vec::new()).await.expect("a delete is answered");
    assert_eq!(word(&mut watch).await, ("ann".to_owned(), "-".to_owned()));
}

/// Of more deletes than the brokers remember some may be missing, which is said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deletes_that_the_brokers_forgot_are_said_to_be_lost() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&Settings { messages_max: 3, ..settings }).await;
    let mut watch = follow(&store).await;
    for number in 0..5 {
        let id = send(&store, &format!("{number}"), "ann").await;
        store.delete(&mailbox("ann"), &[id], Vec::new()).await.expect("a delete is answered");
    }
    send(&store, "end", "bob").await;
    let mut told = Vec::new();
    while told.last().is_none_or(|(_, what)| what != "end") {
        told.push(word(&mut watch).await);
    }
    assert!(told.iter().any(|(_, what)| what == "lost"), "{told:?}");
}

/// Whoever follows by a broker that dies goes on by another, and misses nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f17_following_all_lives_through_the_death_of_brokers() {
    if rig::cluster().is_none() {
        return;
    }
    let mut cluster = Cluster::start(Plan::of(3)).expect("three brokers start");
    let settings = settings_on(&cluster);
    let (here, there) = (open(&settings).await, open(&settings).await);
    let mut watch = follow(&here).await;
    for server in 0..3 {
        cluster.kill(server).expect("a broker is killed");
        let sent = send_round(&there, server * 16, 16).await;
        assert_eq!(words(&mut watch, 16).await, sent);
        cluster.start_again(server).expect("it starts again");
        cluster.wait_healthy(Duration::from_secs(60)).expect("all are healthy again");
    }
    let sent = send_round(&there, 48, 8).await;
    assert_eq!(words(&mut watch, 8).await, sent);
}

/// After an outage that is longer than deletes are remembered, something may be missing: it is said, and goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_long_outage_something_is_said_to_be_lost() {
    if rig::cluster().is_none() {
        return;
    }
    let mut cluster = Cluster::start(Plan::of(1)).expect("a broker starts");
    let settings = Settings { retention: Some(Duration::from_secs(9)), ..settings_on(&cluster) };
    let store = open(&settings).await;
    let mut watch = follow(&store).await;
    let sent = send_round(&store, 0, 4).await;
    assert_eq!(words(&mut watch, 4).await, sent);
    cluster.kill(0).expect("the broker is killed");
    tokio::time::sleep(Duration::from_secs(8)).await;
    cluster.start_again(0).expect("it starts again");
    assert_eq!(word(&mut watch).await.1, "lost");
    let sent = send_round(&store, 4, 8).await;
    assert_eq!(words(&mut watch, 8).await, sent);
}
