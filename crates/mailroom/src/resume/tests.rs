//! Coming back with a cursor: of what, how old, from which life.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use store::{Position, Scope};

use super::{Gap, Life, Start};
use crate::cursor::{BadCursor, Cursor, Place};
use crate::stub::{self, ANYBODY, mailbox, next, parcel};
use crate::{Event, Mailroom, Settings};

const WINDOW: Duration = Duration::from_secs(100);

fn cursor(scope: &Scope, epoch: u64, age: i64) -> String {
    let issued = Timestamp::from_second(1_000_000).unwrap() - SignedDuration::from_secs(age);
    Cursor { epoch, place: Place::of(scope), position: Position(5), issued }.encode()
}

#[test]
fn a_cursor_is_gone_on_from_or_it_is_said_why_not() {
    let now = Timestamp::from_second(1_000_000).unwrap();
    let one = Scope::Mailbox(mailbox("a"));
    let start =
        |text: Option<&str>, scope: &Scope, other| Start::of(text, scope, Life { epoch: 7, other }, now, WINDOW);
    assert_eq!(start(None, &one, Gap::Restarted), Ok(Start::Now(None)));
    let rows = [
        (&one, 7, 0, Gap::Restarted, Start::After(Position(5))),
        (&one, 7, 99, Gap::Restarted, Start::After(Position(5))),
        // A clock that was put back makes no cursor old.
        (&one, 7, -50, Gap::Restarted, Start::After(Position(5))),
        (&one, 7, 100, Gap::Restarted, Start::Now(Some(Gap::Expired))),
        (&one, 6, 0, Gap::Restarted, Start::Now(Some(Gap::Restarted))),
        (&one, 6, 500, Gap::Restarted, Start::Now(Some(Gap::Restarted))),
        (&Scope::All, 7, 99, Gap::Node, Start::After(Position(5))),
        (&Scope::All, 7, 100, Gap::Node, Start::Now(Some(Gap::Expired))),
        (&Scope::All, 6, 0, Gap::Node, Start::Now(Some(Gap::Node))),
    ];
    for (scope, epoch, age, other, expected) in rows {
        let text = cursor(scope, epoch, age);
        assert_eq!(start(Some(&text), scope, other), Ok(expected), "{scope:?} epoch {epoch} age {age}");
    }
    assert_eq!(start(Some("2026-11-15"), &one, Gap::Restarted), Err(BadCursor::Syntax));
    assert_eq!(start(Some(&cursor(&Scope::All, 7, 0)), &one, Gap::Restarted), Err(BadCursor::Foreign));
}

async fn deliver(room: &Mailroom, recipient: &str) -> Position {
    room.deliver(&ANYBODY, parcel(room, &[recipient])).await.unwrap().filed[0].id.into()
}

fn position(event: Option<Event>) -> Position {
    event.expect("the stream goes on").position()
}

#[tokio::test]
async fn what_was_missed_is_told_and_the_place_is_told_with_it() {
    let (_stub, room) = stub::open(Settings::default());
    let scope = Scope::Mailbox(mailbox("a"));
    let first = deliver(&room, "a@x.test").await;
    let text = room.cursor(&scope, first);
    let (second, _other) = (deliver(&room, "a@x.test").await, deliver(&room, "b@x.test").await);
    let mut back = room.resume(&ANYBODY, scope.clone(), Some(&text), WINDOW).await.unwrap();
    assert_eq!((back.position, back.gap), (first, None));
    assert_eq!(position(next(&mut back.watch).await), second);

    let mut new = room.resume(&ANYBODY, scope.clone(), None, WINDOW).await.unwrap();
    assert!(new.position >= second && new.gap.is_none());
    let third = deliver(&room, "a@x.test").await;
    assert_eq!(position(next(&mut new.watch).await), third);
}

#[tokio::test]
async fn a_place_that_the_store_has_not_come_to_is_no_place() {
    let (_stub, room) = stub::open(Settings::default());
    let scope = Scope::Mailbox(mailbox("a"));
    let last = deliver(&room, "a@x.test").await;
    let ahead = room.cursor(&scope, Position(last.0 + 40));
    let mut back = room.resume(&ANYBODY, scope, Some(&ahead), WINDOW).await.unwrap();
    assert_eq!((back.position, back.gap), (last, Some(Gap::Restarted)));
    let next_one = deliver(&room, "a@x.test").await;
    assert_eq!(position(next(&mut back.watch).await), next_one);
}
