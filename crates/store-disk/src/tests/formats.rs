//! F25: a store of every format that was ever released is kept in `tests/fixtures`, and is opened by what is built now.
//!
//! A fixture is never made anew. A new format adds one: raise the number in [`make`], run it once, and commit what it
//! wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use jiff::SignedDuration;
use store::conformance::Letter;
use store::list::{Order, Page};
use store::outbox::Outbox;
use store::{Clock, Expect, NewJob, Position, Registry, Store};

use crate::Disk;

use super::bench::{Bench, assert_whole, mailbox};

/// The format that is written now.
const LATEST: u32 = 2;

fn fixture(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/format-{format}"))
}

/// The messages of the fixture, in the order in which they came. Those to `gone` are purged, and the third is deleted.
fn letters() -> Vec<Letter> {
    let clock = Bench::new(|_| ()).clock.now();
    let hook = |payload: &'static str| NewJob::new("hook", payload);
    vec![
        Letter::new("alone", &["ann"]),
        Letter::new("shared by three", &["ann", "bob", "cat.tail"]),
        Letter::new("deleted from ann", &["ann", "bob"]),
        Letter::new("of nine kilobytes", &["bob"]).size(9_000),
        Letter::new("purged", &["gone"]),
        Letter::new("purged, and kept by bob", &["gone", "bob"]),
        Letter::new("höflich: 日本語 🎉", &["ann"]),
        Letter::new("expires in the year 2100", &["ann"]).expires(clock + SignedDuration::from_hours(73 * 365 * 24)),
        Letter::new("received long ago", &["cat.tail"]).received_at(clock - SignedDuration::from_hours(50_000)),
        Letter::new("with jobs", &["ann"]).job(hook("first")).job(hook("second")),
        Letter::new("", &["bob"]),
        Letter::new("last", &["ann", "bob"]),
    ]
}

/// What is in each mailbox, by the place in [`letters`].
const KEPT: [(&str, &[usize]); 3] =
    [("ann", &[0, 1, 6, 7, 9, 11]), ("bob", &[1, 2, 3, 5, 10, 11]), ("cat.tail", &[1, 8])];

/// `cargo test --release -p postkeep-store-disk f25_make -- --ignored`: writes a fixture where none is yet.
#[tokio::test]
#[ignore = "a fixture is made once, when its format is released"]
async fn f25_make_the_fixture() {
    let target = fixture(LATEST);
    assert!(!target.exists(), "a fixture is kept for ever");
    let bench = Bench::new(|_| ());
    let disk = bench.open();
    for (number, letter) in letters().into_iter().enumerate() {
        bench.pass(60);
        let mut delivery = letter.delivery(bench.clock.now());
        if number == 3 {
            delivery.raw = text();
        }
        let filed = disk.append(delivery).await.unwrap();
        if number == 2 {
            Store::delete(&disk, &mailbox("ann"), &[filed[0].id], Vec::new()).await.unwrap();
        }
    }
    disk.purge(&mailbox("gone"), Position::END, Vec::new()).await.unwrap();
    disk.put("token", "of ann", Bytes::from_static(b"secret"), None, Expect::Absent).await.unwrap();
    let jobs = disk.take("hook", 1, Duration::from_secs(60)).await.unwrap();
    disk.dead(jobs[0].lease, "nobody there").await.unwrap();
    disk.submit(["1", "2", "3"].map(|payload| NewJob::new("laned", payload).in_lane("ann")).to_vec()).await.unwrap();
    let jobs = disk.take("laned", 10, Duration::from_secs(60)).await.unwrap();
    disk.done(jobs[0].lease).await.unwrap();
    drop(disk);
    fs::create_dir_all(&target).unwrap();
    fs::copy(bench.database(), target.join("postkeep.db")).unwrap();
}

/// A body that is packed.
fn text() -> Bytes {
    format!("Subject: of nine kilobytes\r\n\r\n{}", "the same line again\r\n".repeat(430)).into()
}

#[tokio::test]
async fn f25_a_store_of_the_first_format_is_read_whole() {
    let bench = placed(1);
    let disk = read_whole(&bench).await;
    let dead = disk.dead_jobs("hook", 10).await.unwrap().remove(0);
    assert_eq!((dead.lane, dead.messages, dead.attempts), (None, Vec::new(), 0), "the first format did not keep these");
    go_on(&bench, disk).await;
}

/// What is of this format alone: lanes, and what is known of the dead.
#[tokio::test]
async fn f25_a_store_of_the_second_format_is_read_whole() {
    let bench = placed(2);
    let disk = read_whole(&bench).await;
    let dead = disk.dead_jobs("hook", 10).await.unwrap().remove(0);
    assert_eq!((dead.messages.len(), dead.messages[0].mailbox.as_str(), dead.attempts), (1, "ann", 1));
    let jobs = disk.take("laned", 10, Duration::from_secs(60)).await.unwrap();
    assert_eq!(jobs.iter().map(|job| &job.payload[..]).collect::<Vec<_>>(), [b"2"]);
    go_on(&bench, disk).await;
}

/// A fixture where a store may be opened.
fn placed(format: u32) -> Bench {
    let bench = Bench::new(|_| ());
    fs::create_dir(bench.place.path()).unwrap();
    fs::copy(fixture(format).join("postkeep.db"), bench.database()).unwrap();
    assert_eq!(bench.number("PRAGMA user_version"), i64::from(format));
    bench
}

/// Everything that stores of all formats have.
async fn read_whole(bench: &Bench) -> Disk {
    assert_whole(&bench.database());
    assert_eq!(bench.number("SELECT count(*) FROM body WHERE packing = 1"), 1, "one is packed");
    let disk = bench.open();
    let letters = letters();
    for (name, kept) in KEPT {
        let page = Page { after: None, limit: 100, order: Order::Oldest };
        let listing = Store::list(&disk, &mailbox(name), page).await.unwrap();
        assert_eq!(listing.items.len(), kept.len(), "{name}");
        for (summary, number) in listing.items.iter().zip(kept) {
            let received_at = bench.clock.now() + SignedDuration::from_mins(*number as i64 + 1);
            let delivery = letters[*number].delivery(received_at);
            let stored = disk.read(&mailbox(name), summary.id).await.unwrap().unwrap();
            assert!(stored.raw == if *number == 3 { text() } else { delivery.raw.clone() }, "{number} of {name}");
            assert_eq!(stored.envelope, delivery.envelope);
            let (_, expected) = delivery.sort().copies.into_iter().find(|(to, _)| to.as_str() == name).unwrap();
            let expected = mail::Summary { id: summary.id, size: stored.raw.len() as u64, ..expected };
            assert_eq!((&**summary, &*stored.summary), (&expected, &expected));
        }
    }
    let job = disk.take("hook", 10, Duration::from_secs(60)).await.unwrap();
    assert_eq!(job.iter().map(|job| &job.payload[..]).collect::<Vec<_>>(), [b"second"]);
    assert_eq!(disk.dead_jobs("hook", 10).await.unwrap()[0].reason, "nobody there");
    assert_eq!(&disk.get("token", "of ann").await.unwrap().unwrap().value[..], b"secret");
    disk
}

/// Jobs are done and come back, and new mail gets new ids.
async fn go_on(bench: &Bench, disk: Disk) {
    assert_eq!(bench.number("PRAGMA user_version"), i64::from(LATEST));
    let dead = disk.dead_jobs("hook", 10).await.unwrap().remove(0);
    disk.revive(dead.id).await.unwrap().expect("it is among the dead");
    let again = disk.take("hook", 10, Duration::from_secs(60)).await.unwrap().remove(0);
    assert_eq!((&again.payload[..], again.messages), (&b"first"[..], dead.messages));
    let last = bench.number("SELECT max(last_position) FROM state").unsigned_abs();
    let new = bench.send(&disk, Letter::new("new", &["ann", "gone"])).await;
    assert!(new.iter().all(|id| id.number() > last), "ids go on");
    disk.close();
    assert_whole(&bench.database());
}
