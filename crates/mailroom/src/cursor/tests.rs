//! Cursors there and back, and what is none.

use mail::Mailbox;
use proptest::prelude::*;
use std::sync::Arc;
use store::memory::{Memory, Settings as Bounds};
use store::{ManualClock, Position, Scope, Store};

use super::*;
use crate::{Caller, Error, Mailroom, Settings};

fn alice() -> Scope {
    Scope::Mailbox(Mailbox::from_canonical("alice"))
}

proptest! {
    #[test]
    fn what_was_issued_comes_back(epoch: u64, position: u64, second in 0_i64..200_000_000_000) {
        let issued = Timestamp::from_second(second).unwrap();
        let cursor = Cursor { epoch, place: Place::of(&alice()), position: Position(position), issued };
        let text = cursor.encode();
        prop_assert!(text.starts_with('A'), "{}", text);
        prop_assert_eq!(Cursor::decode(&text), Ok(cursor));
    }

    #[test]
    fn anything_else_is_refused(text in ".{0,60}") {
        prop_assert!(Cursor::decode(&text).is_err() || text.len() == 35);
    }
}

#[test]
fn times_and_halves_are_no_cursors() {
    let cursor = Cursor { epoch: 7, place: Place::of(&alice()), position: Position(9), issued: Timestamp::UNIX_EPOCH };
    let text = cursor.encode();
    for wrong in
        ["", "AQ", "2026-11-15T07:10:58Z", "1763190658", "latest", &text[1..], &text[..34], &format!("{text}A")]
    {
        assert_eq!(Cursor::decode(wrong), Err(BadCursor::Syntax), "{wrong}");
    }
}

fn room() -> (Arc<Memory>, Arc<Mailroom>) {
    let memory = Arc::new(Memory::new(Bounds::default(), Arc::new(ManualClock::at(Timestamp::UNIX_EPOCH))));
    let store: Arc<dyn Store> = Arc::<Memory>::clone(&memory);
    (memory, Mailroom::new(store, Settings::default()))
}

async fn since(room: &Mailroom, scope: &Scope, text: &str) -> Result<Since, BadCursor> {
    match room.since(&Caller::Program, scope, text).await {
        Ok(since) => Ok(since),
        Err(Error::Cursor(bad)) => Err(bad),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_cursor_holds_for_its_mailbox_and_its_store() {
    let (_, room) = room();
    let text = room.cursor(&alice(), Position::START);
    let good = since(&room, &alice(), &text).await.unwrap();
    assert_eq!((good.position, good.restarted), (Position::START, false));
    let bob = Scope::Mailbox(Mailbox::from_canonical("bob"));
    assert_eq!(since(&room, &bob, &text).await, Err(BadCursor::Foreign));
    assert_eq!(since(&room, &Scope::All, &text).await, Err(BadCursor::Foreign));
    assert_eq!(since(&room, &alice(), &room.cursor(&alice(), Position(5))).await, Err(BadCursor::Ahead));
}

#[tokio::test]
async fn of_an_earlier_life_everything_is_new() {
    let ((_, earlier), (_, room)) = (room(), room());
    let text = earlier.cursor(&alice(), Position(900));
    let since = since(&room, &alice(), &text).await.unwrap();
    assert_eq!((since.position, since.restarted), (Position::START, true));
}
