//! Bounds: the cap of a mailbox, age, expiry, and bytes.

use std::time::Duration;

use jiff::SignedDuration;
use mail::MessageId;

use crate::change::Position;
use crate::list::{MailboxOrder, MailboxPage, RecentPage};

use super::Need;
use super::letter::{Letter, job};
use super::trial::{Desk, Trial};

const HOUR: i64 = 3_600;

/// A mailbox at its cap loses its oldest message to each new one, and never its newest.
pub(super) async fn cap_drops_the_oldest(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.messages_max = 3).await;
    let sent = desk.send_all(&["1", "2", "3", "4", "5"], "ann").await;
    assert_eq!(desk.subjects("ann").await, ["3", "4", "5"]);
    assert!(!desk.has("ann", sent[0]).await && !desk.has("ann", sent[1]).await);
    assert!(desk.delete("ann", &sent[..2]).await.is_empty());
    desk.delete("ann", &sent[3..4]).await;
    desk.send("6", "ann").await;
    assert_eq!(desk.subjects("ann").await, ["3", "5", "6"], "a delete made room");
}

/// The cap counts each mailbox by itself, also for one message to several.
pub(super) async fn cap_is_of_one_mailbox(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.messages_max = 2).await;
    desk.send("b1", "bob").await;
    desk.send_all(&["1", "2"], "ann").await;
    desk.append(Letter::new("both", &["ann", "bob"])).await;
    assert_eq!(desk.subjects("ann").await, ["2", "both"]);
    assert_eq!(desk.subjects("bob").await, ["b1", "both"]);
}

fn an_hour() -> Option<Duration> {
    Some(Duration::from_secs(HOUR as u64))
}

/// A message is there until its age is the retention, and then it is not.
pub(super) async fn retention_hides_in_time(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.retention = an_hour()).await;
    let first = desk.send("1", "ann").await;
    trial.pass(60);
    desk.send("2", "ann").await;
    trial.pass(HOUR - 61);
    assert_eq!(desk.subjects("ann").await, ["1", "2"]);
    trial.pass(1);
    assert_eq!(desk.subjects("ann").await, ["2"]);
    assert!(!desk.has("ann", first).await);
    trial.pass(60);
    assert!(desk.subjects("ann").await.is_empty());
}

/// Age counts from when a message was received, not from when it was put in.
pub(super) async fn retention_counts_from_receipt(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.retention = an_hour()).await;
    let earlier = desk.now() - SignedDuration::from_secs(HOUR - 10);
    desk.append(Letter::new("old", &["ann"]).received_at(earlier)).await;
    desk.send("new", "ann").await;
    assert_eq!(desk.subjects("ann").await, ["old", "new"]);
    trial.pass(10);
    assert_eq!(desk.subjects("ann").await, ["new"]);
}

/// A message that is to expire goes at that time, others stay.
pub(super) async fn expiry_comes_before_retention(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.retention = an_hour()).await;
    desk.send("1", "ann").await;
    let brief = desk.append(Letter::new("brief", &["ann", "bob"]).expires(desk.in_seconds(60))).await;
    desk.send("3", "ann").await;
    trial.pass(59);
    assert_eq!(desk.subjects("ann").await, ["1", "brief", "3"]);
    trial.pass(1);
    assert_eq!(desk.subjects("ann").await, ["1", "3"]);
    assert!(!desk.has("ann", brief[0]).await && !desk.has("bob", brief[1]).await);
    assert!(desk.delete("ann", &brief[..1]).await.is_empty());
}

/// An expiry later than the retention makes nothing live longer.
pub(super) async fn expiry_does_not_outlive_retention(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.retention = an_hour()).await;
    desk.append(Letter::new("long", &["ann"]).expires(desk.in_seconds(10 * HOUR))).await;
    trial.pass(HOUR);
    assert!(desk.subjects("ann").await.is_empty());
}

/// What has lapsed is in no view: list, totals, recent, mailboxes, read, delete, purge; however much lapsed at once.
pub(super) async fn lapsed_mail_leaves_every_view(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.retention = an_hour()).await;
    let gone: Vec<MessageId> = send_many(&desk, 600).await;
    trial.pass(HOUR / 2);
    let kept = desk.send("kept", "ann").await;
    trial.pass(HOUR / 2);
    let listing = desk.list("ann").await;
    assert_eq!((listing.items.len(), listing.more), (1, false));
    assert!(listing.total.is_none_or(|total| total == 1), "{:?}", listing.total);
    if !trial.lacks(Need::Recent) {
        let recent = desk.store.recent(RecentPage { before: None, limit: 10 }).await.expect("recent mail is listed");
        assert_eq!((recent.items.len(), recent.more), (1, false));
        assert!(recent.total.is_none_or(|total| total == 1), "{:?}", recent.total);
    }
    if !trial.lacks(Need::Mailboxes) {
        for order in [MailboxOrder::default(), MailboxOrder::Newest { before: None }] {
            let page = MailboxPage { prefix: "", order, limit: 10 };
            let states = desk.store.mailboxes(page).await.expect("mailboxes are listed");
            assert_eq!(states.len(), 1);
            assert_eq!((states[0].messages, states[0].bytes), (1, listing.items[0].size));
        }
    }
    assert!(!desk.has("ann", gone[300]).await);
    assert!(desk.delete("ann", &gone[200..400]).await.is_empty());
    assert_eq!(desk.purge("ann", Position::END).await, 1);
    assert!(!desk.has("ann", kept).await);
}

async fn send_many(desk: &Desk, number: usize) -> Vec<MessageId> {
    let mut ids = Vec::new();
    for round in 0..number / 2 {
        ids.push(desk.send(&format!("{round}"), "ann").await);
        desk.send(&format!("{round}"), &format!("box{round}")).await;
    }
    ids.extend(desk.send_all(&["x"], "ann").await);
    while ids.len() < 400 {
        ids.push(desk.send("more", "ann").await);
    }
    ids
}

/// A message that has lapsed takes no place under the cap from one that has not.
pub(super) async fn lapsed_mail_does_not_fill_the_cap(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.messages_max = 3).await;
    desk.send("1", "ann").await;
    for brief in ["2", "3"] {
        desk.append(Letter::new(brief, &["ann"]).expires(desk.in_seconds(60))).await;
    }
    trial.pass(60);
    desk.send_all(&["4", "5"], "ann").await;
    assert_eq!(desk.subjects("ann").await, ["1", "4", "5"]);
}

/// What goes by cap, age or expiry raises no change and no job.
pub(super) async fn age_and_cap_tell_nobody(trial: &Trial<'_>) {
    let bounds = |rig: &mut super::Rig| (rig.retention, rig.messages_max) = (an_hour(), 2);
    let desk = trial.open_with(bounds).await;
    let mut changes = desk.changes("ann", Position::START).await;
    for subject in ["1", "2", "3"] {
        desk.append(Letter::new(subject, &["ann"]).job(job("suite", "arrived"))).await;
    }
    trial.pass(HOUR);
    assert!(desk.subjects("ann").await.is_empty());
    desk.send("last", "ann").await;
    for expected in ["+ 1", "+ 2", "+ 3", "+ last"] {
        assert_eq!(changes.word().await, expected);
    }
    assert_eq!(desk.waiting("suite").await, 3);
}

const MIB: u64 = 1 << 20;
const BULK: usize = 64 << 10;

async fn bulk(desk: &Desk, subject: &str, to: &str) -> MessageId {
    desk.append(Letter::new(subject, &[to]).size(BULK)).await[0]
}

/// A mailbox flooded far beyond all room pays with its own mail: every message of the others stays.
pub(super) async fn t023_flood_spares_other_mailboxes(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.bytes_max = Some(MIB)).await;
    let mut others = Vec::new();
    for name in ["bob", "cat", "dan"] {
        others.push((name, bulk(&desk, "mine", name).await, desk.send("small", name).await));
    }
    let mut last = None;
    for round in 0..100 {
        last = Some(bulk(&desk, &format!("flood {round}"), "ann").await);
    }
    for (name, large, small) in others {
        assert_eq!(desk.ids(name).await, [large, small], "the mail of {name}");
    }
    let flooded = desk.list("ann").await;
    assert_eq!(flooded.items.last().map(|summary| summary.id), last, "the newest of the flood is there");
    let bytes: u64 = flooded.items.iter().map(|summary| summary.size).sum();
    assert!(bytes < MIB, "{bytes} bytes of flood in a store of {MIB}");
}

/// Room is made by the mailbox that takes most, from its oldest on, until it takes no more than the next.
pub(super) async fn largest_mailbox_loses_first(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.bytes_max = Some(MIB)).await;
    for round in 0..4 {
        bulk(&desk, &format!("b{round}"), "bob").await;
    }
    for round in 0..8 {
        bulk(&desk, &format!("a{round}"), "ann").await;
    }
    for round in 0..6 {
        bulk(&desk, "c", &format!("cat{round}")).await;
    }
    let ann = desk.subjects("ann").await;
    assert!((4..=6).contains(&ann.len()), "{ann:?}");
    assert_eq!(ann.last().map(String::as_str), Some("a7"));
    assert_eq!(desk.subjects("bob").await, ["b0", "b1", "b2", "b3"]);
    for round in 0..6 {
        assert_eq!(desk.subjects(&format!("cat{round}")).await, ["c"]);
    }
}

/// Where all mailboxes take the same, the oldest message of all goes first.
pub(super) async fn among_equals_the_oldest_goes(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.bytes_max = Some(MIB)).await;
    for round in 10..50 {
        bulk(&desk, "one", &format!("box{round}")).await;
    }
    let mut kept = Vec::new();
    for round in 10..50 {
        if !desk.subjects(&format!("box{round}")).await.is_empty() {
            kept.push(round);
        }
    }
    assert!((8..=16).contains(&kept.len()), "{kept:?}");
    assert_eq!(kept, (50 - kept.len()..50).collect::<Vec<_>>(), "the newest of all");
}

/// A message is there after it was appended, even one that leaves no room for any other.
pub(super) async fn newcomer_survives_its_own_arrival(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.bytes_max = Some(MIB)).await;
    for round in 0..12 {
        bulk(&desk, "small", &format!("box{round}")).await;
    }
    let ids = desk.append(Letter::new("large", &["ann", "bob"]).size((MIB - (64 << 10)) as usize)).await;
    assert!(desk.has("ann", ids[0]).await && desk.has("bob", ids[1]).await);
}
