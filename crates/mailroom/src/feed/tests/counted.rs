//! All mailboxes where the engine has no order of them: the node counts, and those who come back to it go on.

use std::time::Duration;

use store::{Position, Scope};

use super::super::hub::LINGER;
use super::{deliver, now, told, until, watch, watch_all};
use crate::resume::{Followed, Gap};
use crate::stub::{self, ANYBODY, mailbox, next};
use crate::{Event, Mailroom, Settings};

const WINDOW: Duration = Duration::from_secs(100);

async fn resume(room: &Mailroom, since: Option<&str>) -> Followed {
    room.resume(&ANYBODY, Scope::All, since, WINDOW).await.unwrap()
}

/// The next event, and the cursor to come back with.
async fn step(room: &Mailroom, followed: &mut Followed) -> (String, String) {
    let event = next(&mut followed.watch).await;
    let position = event.as_ref().map_or(Position::START, Event::position);
    (told(event), room.cursor(&Scope::All, position))
}

#[tokio::test]
async fn who_comes_back_is_told_what_it_missed() {
    let (stub, room) = stub::open_narrow(Settings::default());
    let (mut first, mut other) = (resume(&room, None).await, watch_all(&room).await);
    let begun = room.cursor(&Scope::All, first.position);
    deliver(&room, "a").await;
    let (word, cursor) = step(&room, &mut first).await;
    assert_eq!(word, "+1 a");
    drop(first);
    deliver(&room, "b").await;
    room.purge(&ANYBODY, &mailbox("b")).await.unwrap();
    for expected in ["+1 a", "+2 b", "0<3 b"] {
        assert_eq!(told(next(&mut other).await), expected);
    }
    let (mut back, mut from_the_start) = (resume(&room, Some(&cursor)).await, resume(&room, Some(&begun)).await);
    assert_eq!((back.gap, from_the_start.gap), (None, None));
    assert_eq!(told(next(&mut from_the_start.watch).await), "+1 a");
    deliver(&room, "c").await;
    for followed in [&mut back, &mut from_the_start] {
        for expected in ["+2 b", "0<3 b", "+4 c"] {
            assert_eq!(told(next(&mut followed.watch).await), expected);
        }
    }
    assert_eq!(stub.opened.lock().unwrap().len(), 1, "all share one stream");
}

#[tokio::test(start_paused = true)]
async fn the_last_one_may_come_back_for_a_while() {
    let (stub, room) = stub::open_narrow(Settings::default());
    let mut alone = resume(&room, None).await;
    deliver(&room, "a").await;
    let (_, mut cursor) = step(&room, &mut alone).await;
    drop(alone);
    // Also again and again.
    for round in 2..5 {
        tokio::time::sleep(LINGER - Duration::from_secs(1)).await;
        deliver(&room, "a").await;
        let mut back = resume(&room, Some(&cursor)).await;
        let word;
        (word, cursor) = step(&room, &mut back).await;
        assert_eq!(word, format!("+{round} a"));
    }
    assert_eq!(stub.streams(), 1);
    tokio::time::sleep(LINGER * 2).await;
    until("the stream is given back", || stub.streams() == 0).await;

    let mut late = resume(&room, Some(&cursor)).await;
    let (word, cursor) = step(&room, &mut late).await;
    assert_eq!((word.as_str(), late.gap), ("lagged 0", None), "what was not counted is missing");
    deliver(&room, "b").await;
    assert_eq!(step(&room, &mut late).await.0, "+5 b");
    drop(late);
    assert_eq!(step(&room, &mut resume(&room, Some(&cursor)).await).await.0, "+5 b");
}

#[tokio::test]
async fn a_count_is_of_one_node() {
    let ((_, here), (_, there)) = (stub::open_narrow(Settings::default()), stub::open_narrow(Settings::default()));
    let of_here = here.cursor(&Scope::All, resume(&here, None).await.position);
    let mut moved = resume(&there, Some(&of_here)).await;
    assert_eq!(moved.gap, Some(Gap::Node));
    deliver(&there, "a").await;
    assert_eq!(step(&there, &mut moved).await.0, "+1 a");
    // The mailboxes themselves are the same everywhere.
    let one = Scope::Mailbox(mailbox("a"));
    let of_one = here.cursor(&one, Position::START);
    let mut moved = there.resume(&ANYBODY, one, Some(&of_one), WINDOW).await.unwrap();
    assert_eq!((moved.gap, told(next(&mut moved.watch).await)), (None, "+1 a".into()));
}

#[tokio::test]
async fn what_is_not_remembered_is_said_to_be_missing() {
    let (stub, room) = stub::open_narrow(Settings { queue_max: 3, ..Settings::default() });
    let (mut first, _other) = (resume(&room, None).await, watch_all(&room).await);
    let begun = room.cursor(&Scope::All, first.position);
    for round in 1..=4 {
        deliver(&room, "a").await;
        assert_eq!(step(&room, &mut first).await.0, format!("+{round} a"));
    }
    let lagged = async |cursor: &str| step(&room, &mut resume(&room, Some(cursor)).await).await;
    assert_eq!(lagged(&begun).await.0, "lagged 0", "four were told since, and three are remembered");
    let ahead = room.cursor(&Scope::All, Position(1_000_000));
    assert_eq!(lagged(&ahead).await.0, "lagged 0", "nobody has counted so far");

    stub.lose(Position(9));
    let (word, behind_the_gap) = step(&room, &mut first).await;
    assert_eq!(word, "lagged 0");
    deliver(&room, "a").await;
    let (word, behind_it) = step(&room, &mut first).await;
    assert_eq!(word, "+5 a");
    assert_eq!(lagged(&behind_the_gap).await, (word, behind_it));
    let before_the_gap = room.cursor(&Scope::All, Position(first.position.0 + 4));
    assert_eq!(lagged(&before_the_gap).await.0, "lagged 0");
}

#[tokio::test]
async fn one_who_could_not_begin_is_not_waited_for() {
    let (stub, room) = stub::open_narrow(Settings { watchers_max: 1, ..Settings::default() });
    stub.down.store(true, std::sync::atomic::Ordering::SeqCst);
    assert!(room.resume(&ANYBODY, Scope::All, None, WINDOW).await.is_err());
    stub.down.store(false, std::sync::atomic::Ordering::SeqCst);
    let mut good = resume(&room, None).await;
    deliver(&room, "a").await;
    assert_eq!(step(&room, &mut good).await.0, "+1 a");
    assert_eq!(now(&mut good.watch), None);
    drop(good);
    watch(&room, "a").await;
}
