//! A mailbox's pace as senders meet it.

use std::time::Duration;

use mail::ReversePath;

use super::*;
use crate::Settings;
use crate::stub::{self, ANYBODY, address};
use crate::verdict::Decision;

fn settings(count: u32) -> Settings {
    Settings { mailbox_max: Some(Quota { count, per: Duration::from_secs(3600) }), ..Settings::default() }
}

async fn told(room: &crate::Mailroom, recipient: &str) -> Decision {
    room.judge_recipient(&crate::Visit::of(&ANYBODY, &ReversePath(None)), &address(recipient)).await.0.decision
}

#[tokio::test]
async fn t023_a_flood_of_one_mailbox_costs_only_that_mailbox() {
    let (_stub, room) = stub::open(settings(10));
    let mut taken = 0;
    for _ in 0..1000 {
        taken += usize::from(told(&room, "a@x.test").await == Decision::Accept);
    }
    assert_eq!(taken, 10);
    for _ in 0..10 {
        assert_eq!(told(&room, "b@x.test").await, Decision::Accept, "the mail of others is taken");
    }
    let Decision::Refuse(status) = told(&room, "A+tag@x.test").await else {
        panic!("another spelling is no way round")
    };
    assert_eq!((status.code, status.enhanced), (450, (4, 2, 1)));
    let text = "Mail for this mailbox comes more often than rate.mailbox_max allows; try again in 3";
    assert!(status.text.starts_with(text), "{}", status.text);
}

#[tokio::test]
async fn without_a_limit_mail_comes_as_often_as_it_likes() {
    let (_stub, room) = stub::open(Settings::default());
    for _ in 0..1000 {
        assert_eq!(told(&room, "a@x.test").await, Decision::Accept);
    }
    room.forget_idle();
}

#[tokio::test]
async fn what_is_not_kept_does_not_count() {
    let policy = crate::Policy { discard: vec!["discard.test".parse().unwrap()], ..crate::Policy::default() };
    let (_stub, room) = stub::open(Settings { policy, ..settings(1) });
    for _ in 0..100 {
        assert_eq!(told(&room, "a@discard.test").await, Decision::Discard);
    }
    assert_eq!(told(&room, "a@x.test").await, Decision::Accept);
}

#[test]
fn a_pace_is_each_keys_own() {
    let pace = Pace::new(Some(Quota { count: 1, per: Duration::from_secs(3600) }), 100);
    assert!(pace.has_room(&1) && pace.take(&1).is_ok() && !pace.has_room(&1));
    assert!(pace.take(&1).is_err() && pace.has_room(&2));
    let free = Pace::new(None, 100);
    assert!((0..100).all(|_| free.take(&1).is_ok() && free.has_room(&1)));
}
