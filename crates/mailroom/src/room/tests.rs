//! The verbs, over an engine that can be made to fail.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use mail::{MessageId, Naming, ReversePath};
use store::list::{Order, Page};
use store::{Change, Error as StoreError, Scope};

use super::{LATEST_TRIES_MAX, Mailroom, Which};
use crate::stub::{self, ANYBODY, address, mailbox, next, parcel};
use crate::verdict::{Decision, Verdict};
use crate::{Error, Event, Parcel, Policy, Settings, Visit};

impl Mailroom {
    /// Whether no refusal is kept.
    pub(crate) fn forgets_refusals(&self) -> bool {
        self.refusals.list(&Scope::All, 1, |_| true).items.is_empty()
    }
}

/// Deliver to these addresses; the mailboxes in order.
async fn deliver(room: &Mailroom, recipients: &[&str]) -> Vec<String> {
    let delivered = room.deliver(&ANYBODY, parcel(room, recipients)).await.unwrap();
    delivered.filed.into_iter().map(|filed| filed.mailbox.to_string()).collect()
}

#[tokio::test]
async fn t082_one_copy_for_each_canonical_mailbox() {
    let (stub, room) = stub::open(Settings::default());
    let filed = deliver(&room, &["a+1@x.test", "b@x.test", "a+2@x.test", "A@x.test"]).await;
    assert_eq!(filed, ["a", "b"]);
    assert_eq!(stub.messages(), 2);
}

#[tokio::test]
async fn what_is_discarded_whole_is_not_appended() {
    let (stub, room) = stub::open(Settings::default());
    stub.append_errors.lock().unwrap().push_back(StoreError::try_later("an append was tried"));
    let mut both = parcel(&room, &["a@x.test", "b@x.test"]);
    both.discarded = vec![1, 0];
    assert!(room.deliver(&ANYBODY, both.clone()).await.unwrap().filed.is_empty());
    stub.append_errors.lock().unwrap().clear();
    both.discarded = vec![0];
    assert_eq!(room.deliver(&ANYBODY, both).await.unwrap().filed[0].mailbox, mailbox("b"));
    assert_eq!(stub.messages(), 1);
}

#[tokio::test]
async fn i1_a_failed_append_leaves_no_copy_and_no_event() {
    let (stub, room) = stub::open(Settings::default());
    let mut watch = room.watch(&ANYBODY, Scope::All).await.unwrap();
    stub.append_errors.lock().unwrap().push_back(StoreError::Full { what: "bytes".into() });
    let failed = room.deliver(&ANYBODY, parcel(&room, &["a@x.test", "b@x.test"])).await;
    assert!(matches!(failed, Err(Error::Store(StoreError::Full { .. }))), "{failed:?}");
    assert_eq!(stub.messages(), 0);
    deliver(&room, &["good@x.test"]).await;
    let first = next(&mut watch).await;
    assert!(
        matches!(&first, Some(Event::Change(Change::Delivered { mailbox, .. }, _)) if mailbox.as_str() == "good"),
        "{first:?}"
    );
}

#[tokio::test]
async fn latest_is_the_newest() {
    let (_stub, room) = stub::open(Settings::default());
    let here = mailbox("a");
    assert!(room.read(&ANYBODY, &here, Which::Latest).await.unwrap().is_none());
    assert!(!room.delete(&ANYBODY, &here, Which::Latest).await.unwrap());
    for _ in 0..3 {
        deliver(&room, &["a@x.test"]).await;
    }
    let newest = async || room.read(&ANYBODY, &here, Which::Latest).await.unwrap().unwrap().summary.id;
    assert_eq!(newest().await, MessageId::new(3));
    assert!(room.delete(&ANYBODY, &here, Which::Latest).await.unwrap());
    assert_eq!(newest().await, MessageId::new(2));
    assert!(room.read(&ANYBODY, &here, Which::Id(MessageId::new(3))).await.unwrap().is_none());
    assert!(!room.delete(&ANYBODY, &here, Which::Id(MessageId::new(3))).await.unwrap());
    assert!(room.delete(&ANYBODY, &here, Which::Id(MessageId::new(1))).await.unwrap());
    assert_eq!(newest().await, MessageId::new(2));
}

#[tokio::test]
async fn latest_is_asked_again_when_it_vanished_in_between() {
    let (stub, room) = stub::open(Settings::default());
    let here = mailbox("a");
    deliver(&room, &["a@x.test"]).await;
    stub.vanish.store(LATEST_TRIES_MAX - 1, SeqCst);
    assert!(room.read(&ANYBODY, &here, Which::Latest).await.unwrap().is_some());
    stub.vanish.store(LATEST_TRIES_MAX, SeqCst);
    let late = room.read(&ANYBODY, &here, Which::Latest).await;
    assert!(matches!(late, Err(Error::Store(StoreError::TryLater { .. }))));
    stub.vanish.store(LATEST_TRIES_MAX, SeqCst);
    let late = room.delete(&ANYBODY, &here, Which::Latest).await;
    assert!(matches!(late, Err(Error::Store(StoreError::TryLater { .. }))));
    stub.vanish.store(LATEST_TRIES_MAX - 1, SeqCst);
    assert!(room.delete(&ANYBODY, &here, Which::Latest).await.unwrap());
}

#[tokio::test]
async fn a_purge_takes_what_is_there_at_one_moment_of_it() {
    let (stub, room) = stub::open(Settings::default());
    deliver(&room, &["a@x.test", "b@x.test"]).await;
    deliver(&room, &["a@x.test"]).await;
    *stub.arrives_before_purge.lock().unwrap() = Some(parcel(&room, &["a@x.test"]).sort());
    assert_eq!(room.purge(&ANYBODY, &mailbox("a")).await.unwrap(), 3, "the engine chooses the moment");
    deliver(&room, &["a@x.test"]).await;
    assert_eq!(stub.messages(), 2, "one of b, and the later one of a");
}

#[test]
fn transaction_ids_are_unique_and_ascend() {
    let (_stub, room) = stub::open(Settings::default());
    let ids: Vec<_> = (0..1000).map(|_| room.begin()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
}

#[tokio::test]
async fn a_recipient_leads_to_its_mailbox() {
    let check = async |naming, recipient: &str, expected: &str| {
        let (_stub, room) = stub::open(Settings { naming, ..Settings::default() });
        let (verdict, found) =
            room.judge_recipient(&Visit::of(&ANYBODY, &ReversePath(None)), &address(recipient)).await;
        assert_eq!((verdict, found), (Verdict::ACCEPT, Some(mailbox(expected))));
        assert_eq!(room.named(recipient), Ok(mailbox(expected)));
    };
    check(Naming::Local, "A+news@X.test", "a").await;
    check(Naming::Full, "A+news@X.test", "a@x.test").await;
    check(Naming::Domain, "A+news@X.test", "x.test").await;
}

#[tokio::test]
async fn a_recipient_that_names_no_mailbox_is_refused() {
    let (_stub, room) = stub::open(Settings::default());
    let (verdict, found) =
        room.judge_recipient(&Visit::of(&ANYBODY, &ReversePath(None)), &address("+news@x.test")).await;
    assert!(matches!(verdict.decision, Decision::Refuse(status) if status.code == 553), "a tag alone");
    assert_eq!(found, None);
}

#[tokio::test]
async fn a_refused_recipient_still_names_its_mailbox() {
    let policy = Policy { reject: vec!["x.test".parse().unwrap()], ..Policy::default() };
    let (_stub, room) = stub::open(Settings { policy, ..Settings::default() });
    let (verdict, found) = room.judge_recipient(&Visit::of(&ANYBODY, &ReversePath(None)), &address("a@x.test")).await;
    assert!(matches!(verdict.decision, Decision::Refuse(_)));
    assert_eq!(found, Some(mailbox("a")));
}

#[tokio::test]
async fn t021_a_verdict_does_not_tell_whether_there_is_mail() {
    let (_stub, room) = stub::open(Settings::default());
    let judge = async || room.judge_recipient(&Visit::of(&ANYBODY, &ReversePath(None)), &address("a@x.test")).await;
    let before = judge().await;
    deliver(&room, &["a@x.test"]).await;
    assert_eq!(judge().await, before);
}

#[tokio::test]
async fn ready_is_what_the_engine_says() {
    let (stub, room) = stub::open(Settings::default());
    room.ready().await.unwrap();
    stub.down.store(true, SeqCst);
    assert!(matches!(room.ready().await, Err(Error::Store(StoreError::TryLater { .. }))));
}

/// A mailroom over the memory engine, within these bounds.
fn over_memory(bounds: store::memory::Settings) -> Arc<Mailroom> {
    let memory = store::Memory::new(bounds, Arc::new(store::SystemClock));
    Mailroom::new(Arc::new(memory), Settings::default())
}

async fn count(room: &Mailroom, name: &str) -> usize {
    let page = Page { after: None, limit: 1_000_000, order: Order::Oldest };
    room.list(&ANYBODY, &mailbox(name), page).await.unwrap().items.len()
}

#[tokio::test]
async fn one_mails_way_through_the_memory_engine() {
    let room = over_memory(store::memory::Settings::default());
    let sent = Parcel { received_at: room.now(), ..parcel(&room, &["a+x@x.test", "b@x.test", "A@x.test"]) };
    let filed = room.deliver(&ANYBODY, sent.clone()).await.unwrap().filed;
    let read = room.read(&ANYBODY, &filed[0].mailbox, Which::Latest).await.unwrap().unwrap();
    assert_eq!((&read.raw, &read.envelope), (&sent.raw, &sent.envelope));
    assert_eq!((read.summary.id, read.summary.subject.as_str()), (filed[0].id, "hello"));
    assert_eq!((read.summary.rcpt_to.len(), read.summary.other_recipients), (2, 1));
    assert!(room.delete(&ANYBODY, &mailbox("a"), Which::Id(filed[0].id)).await.unwrap());
    assert_eq!(room.purge(&ANYBODY, &mailbox("b")).await.unwrap(), 1);
    assert_eq!((count(&room, "a").await, count(&room, "b").await), (0, 0));
    assert_eq!(room.abilities().engine, "memory");
    room.ready().await.unwrap();
}

#[tokio::test]
async fn t023_a_flooded_mailbox_takes_no_room_from_others() {
    let bounds = store::memory::Settings { bytes_max: 256 << 10, messages_max: 0, ..Default::default() };
    let room = over_memory(bounds);
    let send = async |to: &str, times: usize| {
        for _ in 0..times {
            let sent = Parcel { received_at: room.now(), ..parcel(&room, &[to]) };
            room.deliver(&ANYBODY, sent).await.unwrap();
        }
    };
    send("quiet@x.test", 5).await;
    send("flooded@x.test", 2000).await;
    assert_eq!(count(&room, "quiet").await, 5);
    assert!((10..2000).contains(&count(&room, "flooded").await), "the flood met the bound");
}
