//! Searching through the door: who finds what, and how much at once.

use bytes::Bytes;
use jiff::Timestamp;
use store::{Memory, Store, SystemClock};

use super::*;
use crate::stub::{ANYBODY, mailbox, parcel};
use crate::{Parcel, Settings};

fn open(limits: Limits) -> Arc<Mailroom> {
    let store: Arc<dyn Store> = Arc::new(Memory::new(Default::default(), Arc::new(SystemClock)));
    Mailroom::new(store, Settings { search: limits, ..Settings::default() })
}

async fn send(room: &Mailroom, to: &str, text: &str) {
    let raw = Bytes::from(format!("Subject: {text}\r\n\r\nbody of {text}\r\n"));
    let parcel = Parcel { raw, received_at: Timestamp::now(), ..parcel(room, &[to]) };
    room.deliver(&ANYBODY, parcel).await.unwrap();
}

fn search(query: &str, scope: Scope) -> Search {
    let query = Query::parse(query).unwrap();
    Search { query, scope, order: Order::Newest, since: Position::START, behind: None, limit: 10 }
}

fn subjects(searched: &Searched) -> Vec<&str> {
    searched.items.iter().map(|item| item.summary.subject.as_str()).collect()
}

#[tokio::test]
async fn a_search_tells_what_it_found_and_how() {
    let room = open(Limits::default());
    send(&room, "a@x.test", "needle one").await;
    send(&room, "b@x.test", "needle two").await;
    send(&room, "a@x.test", "hay").await;
    let found = room.search(&ANYBODY, search("needle", Scope::Mailbox(mailbox("a")))).await.unwrap();
    assert_eq!((subjects(&found), found.next), (vec!["needle one"], None));
    let told = Told { engine: "scan", scope: "mailbox", scanned: 2, complete: true, reason: None };
    assert_eq!(found.told, told);
    let all = room.search(&ANYBODY, search("body:needle", Scope::All)).await.unwrap();
    assert_eq!((subjects(&all), all.told.scope), (vec!["needle two", "needle one"], "all"));
}

#[tokio::test]
async fn a_search_goes_on_page_by_page_and_from_a_cursor_on() {
    let room = open(Limits::default());
    for number in 0..5 {
        send(&room, "a@x.test", &format!("needle {number}")).await;
    }
    for (order, expected) in [(Order::Newest, ["4", "3", "2", "1", "0"]), (Order::Oldest, ["0", "1", "2", "3", "4"])] {
        let mut asked = Search { order, limit: 2, ..search("needle", Scope::Mailbox(mailbox("a"))) };
        let (mut seen, mut first) = (Vec::new(), None);
        loop {
            let page = room.search(&ANYBODY, asked.clone()).await.unwrap();
            assert!(page.told.complete, "a full page is complete");
            seen.extend(page.items.iter().map(|item| item.summary.subject[7..].to_owned()));
            first = first.or(page.items.first().map(|item| item.summary.id));
            match page.next {
                Some(next) => asked.behind = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, expected);
        let since = Search { since: first.unwrap().into(), ..search("needle", Scope::Mailbox(mailbox("a"))) };
        let newer = room.search(&ANYBODY, since).await.unwrap().items.len();
        assert_eq!(newer, if order == Order::Newest { 0 } else { 4 });
    }
}

#[tokio::test]
async fn t059_a_search_ends_at_its_bounds_and_says_so() {
    let room = open(Limits { scan_max: 100, ..Limits::default() });
    for _ in 0..10 {
        send(&room, "a@x.test", "hay").await;
    }
    let found = room.search(&ANYBODY, search("body:needle", Scope::All)).await.unwrap();
    assert!(!found.told.complete && found.told.reason.unwrap().contains("search.scan_max"), "{found:?}");
    assert!(found.next.is_some(), "it can be gone on");
    let room = open(Limits { deadline: Duration::ZERO, ..Limits::default() });
    send(&room, "a@x.test", "hay").await;
    let found = room.search(&ANYBODY, search("hay", Scope::All)).await.unwrap();
    assert!(!found.told.complete && found.told.reason.unwrap().contains("search.deadline"), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t059_a_hundred_searches_at_once_are_answered_or_told_to_come_back() {
    let room = open(Limits { parallel_max: 4, deadline: Duration::from_secs(60), ..Limits::default() });
    for number in 0..200 {
        send(&room, "a@x.test", &format!("hay {number} {}", "x".repeat(20_000))).await;
    }
    let one = || {
        let room = Arc::clone(&room);
        tokio::spawn(async move { room.search(&ANYBODY, search("body:needle", Scope::All)).await })
    };
    let all: Vec<_> = (0..100).map(|_| one()).collect();
    let (mut done, mut told) = (0, 0);
    for search in all {
        match search.await.unwrap() {
            Ok(found) => done += usize::from(found.told.scanned == 200),
            Err(Error::TooMany { what }) => told += usize::from(what.contains("search.parallel_max")),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(done + told, 100);
    assert!(done >= 4 && told > 0, "{done} were answered, {told} told to come back");
    let after = room.search(&ANYBODY, search("hay", Scope::All)).await.unwrap();
    assert_eq!(after.items.len(), 10, "the places are free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t059_a_search_that_nobody_waits_for_ends() {
    let room = open(Limits { parallel_max: 1, deadline: Duration::from_secs(600), scan_max: 1 << 40 });
    for number in 0..100 {
        send(&room, "a@x.test", &format!("hay {number} {}", "x".repeat(200_000))).await;
    }
    let asked = room.search(&ANYBODY, search("body:needle", Scope::All));
    // It has begun when its time is over, and is dropped with that.
    let gone = tokio::time::timeout(Duration::from_millis(1), asked).await;
    let begun = std::time::Instant::now();
    while room.searches.enter().is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20), "the place of a search that has gone is free again");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(gone);
}
