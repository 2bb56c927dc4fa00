//! Several processes over one store: what one does, the others see at once.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use brokers::{Cluster, Plan};
use futures_util::StreamExt;
use store::conformance::Letter;
use store::list::{Order, Page};
use store::{Change, Changes, Clock as _, News, Position, Scope, Store, SystemClock};
use tokio::time::timeout;

use super::rig::{self, mailbox, open, send, subjects, until};

async fn next(changes: &mut Changes) -> News {
    timeout(Duration::from_secs(30), changes.next()).await.expect("a change comes in time").expect("the stream goes on")
}

/// The next change in short.
async fn word(changes: &mut Changes) -> String {
    match next(changes).await {
        News::Change(Change::Delivered { summary, .. }) => format!("+ {}", summary.subject),
        News::Change(Change::Deleted { .. }) => "-".to_owned(),
        News::Change(Change::Purged { .. }) => "purged".to_owned(),
        News::Lost { .. } => "lost".to_owned(),
    }
}

/// What one node was told is stored, deleted or purged, the next list of any other shows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_sees_at_once_what_another_did() {
    let Some(settings) = rig::settings() else { return };
    let (here, there) = (open(&settings).await, open(&settings).await);
    for round in 0..150 {
        let name = format!("box{}", round % 7);
        let id = send(&here, &format!("{round}"), &name).await;
        assert_eq!(subjects(&there, &name).await.last(), Some(&format!("{round}")));
        assert!(there.read(&mailbox(&name), id).await.expect("a read is answered").is_some());
        match round % 3 {
            0 => {
                there.delete(&mailbox(&name), &[id], Vec::new()).await.expect("a delete is answered");
                assert!(!subjects(&here, &name).await.contains(&format!("{round}")));
                assert!(here.read(&mailbox(&name), id).await.expect("a read is answered").is_none());
            }
            1 => {
                there.purge(&mailbox(&name), Position::END, Vec::new()).await.expect("a purge is answered");
                assert!(subjects(&here, &name).await.is_empty());
            }
            _ => {}
        }
    }
}

/// A watch through one node carries what every node did, in order, and one that comes back goes on where it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_carries_what_every_node_did() {
    let Some(settings) = rig::settings() else { return };
    let nodes = [open(&settings).await, open(&settings).await, open(&settings).await];
    let scope = || Scope::Mailbox(mailbox("ann"));
    let mut changes = nodes[0].changes(scope(), Position::END).await.expect("changes are streamed");
    let mut seen = Position::START;
    for round in 0..60 {
        let id = send(&nodes[round % 3], &format!("{round}"), "ann").await;
        send(&nodes[round % 3], "elsewhere", "bob").await;
        assert_eq!(word(&mut changes).await, format!("+ {round}"));
        if round % 10 == 5 {
            nodes[(round + 1) % 3].delete(&mailbox("ann"), &[id], Vec::new()).await.expect("a delete is answered");
            assert_eq!(word(&mut changes).await, "-");
        }
        if round == 30 {
            seen = id.into();
        }
    }
    let mut again = nodes[1].changes(scope(), seen).await.expect("changes are streamed");
    let mut told = Vec::new();
    // The message of round 35 is told or not, as it has gone since; its delete is told, and so on.
    while told.last().is_none_or(|last| last != "+ 59") {
        told.push(word(&mut again).await);
    }
    let kept: Vec<_> = (31..60).filter(|round| round % 10 != 5).map(|round| format!("+ {round}")).collect();
    assert_eq!(told.iter().filter(|word| kept.contains(word)).count(), kept.len(), "{told:?}");
    assert_eq!(told.iter().filter(|word| *word == "-").count(), 3);
}

/// A list that is made while mail comes and goes lacks nothing of what lies before the position it tells.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_lacks_nothing_before_its_position() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let mut old = Vec::new();
    for _ in 0..150 {
        old.push(send(&store, "old", "ann").await);
    }
    let sending = tokio::spawn({
        let store = Arc::clone(&store);
        async move {
            for _ in 0..300 {
                send(&store, "new", "ann").await;
            }
        }
    });
    let deleting = tokio::spawn({
        let store = Arc::clone(&store);
        async move {
            for id in old {
                store.delete(&mailbox("ann"), &[id], Vec::new()).await.expect("a delete is answered");
            }
        }
    });
    let page = || Page { after: None, limit: 10_000, order: Order::Oldest };
    let mut lists = Vec::new();
    while !(sending.is_finished() && deleting.is_finished()) {
        lists.push(store.list(&mailbox("ann"), page()).await.expect("a list is answered"));
    }
    let last = store.list(&mailbox("ann"), page()).await.expect("a list is answered");
    assert_eq!(last.items.len(), 300);
    for list in lists {
        let shown: HashSet<_> = list.items.iter().map(|summary| summary.id).collect();
        let lacking = last
            .items
            .iter()
            .find(|summary| Position::from(summary.id) <= list.position && !shown.contains(&summary.id));
        assert!(
            lacking.is_none(),
            "{:?} is not in a list up to {:?}",
            lacking.map(|lacking| lacking.id),
            list.position
        );
    }
}

/// What is read is current only as long as the mailbox's last line is the one that was read: who was cut off and reads an
/// old one is told so by a majority, and a purge that finds nothing asks before it says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f16_an_old_view_of_a_mailbox_is_known_as_old() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let (office, ann) = (&store.parts.office, mailbox("ann"));
    let place = office.names.place(&ann);
    let look = async || office.log(&ann, 0, office.patience()).await.expect("it is answered");
    let is_current =
        async |log: &crate::log::Log| office.is_current(&place, log, office.patience()).await.expect("asked");
    let empty = look().await;
    assert!(is_current(&empty).await);
    send(&store, "1", "ann").await;
    assert!(!is_current(&empty).await, "a message came since");
    let one = look().await;
    assert!(is_current(&one).await);
    send(&store, "elsewhere", "bob").await;
    assert!(is_current(&one).await, "nothing came here");
    send(&store, "2", "ann").await;
    assert!(!is_current(&one).await);
    assert_eq!(store.purge(&ann, Position::END, Vec::new()).await.expect("a purge is answered"), 2);
    assert_eq!(store.purge(&ann, Position::END, Vec::new()).await.expect("a purge is answered"), 0);
}

/// A watcher that names a position of some other store is told that it lost something, and then what comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_position_of_another_store_is_lost() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let id = send(&store, "1", "ann").await;
    let beyond = Position(id.number() + 1_000_000);
    let mut changes = store.changes(Scope::Mailbox(mailbox("ann")), beyond).await.expect("changes are streamed");
    let News::Lost { position } = next(&mut changes).await else { panic!("it lost something") };
    assert_eq!(position, id.into());
    send(&store, "2", "ann").await;
    assert_eq!(word(&mut changes).await, "+ 2");
}

/// A watch lives through the death of the broker it came by, and misses nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f17_a_watch_lives_through_the_death_of_brokers() {
    if rig::cluster().is_none() {
        return;
    }
    let mut cluster = Cluster::start(Plan::of(3)).expect("three brokers start");
    let settings = rig::settings_on(&cluster);
    let (here, there) = (open(&settings).await, open(&settings).await);
    let mut changes = here.changes(Scope::Mailbox(mailbox("ann")), Position::END).await.expect("changes are streamed");
    let mut sent = 0;
    for server in 0..3 {
        cluster.kill(server).expect("a broker is killed");
        for _ in 0..5 {
            let letter = Letter::new(format!("{sent}"), &["ann", "dan", "eve"]);
            until(Duration::from_secs(40), "mail is taken again", async || {
                there.append(letter.delivery(jiff::Timestamp::now())).await.is_ok()
            })
            .await;
            sent += 1;
        }
        cluster.start_again(server).expect("it starts again");
        cluster.wait_healthy(Duration::from_secs(60)).expect("all are healthy again");
    }
    for round in 0..sent {
        assert_eq!(word(&mut changes).await, format!("+ {round}"));
    }
    assert_eq!(subjects(&here, "ann").await.len(), sent);
}

/// Names made to reach into subjects reach nothing but their own mailbox.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t079_hostile_names_have_mailboxes_of_their_own() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let hostile =
        ["*", ">", "a.b", "a", "b", " ", "a b", "$JS.API.>", "ann.m", "ann.*", "ann.>", "ann", "\u{e9}", "_INBOX.x"];
    for name in hostile {
        // Its name is the policy's business, and no address leads to some of these.
        let mut delivery = Letter::new(format!("for {name}"), &["ann"]).delivery(SystemClock.now());
        delivery.copies[0].mailbox = mailbox(name);
        store.append(delivery).await.expect("an append succeeds");
    }
    for name in hostile {
        assert_eq!(subjects(&store, name).await, [format!("for {name}")]);
    }
    store.purge(&mailbox("*"), Position::END, Vec::new()).await.expect("a purge is answered");
    store.purge(&mailbox(">"), Position::END, Vec::new()).await.expect("a purge is answered");
    for name in &hostile[2..] {
        assert_eq!(subjects(&store, name).await.len(), 1, "{name}");
    }
}
