//! Nodes over an engine that sees one mailbox at a time.

mod nodes;

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use mail::{Mailbox, Query};
use store::{Memory, Scope, Store, SystemClock};

use super::*;
use crate::access::{Mode, Scopes, tokens};
use crate::refusals::{ByFault, Refusal, Stage};
use crate::stub::{ANYBODY, address, mailbox, parcel};
use crate::verdict::Status;
use crate::{Caller, Error, Mailroom, Parcel, Settings, Which};
use nodes::{Board, node};

async fn send(room: &Mailroom, to: &str, subject: &str) {
    let raw = Bytes::from(format!("From: a@shop.test\r\nSubject: {subject}\r\n\r\nbody of {subject}\r\n"));
    let parcel = Parcel { raw, received_at: Timestamp::now(), ..parcel(room, &[to]) };
    room.deliver(&ANYBODY, parcel).await.unwrap();
}

fn subjects(recent: &Recent) -> Vec<&str> {
    recent.items.iter().map(|item| item.summary.subject.as_str()).collect()
}

async fn recent(room: &Mailroom, query: Option<&str>, limit: usize) -> Recent {
    let query = query.map(|text| Query::parse(text).unwrap());
    room.list_recent(&ANYBODY, RecentAsk { query, limit, ..RecentAsk::default() }).await.unwrap()
}

async fn three() -> (Arc<Board>, Vec<Arc<Mailroom>>) {
    let (board, memory) =
        (Arc::new(Board::default()), Arc::new(Memory::new(Default::default(), Arc::new(SystemClock))));
    let mut rooms = Vec::new();
    for number in 0..3 {
        rooms.push(node(&board, &memory, number, Settings::default()).await);
    }
    (board, rooms)
}

#[tokio::test]
async fn every_node_shows_what_all_delivered() {
    let (_board, rooms) = three().await;
    for (number, room) in rooms.iter().enumerate() {
        send(room, &format!("m{number}@x.test"), &format!("mail {number}")).await;
    }
    for room in &rooms {
        let all = recent(room, None, 10).await;
        assert_eq!(subjects(&all), ["mail 2", "mail 1", "mail 0"]);
        assert_eq!(all.nodes, Nodes { complete: false, asked: 3, answered: 3 });
    }
}

#[tokio::test]
async fn a_node_that_does_not_answer_is_counted() {
    let (board, rooms) = three().await;
    send(&rooms[1], "a@x.test", "lost").await;
    send(&rooms[0], "a@x.test", "own").await;
    board.silence(1);
    let all = recent(&rooms[0], None, 10).await;
    assert_eq!((subjects(&all), all.nodes), (vec!["own"], Nodes { complete: false, asked: 3, answered: 2 }));
}

#[tokio::test]
async fn what_has_gone_is_not_shown() {
    let (_board, rooms) = three().await;
    send(&rooms[0], "a@x.test", "stays").await;
    send(&rooms[0], "a@x.test", "goes").await;
    send(&rooms[1], "b@x.test", "goes too").await;
    rooms[2].delete(&ANYBODY, &mailbox("a"), Which::Latest).await.unwrap();
    rooms[2].purge(&ANYBODY, &mailbox("b")).await.unwrap();
    assert_eq!(subjects(&recent(&rooms[1], None, 10).await), ["stays"]);
    let names: Vec<_> = rooms[0].list_mailboxes(&ANYBODY, "", None, 10).await.unwrap().items;
    assert_eq!(names.iter().map(|state| (state.mailbox.as_str(), state.messages)).collect::<Vec<_>>(), [("a", 1)]);
}

#[tokio::test]
async fn pages_follow_each_other() {
    let (_board, rooms) = three().await;
    for number in 0..7 {
        send(&rooms[number % 3], "a@x.test", &format!("mail {number}")).await;
    }
    let (mut seen, mut behind) = (Vec::new(), None);
    loop {
        let page =
            rooms[0].list_recent(&ANYBODY, RecentAsk { behind, limit: 3, ..RecentAsk::default() }).await.unwrap();
        seen.extend(page.items.iter().map(|item| item.summary.subject.clone()));
        behind = page.next;
        if behind.is_none() {
            break;
        }
    }
    assert_eq!(seen, (0..7).rev().map(|number| format!("mail {number}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_search_over_all_goes_by_summaries() {
    let (_board, rooms) = three().await;
    send(&rooms[0], "a@x.test", "needle one").await;
    send(&rooms[1], "b@x.test", "needle two").await;
    send(&rooms[2], "c@x.test", "hay").await;
    let found = recent(&rooms[2], Some("subject:needle from:@shop.test"), 10).await;
    assert_eq!(subjects(&found), ["needle two", "needle one"]);
    let told = found.search.unwrap();
    assert_eq!((told.engine, told.scope, told.scanned, told.complete), ("rings", "recent", 3, false));
    let undecided = recent(&rooms[2], Some("body:hay"), 10).await;
    assert!(undecided.items.is_empty() && undecided.search.unwrap().reason.unwrap().contains("summaries alone"));
}

#[tokio::test]
async fn a_ring_keeps_the_newest() {
    let (board, memory) =
        (Arc::new(Board::default()), Arc::new(Memory::new(Default::default(), Arc::new(SystemClock))));
    let limits = Limits { ring_max: 2, ..Limits::default() };
    let room = node(&board, &memory, 0, Settings { recent: limits, ..Settings::default() }).await;
    for number in 0..4 {
        send(&room, "a@x.test", &format!("mail {number}")).await;
    }
    assert_eq!(subjects(&recent(&room, None, 10).await), ["mail 3", "mail 2"]);
}

/// Everything complete, by the engine itself.
fn whole(settings: Settings) -> Arc<Mailroom> {
    let store: Arc<dyn Store> = Arc::new(Memory::new(Default::default(), Arc::new(SystemClock)));
    Mailroom::new(store, settings)
}

#[tokio::test]
async fn an_engine_that_sees_all_answers_for_itself() {
    let room = whole(Settings::default());
    for number in 0..5 {
        send(&room, &format!("m{number}@x.test"), &format!("mail {number}")).await;
    }
    let page = recent(&room, None, 3).await;
    assert_eq!((subjects(&page), page.nodes), (vec!["mail 4", "mail 3", "mail 2"], Nodes::ALONE));
    assert_eq!(page.total, Some(5));
    let rest = RecentAsk { behind: page.next, limit: 3, ..RecentAsk::default() };
    let rest = room.list_recent(&ANYBODY, rest).await.unwrap();
    assert_eq!((subjects(&rest), rest.next), (vec!["mail 1", "mail 0"], None));
    let since = RecentAsk { since: Some(page.items[2].summary.id.into()), limit: 3, ..RecentAsk::default() };
    let since = room.list_recent(&ANYBODY, since).await.unwrap();
    assert_eq!((subjects(&since), since.next), (vec!["mail 4", "mail 3"], None));
    let names = room.list_mailboxes(&ANYBODY, "m", Some(&mailbox("m1")), 2).await.unwrap();
    assert_eq!(names.items.iter().map(|state| state.mailbox.as_str()).collect::<Vec<_>>(), ["m2", "m3"]);
    assert_eq!(names.next, Some(mailbox("m3")));
}

/// A token for these scopes.
fn token(scopes: &[&str]) -> Caller {
    let scopes = Scopes::parse(scopes.iter().copied(), mail::Naming::Local).unwrap();
    let grant = tokens::Grant::new("t".into(), String::new(), scopes, tokens::Origin::File);
    Caller::Token { grant: Arc::new(grant) }
}

fn by_token() -> Settings {
    Settings { access: Mode::Token.into(), ..Settings::default() }
}

const SENDER: Caller = Caller::Program;

#[tokio::test]
async fn t103_nobody_sees_more_of_all_than_they_may_list() {
    let room = whole(by_token());
    for to in ["ci-1@x.test", "secret@x.test", "ci-2@x.test", "secret@x.test"] {
        let raw = Bytes::from(format!("Subject: for {to}\r\n\r\nneedle\r\n"));
        let to = address(to);
        let mailbox = Mailbox::from_canonical(to.local());
        let mut parcel = parcel(&whole(Settings::default()), &["x@x.test"]);
        Arc::make_mut(&mut parcel.envelope).recipients = vec![mail::Recipient { address: to, mailbox }];
        room.deliver(&SENDER, Parcel { raw, received_at: Timestamp::now(), ..parcel }).await.unwrap();
    }
    let caller = token(&["ro:ci-*"]);
    for query in [None, Some("needle"), Some("subject:for")] {
        let query = query.map(|text| Query::parse(text).unwrap());
        let ask = RecentAsk { query, limit: 1, ..RecentAsk::default() };
        let page = room.list_recent(&caller, ask.clone()).await.unwrap();
        assert_eq!(subjects(&page), ["for ci-2@x.test"]);
        let page = room.list_recent(&caller, RecentAsk { behind: page.next, ..ask }).await.unwrap();
        assert_eq!((subjects(&page), page.total), (vec!["for ci-1@x.test"], None));
    }
    let names = room.list_mailboxes(&caller, "", None, 1).await.unwrap();
    assert_eq!(names.items[0].mailbox, mailbox("ci-1"));
    assert_eq!(room.similar(&caller, &mailbox("secre")).await.unwrap(), []);
    assert_eq!(room.similar(&caller, &mailbox("ci-3")).await.unwrap().len(), 2);
    assert!(matches!(room.similar(&ANYBODY, &mailbox("ci-3")).await, Err(Error::Denied(_))));
}

#[tokio::test]
async fn names_like_one_are_found() {
    let (_board, rooms) = three().await;
    let whole = whole(Settings::default());
    for room in [&rooms[1], &whole] {
        for to in ["alcie", "alice-test", "bob", "alice", "al"] {
            send(room, &format!("{to}@x.test"), "mail").await;
        }
    }
    for room in [&rooms[0], &whole] {
        let similar = room.similar(&ANYBODY, &mailbox("alice")).await.unwrap();
        let names: Vec<_> = similar.iter().map(|near| (near.mailbox.as_str(), near.messages)).collect();
        assert_eq!(names, [("alice-test", 1), ("alcie", 1)]);
    }
}

#[tokio::test]
async fn refusals_of_all_nodes_are_told() {
    let (board, rooms) = three().await;
    for (number, room) in rooms.iter().enumerate() {
        let refusal = Refusal {
            at: Timestamp::from_second(number as i64).unwrap(),
            stage: Stage::Data,
            mail_from: Some(mail::ReversePath(Some(address("a@x.test")))),
            rcpt_to: vec![address("here@x.test")],
            mailboxes: vec![mailbox(if number == 1 { "elsewhere" } else { "here" })],
            helo: None,
            peer: None,
            reply: Status { code: 552, enhanced: (5, 3, 4), text: format!("no {number}") },
            fault: Some(ByFault::Plan { id: "p".to_owned(), attempt: number.to_string() }),
        };
        room.refused(&ANYBODY, refusal);
    }
    let here = Scope::Mailbox(mailbox("here"));
    let (refusals, nodes) = rooms[1].refusals_everywhere(&ANYBODY, &here, 10).await.unwrap();
    let texts: Vec<_> = refusals.items.iter().map(|refusal| refusal.reply.text.as_str()).collect();
    assert_eq!((texts, nodes), (vec!["no 2", "no 0"], Nodes { complete: true, asked: 3, answered: 3 }));
    assert_eq!(rooms[1].refusals_everywhere(&ANYBODY, &Scope::All, 2).await.unwrap().0.items.len(), 2);
    board.silence(2);
    let (_, nodes) = rooms[1].refusals_everywhere(&ANYBODY, &here, 10).await.unwrap();
    assert_eq!(nodes, Nodes { complete: false, asked: 3, answered: 2 });
}

#[test]
fn what_nodes_say_comes_back_as_it_was() {
    for octets in [&b""[..], b"\x01", b"\xff\xff\xff\xff", b"\x01\x00\x01\x00"] {
        assert_eq!(wire::read::<wire::RecentQuestion>(octets), None, "{octets:?}");
    }
    let question = wire::RecentQuestion { before: Some((-1, 7)), limit: 3, query: Some("from:a".into()) };
    assert_eq!(wire::read::<wire::RecentQuestion>(&wire::write(&question)), Some(question));
}
