//! The index against what can happen to it: whatever that is, a search finds what is in the store and nothing else.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::time::Duration;

use mail::MessageId;
use rusqlite::Connection;
use store::conformance::Letter;
use store::search::{Asked, Way};
use store::{Budget, Found, Scope, Span, Store};

use crate::tests::bench::{Bench, Log, copy, mailbox, quick_place, until};
use crate::{Disk, Search};

const AMPLE: Budget = Budget { matches: 10_000, bytes: 1 << 30, time: Duration::from_secs(60) };

fn indexed(bounds: impl FnOnce(&mut Search)) -> Bench {
    Bench::new(|settings| {
        settings.search = Search::default();
        bounds(&mut settings.search);
    })
}

async fn search(disk: &Disk, query: &str) -> Found {
    let asked = Asked { query: mail::Query::parse(query).unwrap(), limits: Default::default() };
    let found = disk.search(&asked, &Span::all(Scope::All), AMPLE).await.expect("a search is answered");
    assert_eq!(found.stopped_by, None);
    found
}

async fn count(disk: &Disk, query: &str) -> usize {
    search(disk, query).await.items.len()
}

/// Send so many messages with a word of their own.
async fn fill(bench: &Bench, disk: &Disk, number: usize) -> Vec<MessageId> {
    let mut ids = Vec::new();
    for round in 0..number {
        ids.extend(bench.send(disk, Letter::new(format!("needle number{round}z"), &["ann"])).await);
    }
    ids
}

fn index(bench: &Bench) -> Connection {
    Connection::open(bench.place.path().join(super::book::FILE)).unwrap()
}

fn number(bench: &Bench, sql: &str) -> i64 {
    index(bench).query_row(sql, [], |row| row.get(0)).unwrap_or(-1)
}

/// Wait until everything is in the index.
fn settle(bench: &Bench) {
    let last = bench.number("SELECT last_position FROM state");
    until("the index has come to the end", || number(bench, "SELECT head FROM state") == last);
}

#[tokio::test]
async fn the_index_is_asked_and_its_tail_is_looked_at() {
    let bench = indexed(|_| ());
    let disk = bench.open();
    fill(&bench, &disk, 50).await;
    settle(&bench);
    let found = search(&disk, "number7z").await;
    assert_eq!((found.items.len(), found.scanned, found.way), (1, 1, Way::Index));
    bench.send(&disk, Letter::new("number7z again", &["bob"])).await;
    assert_eq!(count(&disk, "number7z").await, 2, "what has just come is found, in the index or not");
    assert_eq!(search(&disk, "r7").await.way, Way::Scan, "two letters are in no index");
}

#[tokio::test]
async fn what_is_cut_from_the_index_is_found() {
    let bench = indexed(|search| search.text_max = 1_000);
    let disk = bench.open();
    let long = format!("Subject: long\r\n\r\n{}behindtheend\r\n", "word ".repeat(1_000));
    bench.send(&disk, Letter::of(String::leak(long), "ann")).await;
    bench.send(&disk, Letter::new("other", &["ann"])).await;
    settle(&bench);
    let found = search(&disk, "behindtheend").await;
    assert_eq!((found.items.len(), found.scanned, found.way), (1, 1, Way::Index));
    assert_eq!(count(&disk, "nowhere").await, 0);
}

#[tokio::test]
async fn an_index_that_is_lost_is_made_anew() {
    let bench = indexed(|_| ());
    let disk = bench.open();
    fill(&bench, &disk, 30).await;
    settle(&bench);
    drop(disk);
    super::FILES.iter().for_each(|name| drop(fs::remove_file(bench.place.path().join(name))));
    let disk = bench.open();
    assert_eq!(count(&disk, "needle").await, 30);
    settle(&bench);
    assert_eq!(search(&disk, "number3z").await.scanned, 1);
}

/// Wherever the file is damaged: no search is answered wrongly, and in the end there is an index again.
#[tokio::test]
async fn an_index_that_is_damaged_is_made_anew() {
    for (place, open) in [(0, false), (0, true), (4_096, true), (8_192, false), (40_000, true), (40_000, false)] {
        let bench = indexed(|_| ());
        let mut disk = bench.open();
        fill(&bench, &disk, 400).await;
        settle(&bench);
        index(&bench).execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        if !open {
            drop(disk);
            damage(&bench, place);
            disk = bench.open();
        } else {
            damage(&bench, place);
        }
        for round in 0..20 {
            let found = search(&disk, &format!("number{}z", round * 20)).await;
            assert_eq!(found.items.len(), 1, "at {place}, {round}");
        }
        bench.send(&disk, Letter::new("needle last", &["ann"])).await;
        assert_eq!(count(&disk, "needle").await, 401);
    }
}

/// Eight pages of nonsense.
fn damage(bench: &Bench, place: u64) {
    let mut file = OpenOptions::new().write(true).open(bench.place.path().join(super::book::FILE)).unwrap();
    file.seek(SeekFrom::Start(place)).unwrap();
    file.write_all(&[0xA5; 8 * 4_096]).unwrap();
    file.sync_all().unwrap();
}

/// The store was put back to an earlier state: what the index knows of later mail, under ids that are given again, must
/// not hide what comes.
#[tokio::test]
async fn an_index_of_another_past_is_made_anew() {
    let bench = indexed(|_| ());
    let disk = bench.open();
    fill(&bench, &disk, 5).await;
    let earlier = quick_place();
    drop(disk);
    copy(bench.place.path(), earlier.path());
    let disk = bench.open();
    bench.send(&disk, Letter::new("first future", &["ann"])).await;
    settle(&bench);
    drop(disk);
    fs::remove_file(bench.database()).unwrap();
    let _ = fs::remove_file(bench.place.path().join("postkeep.db-wal"));
    copy(earlier.path(), bench.place.path());
    let disk = bench.open();
    assert_eq!((count(&disk, "future").await, count(&disk, "needle").await), (0, 5));
    bench.send(&disk, Letter::new("second future", &["ann"])).await;
    settle(&bench);
    assert_eq!((count(&disk, "future").await, count(&disk, "\"first future\"").await), (1, 0));
}

#[tokio::test]
async fn what_has_gone_leaves_the_index() {
    let bench = indexed(|_| ());
    let disk = bench.open();
    let ids = fill(&bench, &disk, 20).await;
    settle(&bench);
    disk.delete(&mailbox("ann"), &ids[..15], Vec::new()).await.unwrap();
    assert_eq!(count(&disk, "needle").await, 5, "before the index knows");
    drop(disk);
    let disk = bench.open();
    until("the index has seen it", || number(&bench, "SELECT count(*) FROM text_docsize") == 5);
    assert_eq!(count(&disk, "needle").await, 5);
}

#[tokio::test]
async fn the_index_keeps_to_its_bound() {
    const MAX: u64 = 1 << 20;
    const SENT: usize = 600;
    let bench = indexed(|search| search.index_max = MAX);
    let disk = bench.open();
    for round in 0..SENT {
        let text = format!("Subject: needle\r\n\r\nsent{round}z {}\r\n", noise(round, 4_000));
        bench.send(&disk, Letter::of(String::leak(text), "ann")).await;
    }
    until("the oldest have gone", || number(&bench, "SELECT floor FROM state") > 0);
    settle(&bench);
    until("the index is within its bound", || bytes(&bench) <= MAX + MAX / 4);
    for round in [0, 1, SENT / 2, SENT - 1] {
        assert_eq!(count(&disk, &format!("sent{round}z")).await, 1, "{round} is found, in the index or not");
    }
}

fn bytes(bench: &Bench) -> u64 {
    let pages = number(bench, "PRAGMA page_count") - number(bench, "PRAGMA freelist_count");
    pages.unsigned_abs() * number(bench, "PRAGMA page_size").unsigned_abs()
}

/// Letters without sense, others for each number.
fn noise(number: usize, length: usize) -> String {
    let mut state = number as u64 * 2 + 1;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'a' + (state % 26) as u8)
    };
    (0..length).map(|_| letter()).collect()
}

/// What lies there at any moment can be opened, and finds everything that was promised.
#[tokio::test]
async fn a_crash_at_any_moment_leaves_an_index_that_can_be_used() {
    let bench = indexed(|_| ());
    let disk = bench.open();
    for round in 1..=10 {
        fill(&bench, &disk, 37).await;
        let left = quick_place();
        fs::create_dir_all(left.path()).unwrap();
        // The index first: it may be behind the mail, and never ahead.
        for name in ["search.db", "search.db-wal", "postkeep.db", "postkeep.db-wal"] {
            let _ = fs::copy(bench.place.path().join(name), left.path().join(name));
        }
        let settings = crate::Settings { path: left.path().to_owned(), ..bench.settings.clone() };
        let after = Disk::open(settings, bench.clock.clone()).unwrap();
        let held = after.search(&Every, &Span::all(Scope::All), AMPLE).await.unwrap().items.len();
        assert!(held <= 37 * round);
        assert_eq!(count(&after, "needle").await, held);
        assert_eq!(count(&after, "number11z").await, round.min(held / 12));
    }
}

/// Matches everything.
struct Every;

impl store::Query for Every {
    fn summary(&self, _: &mail::Summary) -> store::search::Glance {
        store::search::Glance::Yes
    }

    fn message(&self, _: &store::Stored) -> bool {
        true
    }
}

#[tokio::test]
async fn without_an_index_everything_is_looked_at() {
    let bench = indexed(|search| search.index_max = 0);
    let disk = bench.open();
    fill(&bench, &disk, 10).await;
    let found = search(&disk, "number3z").await;
    assert_eq!((found.items.len(), found.scanned, found.way), (1, 10, Way::Scan));
    assert!(!bench.place.path().join(super::book::FILE).exists());
}

#[tokio::test]
async fn damage_is_told_in_the_log() {
    let (bench, log) = (indexed(|_| ()), Log::here());
    let disk = bench.open();
    fill(&bench, &disk, 400).await;
    settle(&bench);
    index(&bench).execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    damage(&bench, 4_096);
    for round in 0..400 {
        count(&disk, &format!("number{round}z")).await;
    }
    until("it is told", || log.has(&["the search index is damaged"]));
}
