//! Coming back with a cursor: of what, how old, from which life.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use store::{Abilities, Position, Scope};

use super::{Gap, Start};
use crate::cursor::{BadCursor, Cursor, Place};
use crate::stub::{self, ANYBODY, mailbox, next, parcel};
use crate::{Event, Mailroom, Settings};

const WINDOW: Duration = Duration::from_secs(100);

fn abilities(whole_view: bool) -> Abilities {
    Abilities { engine: "stub", promise: "", epoch: 7, whole_view }
}

fn cursor(scope: &Scope, epoch: u64, age: i64) -> String {
    let issued = Timestamp::from_second(1_000_000).unwrap() - SignedDuration::from_secs(age);
    Cursor { epoch, place: Place::of(scope), position: Position(5), issued }.encode()
}

#[test]
fn a_cursor_is_gone_on_from_or_it_is_said_why_not() {
    let now = Timestamp::from_second(1_000_000).unwrap();
    let one = Scope::Mailbox(mailbox("a"));
    let start = |text: Option<&str>, scope: &Scope, whole| Start::of(text, scope, &abilities(whole), now, WINDOW);
    assert_eq!(start(None, &one, true), Ok(Start::Now(None)));
    let rows = [
        (&one, 7, 0, true, Start::After(Position(5))),
        (&one, 7, 99, true, Start::After(Position(5))),
        // A clock that was put back makes no cursor old.
        (&one, 7, -50, true, Start::After(Position(5))),
        (&one, 7, 100, true, Start::Now(Some(Gap::Expired))),
        (&one, 6, 0, true, Start::Now(Some(Gap::Restarted))),
        (&one, 6, 500, true, Start::Now(Some(Gap::Restarted))),
        (&one, 7, 99, false, Start::After(Position(5))),
        (&Scope::All, 7, 0, true, Start::After(Position(5))),
        (&Scope::All, 7, 0, false, Start::Now(Some(Gap::Node))),
    ];
    for (scope, epoch, age, whole, expected) in rows {
        let text = cursor(scope, epoch, age);
        assert_eq!(start(Some(&text), scope, whole), Ok(expected), "{scope:?} epoch {epoch} age {age} whole {whole}");
    }
    assert_eq!(start(Some("2026-11-15"), &one, true), Err(BadCursor::Syntax));
    assert_eq!(start(Some(&cursor(&Scope::All, 7, 0)), &one, true), Err(BadCursor::Foreign));
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
