//! Bounds that the brokers keep by their own clocks, bodies of all sizes, and bodies that are not what they were.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use store::conformance::Letter;
use store::search::Asked;
use store::{Budget, Error, Scope, Span, Store};

use super::rig::{self, append, mailbox, open, send, subjects, until};
use crate::Settings;
use crate::record::{self, Line};
use crate::wire::Outgoing;

/// Any of three brokers answers a question to all of them: none of them is left out of so many.
const ASKED: usize = 40;

/// Mail that is to go early makes room under the cap when it has gone. Each broker lets it go, and keeps the cap, by its own
/// clock: one that is late lets the oldest go instead, so it has gone when it has from every one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lapsed_mail_makes_room_in_time() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&Settings { messages_max: 3, ..settings }).await;
    send(&store, "1", "ann").await;
    let soon = Timestamp::now() + SignedDuration::from_secs(2);
    for brief in ["2", "3"] {
        append(&store, &Letter::new(brief, &["ann"]).expires(soon)).await;
    }
    let office = &store.parts.office;
    let place = office.names.place(&mailbox("ann"));
    let (stream, mail) = (office.names.summaries(place.shard), office.names.mail(&place));
    until(Duration::from_secs(30), "they go, from every broker", async || {
        for _ in 0..ASKED {
            let there = office.link.replica_tells(&stream, &mail, 0).await.expect("it is answered");
            let lines = there.iter().map(|raw| record::read::<Line>(&raw.data).expect("a line").subject);
            if !lines.eq(["1"]) {
                return false;
            }
        }
        true
    })
    .await;
    send(&store, "4", "ann").await;
    send(&store, "5", "ann").await;
    for _ in 0..ASKED {
        assert_eq!(subjects(&store, "ann").await, ["1", "4", "5"]);
    }
}

/// When the room for bodies is used up the oldest mail goes, from every view.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_oldest_mail_goes_when_the_room_is_used_up() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&Settings { bytes_max: Some(4 << 20), body_shards: 1, ..settings }).await;
    let mut ids = Vec::new();
    for round in 0..12 {
        ids.push(append(&store, &Letter::new(format!("{round}"), &["ann"]).size(600 << 10)).await[0]);
    }
    assert!(store.read(&mailbox("ann"), ids[0]).await.expect("a read is answered").is_none());
    assert!(store.read(&mailbox("ann"), ids[11]).await.expect("a read is answered").is_some());
    until(Duration::from_secs(20), "lists show what can be read", async || subjects(&store, "ann").await.len() < 8)
        .await;
    let listed = subjects(&store, "ann").await;
    assert_eq!(listed.last().map(String::as_str), Some("11"));
}

/// A search reads the newest bodies only, and says of how many messages it could not decide.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_reads_the_newest_bodies() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&Settings { bodies_max: 2, ..settings }).await;
    for subject in ["1", "2", "3", "4", "5"] {
        send(&store, subject, "ann").await;
    }
    let query = mail::Query::parse("body:nowhere").expect("a sound query");
    let asked = Asked { query, limits: mail::letter::Limits::default() };
    let budget = Budget { matches: 10, bytes: 1 << 20, time: Duration::from_secs(20) };
    let found = store.search(&asked, &Span::all(Scope::Mailbox(mailbox("ann"))), budget).await.expect("an answer");
    assert_eq!((found.scanned, found.undecided, found.stopped_by), (5, 3, None));
}

/// Bodies larger than a message of the brokers come back byte for byte.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_come_back_whole() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    for size in [500 << 10, (512 << 10) + 1, 3 << 20, 25 << 20] {
        let letter = Letter::new(format!("{size}"), &["ann", "bob"]).size(size);
        let ids = append(&store, &letter).await;
        for (name, id) in ["ann", "bob"].iter().zip(&ids) {
            let stored = store.read(&mailbox(name), *id).await.expect("a read is answered").expect("it is there");
            assert!(stored.raw == letter.raw(), "{size} bytes");
            assert_eq!(stored.envelope.recipients.len(), 3);
        }
    }
}

/// A body that is not what was stored is said to be damaged, and nothing of it is served.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_body_is_not_served() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let office = &store.parts.office;
    let (whole, place) = (send(&store, "1", "ann").await, office.names.place(&mailbox("ann")));
    let line = office.line_at(&mailbox("ann"), whole.number(), office.patience()).await.expect("it is answered");
    let mut line = line.expect("it is there");
    line.body.hash[0] ^= 1;
    let spoilt = Outgoing::new(office.names.mail(&place), record::write(&line));
    let spoilt = mail::MessageId::new(office.link.publish(spoilt).await.expect("it is stored").seq);
    assert!(matches!(store.read(&mailbox("ann"), spoilt).await, Err(Error::Damaged { .. })));
    assert!(store.read(&mailbox("ann"), whole).await.expect("a read is answered").is_some());
    let torn = Outgoing::new(office.names.mail(&place), b"torn".to_vec());
    office.link.publish(torn).await.expect("it is stored");
    assert_eq!(subjects(&store, "ann").await, ["1", "1"], "what cannot be read is left out, the rest is listed");
}
