//! The purge of a mailbox with more messages than go in one step: at once out of sight, and gone bit by bit. And a mailbox
//! whose places are used up.

use mail::MessageId;
use store::conformance::Letter;
use store::list::{MailboxPage, RecentPage};
use store::{Position, Scope, Store};

use super::bench::{Bench, assert_whole, connect, copy, mailbox, quick_place, subjects, until};
use crate::Disk;

/// More than go in one step, some of them in a second mailbox too.
async fn many(bench: &Bench, disk: &Disk) -> Vec<MessageId> {
    let mut ids = Vec::new();
    for number in 0..1_100 {
        let to: &[&str] = if number % 100 == 0 { &["many", "other"] } else { &["many"] };
        ids.push(bench.send(disk, Letter::new(format!("{number}"), to)).await[0]);
    }
    ids
}

/// Nothing of it is seen anywhere.
async fn assert_empty(disk: &Disk, ids: &[MessageId]) {
    assert_eq!(subjects(disk, "many").await, [""; 0]);
    let states = disk.mailboxes(MailboxPage { prefix: "", order: Default::default(), limit: 10 }).await.unwrap();
    assert_eq!(states.iter().map(|state| state.mailbox.as_str()).collect::<Vec<_>>(), ["other"]);
    let recent = disk.recent(RecentPage { before: None, limit: 5_000 }).await.unwrap();
    assert_eq!(recent.items.len(), 11, "only those of the other mailbox");
    for id in [ids[0], ids[600], ids[1_099]] {
        assert!(disk.read(&mailbox("many"), id).await.unwrap().is_none());
        assert_eq!(disk.delete(&mailbox("many"), &[id], Vec::new()).await.unwrap(), []);
    }
    assert_eq!(disk.purge(&mailbox("many"), Position::END, Vec::new()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_large_purge_is_seen_at_once_and_leaves_nothing_behind() {
    let bench = Bench::new(|_| ());
    let disk = bench.open();
    let ids = many(&bench, &disk).await;
    assert_eq!(disk.purge(&mailbox("many"), Position::END, Vec::new()).await.unwrap(), 1_100);
    assert_empty(&disk, &ids).await;
    bench.send(&disk, Letter::new("during", &["many", "other"])).await;
    assert_eq!(subjects(&disk, "many").await, ["during"]);
    until("every row is gone", || bench.number("SELECT count(*) FROM message") == 13);
    until("the grave is closed", || bench.number("SELECT count(*) FROM grave") == 0);
    assert_eq!(bench.number("SELECT count(*) FROM body"), 12);
    bench.send(&disk, Letter::new("after", &["many"])).await;
    assert_eq!(subjects(&disk, "many").await, ["during", "after"]);
    assert_eq!(subjects(&disk, "other").await.len(), 12);
    disk.close();
    assert_whole(&bench.database());
}

#[tokio::test]
async fn a_large_purge_up_to_a_position_keeps_what_came_later() {
    let bench = Bench::new(|_| ());
    let disk = bench.open();
    let ids = many(&bench, &disk).await;
    let mut expected = subjects(&disk, "many").await.split_off(1_000);
    assert_eq!(disk.purge(&mailbox("many"), ids[999].into(), Vec::new()).await.unwrap(), 1_000);
    assert_eq!(subjects(&disk, "many").await, expected);
    assert!(disk.read(&mailbox("many"), ids[1_000]).await.unwrap().is_some());
    assert_eq!(disk.delete(&mailbox("many"), &[ids[1_000]], Vec::new()).await.unwrap(), [ids[1_000]]);
    bench.send(&disk, Letter::new("after", &["many"])).await;
    expected.remove(0);
    expected.push("after".to_owned());
    assert_eq!(subjects(&disk, "many").await, expected);
    until("the grave is closed", || bench.number("SELECT count(*) FROM grave") == 0);
    disk.close();
    assert_whole(&bench.database());
}

/// K11: whatever of it has gone when the process is killed, nothing of it is seen again, and the rest goes after the
/// start.
#[tokio::test]
async fn k11_a_large_purge_cut_short_by_a_crash_leaves_nothing_to_be_seen() {
    let bench = Bench::new(|_| ());
    let disk = bench.open();
    let ids = many(&bench, &disk).await;
    disk.purge(&mailbox("many"), Position::END, Vec::new()).await.unwrap();
    // As many moments as can be caught while the writer lets go.
    let moments: Vec<_> = (0..6)
        .map(|_| {
            let left = quick_place();
            copy(bench.place.path(), left.path());
            left
        })
        .collect();
    drop(disk);
    for left in moments {
        let mut other = Bench::new(|_| ());
        other.settings.path = left.path().to_owned();
        other.place = left;
        let disk = other.open();
        assert_empty(&disk, &ids).await;
        until("the grave is closed", || other.number("SELECT count(*) FROM grave") == 0);
        disk.close();
        assert_whole(&other.database());
    }
}

#[tokio::test]
async fn a_mailbox_whose_places_are_used_up_goes_on() {
    let bench = Bench::new(|_| ());
    let disk = bench.open();
    for number in 0..5 {
        bench.send(&disk, Letter::new(format!("{number}"), &["full", "other"])).await;
    }
    drop(disk);
    // Its last message lies two places before the end.
    let moved = "UPDATE message SET place = (((place >> 29) + 1) << 29) - 3 WHERE place = (SELECT max(m.place) \
                 FROM message m JOIN mailbox x ON x.no = m.place >> 29 WHERE x.name = 'full')";
    assert_eq!(connect(&bench.database()).execute(moved, []).unwrap(), 1);
    let disk = bench.open();
    let mut changes = disk.changes(Scope::All, Position::END).await.unwrap();
    let mut ids = Vec::new();
    for number in 5..10 {
        ids.extend(bench.send(&disk, Letter::new(format!("{number}"), &["full"])).await);
        bench.send(&disk, Letter::new("x", &["other"])).await;
    }
    let all: Vec<String> = (0..10).map(|number| number.to_string()).collect();
    assert_eq!(subjects(&disk, "full").await, all);
    assert_eq!(disk.delete(&mailbox("full"), &ids[..1], Vec::new()).await.unwrap(), &ids[..1]);
    for _ in 0..11 {
        futures_util::StreamExt::next(&mut changes).await.unwrap();
    }
    until("the old number is free", || bench.number("SELECT count(*) FROM grave") == 0);
    disk.close();
    assert_whole(&bench.database());
}
