//! Nodes that come, ask, answer and go.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use store::{Error, Gathered, Peers as _};

use super::Peers;
use crate::registry::rig::{Rig, soon};

const WITHIN: Duration = Duration::from_secs(10);

async fn node(rig: &Rig, name: &'static str) -> Peers {
    let peers = Peers::new(rig.node().await);
    let answer = move |question: Bytes| Bytes::from(format!("{name}: {}", String::from_utf8_lossy(&question)));
    peers.answer("tests", Arc::new(answer)).await.expect("questions are answered");
    peers
}

async fn ask(peers: &Peers) -> Gathered {
    let asking = peers.ask("tests", Bytes::from_static(b"who?"), WITHIN);
    tokio::time::timeout(WITHIN / 2, asking).await.expect("it ends when all have answered").expect("others are asked")
}

async fn answers(peers: &Peers) -> (usize, Vec<String>) {
    let Gathered { asked, answers } = ask(peers).await;
    let mut answers: Vec<_> = answers.iter().map(|answer| String::from_utf8_lossy(answer).into_owned()).collect();
    answers.sort();
    (asked, answers)
}

fn said(names: &[&str]) -> (usize, Vec<String>) {
    (names.len(), names.iter().map(|name| format!("{name}: who?")).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_know_each_other_as_soon_as_they_come() {
    let Some(rig) = Rig::new() else { return };
    let ann = node(&rig, "ann").await;
    assert_eq!(answers(&ann).await, said(&[]));
    let bob = node(&rig, "bob").await;
    assert_eq!(answers(&bob).await, said(&["ann"]));
    assert_eq!(answers(&ann).await, said(&["bob"]));
    let cat = node(&rig, "cat").await;
    assert_eq!(answers(&cat).await, said(&["ann", "bob"]));
    assert_eq!(answers(&ann).await, said(&["bob", "cat"]));
    assert_eq!(answers(&bob).await, said(&["ann", "cat"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_went_are_forgotten() {
    let Some(rig) = Rig::new() else { return };
    let (ann, bob) = (node(&rig, "ann").await, node(&rig, "bob").await);
    assert_eq!(answers(&ann).await, said(&["bob"]));
    drop(bob);
    let question = || ann.ask("tests", Bytes::new(), Duration::from_millis(50));
    soon(async { while question().await.expect("others are asked").asked > 0 {} }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_do_not_answer_are_not_waited_for_beyond_the_time() {
    let Some(rig) = Rig::new() else { return };
    let (ann, bob) = (node(&rig, "ann").await, Peers::new(rig.node().await));
    let cat = Peers::new(rig.node().await);
    for asker in [&cat, &ann] {
        let asking = soon(asker.ask("others", Bytes::new(), Duration::from_millis(50))).await;
        assert_eq!(asking.expect("others are asked"), Gathered { asked: 2, answers: Vec::new() });
    }
    let asking = bob.ask("tests", Bytes::from_static(b"who?"), Duration::from_millis(300));
    let gathered = soon(asking).await.expect("others are asked");
    assert_eq!((gathered.asked, gathered.answers), (2, vec![Bytes::from_static(b"ann: who?")]));
    drop(cat);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_broker_nobody_can_be_asked() {
    let Some(rig) = Rig::new() else { return };
    let (bob, wire) = (node(&rig, "bob").await, rig.wire().await);
    let office = rig.node_over(&wire).await;
    let ann = Peers::new(Arc::clone(&office));
    assert_eq!(answers(&ann).await, said(&["bob"]));
    wire.close();
    soon(async {
        while office.link.stands() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let asking = ann.ask("tests", Bytes::new(), WITHIN).await;
    assert!(matches!(asking, Err(Error::TryLater { .. })), "{asking:?}");
    drop(bob);
}
