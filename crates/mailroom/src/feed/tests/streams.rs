//! The streams that the feed opens: of what, from where on, shared by whom, and what happens when they end.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use futures_util::FutureExt;
use store::{Position, Scope};

use super::super::outage::REOPENING_MAX;
use super::super::{Event, Watch};
use super::{deliver, now, told, until, watch, watch_after_delivery, watch_all};
use crate::stub::{self, ANYBODY, Stub, mailbox, next};
use crate::{Error, Mailroom, Settings};

async fn watch_after(room: &Mailroom, name: &str, position: u64) -> Watch {
    room.watch_after(&ANYBODY, Scope::Mailbox(mailbox(name)), Position(position)).await.unwrap()
}

/// What the engine was asked for, in short and sorted: `a from 3`, `all from the end`.
fn asked(stub: &Stub) -> Vec<String> {
    let word = |(scope, after): &(Scope, Position)| {
        let what = match scope {
            Scope::Mailbox(mailbox) => mailbox.to_string(),
            Scope::All => "all".into(),
        };
        match *after {
            Position::END => format!("{what} from the end"),
            Position(number) => format!("{what} from {number}"),
        }
    };
    let mut words: Vec<_> = stub.opened.lock().unwrap().iter().map(word).collect();
    words.sort();
    words
}

#[tokio::test]
async fn the_engine_is_asked_for_what_is_watched_and_for_nothing_else() {
    let (stub, room) = stub::open(Settings::default());
    deliver(&room, "a").await;
    assert_eq!(asked(&stub), Vec::<String>::new(), "a stream without a watcher");
    let (mut a, mut b) = tokio::join!(watch(&room, "a"), watch(&room, "b"));
    for name in ["c", "a", "b"] {
        deliver(&room, name).await;
    }
    assert_eq!(told(next(&mut a).await), "+3 a");
    assert_eq!(told(next(&mut b).await), "+4 b");
    assert_eq!((asked(&stub), stub.streams()), (vec!["a from the end".into(), "b from the end".into()], 2));
}

#[tokio::test]
async fn all_who_watch_a_mailbox_share_one_stream_and_the_last_ends_it() {
    let (stub, room) = stub::open(Settings::default());
    let (first, second, all) = tokio::join!(watch(&room, "a"), watch(&room, "a"), watch_all(&room));
    let third = watch(&room, "a").await;
    assert_eq!((asked(&stub), stub.streams()), (vec!["a from the end".into(), "all from the end".into()], 2));
    drop((first, third));
    assert_eq!(told(watch_after_delivery(&room, second, "a").await), "+1 a");
    until("the stream is given back", || stub.streams() == 1).await;
    assert_eq!(told(watch_after_delivery(&room, all, "b").await), "+1 a");
    until("the stream is given back", || stub.streams() == 0).await;
    let fourth = watch(&room, "a").await;
    assert_eq!((asked(&stub).len(), stub.streams()), (3, 1));
    assert_eq!(told(watch_after_delivery(&room, fourth, "a").await), "+3 a");
}

#[tokio::test]
async fn a_failed_start_leaves_nobody_behind() {
    let (stub, room) = stub::open(Settings { watchers_max: 2, ..Settings::default() });
    stub.down.store(true, SeqCst);
    let failed = tokio::join!(room.watch(&ANYBODY, Scope::All), room.watch(&ANYBODY, Scope::All));
    assert!(matches!(failed, (Err(Error::Store(_)), Err(Error::Store(_)))));
    stub.down.store(false, SeqCst);
    let (watch, _other) = (watch_all(&room).await, watch_all(&room).await);
    assert_eq!(told(watch_after_delivery(&room, watch, "a").await), "+1 a");
}

/// Whoever waits for another's start must not wait for ever when that one goes away.
#[tokio::test]
async fn who_goes_away_while_starting_leaves_it_to_the_next() {
    let (stub, room) = stub::open(Settings { watchers_max: 2, ..Settings::default() });
    stub.slow.store(true, SeqCst);
    let mut first = Box::pin(watch(&room, "a"));
    assert!(first.as_mut().now_or_never().is_none());
    let mut second = Box::pin(watch(&room, "a"));
    assert!(second.as_mut().now_or_never().is_none());
    drop(first);
    stub.slow.store(false, SeqCst);
    let second = second.await;
    assert_eq!(told(watch_after_delivery(&room, second, "a").await), "+1 a");
    until("the stream is given back", || stub.streams() == 0).await;
    assert_eq!(asked(&stub), ["a from the end"]);
}

/// Deliver to `a` once while the stream was there and once while it was not.
async fn outage(stub: &Stub, room: &Mailroom, watch: &mut Watch) {
    deliver(room, "a").await;
    assert_eq!(told(next(watch).await), "+1 a");
    stub.down.store(true, SeqCst);
    stub.end_streams();
    tokio::time::sleep(Duration::from_secs(30)).await;
    deliver(room, "a").await;
    assert_eq!(now(watch), None);
    stub.down.store(false, SeqCst);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_is_opened_again_behind_what_was_seen() {
    let (stub, room) = stub::open(Settings::default());
    let mut watch = watch(&room, "a").await;
    outage(&stub, &room, &mut watch).await;
    assert_eq!(told(next(&mut watch).await), "+2 a");
    assert_eq!(told(watch_after_delivery(&room, watch, "a").await), "+3 a");
    assert_eq!(asked(&stub), ["a from 1", "a from the end"]);
}

#[tokio::test(start_paused = true)]
async fn what_the_engine_forgot_while_its_stream_was_down_is_told() {
    let (stub, room) = stub::open(Settings::default());
    let mut watch = watch(&room, "a").await;
    outage(&stub, &room, &mut watch).await;
    stub.forget();
    assert_eq!(next(&mut watch).await, Some(Event::Lagged { missed: 0, position: Position(2) }));
    assert_eq!(told(watch_after_delivery(&room, watch, "a").await), "+3 a");
}

/// Over all mailboxes, and where nothing was seen yet, nobody can say from where to go on.
#[tokio::test(start_paused = true)]
async fn a_stream_that_cannot_go_on_where_it_ended_tells_the_gap() {
    let (stub, room) = stub::open(Settings::default());
    let (mut of_all, mut of_b) = (watch_all(&room).await, watch(&room, "b").await);
    outage(&stub, &room, &mut of_all).await;
    assert_eq!(told(next(&mut of_all).await), "lagged 0");
    assert_eq!(told(next(&mut of_b).await), "lagged 0");
    deliver(&room, "b").await;
    assert_eq!(told(next(&mut of_all).await), "+3 b");
    assert_eq!(told(next(&mut of_b).await), "+3 b");
    assert_eq!(asked(&stub), ["all from the end", "all from the end", "b from the end", "b from the end"]);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_streams_that_end_are_opened_again_a_few_at_a_time() {
    let (stub, room) = stub::open(Settings::default());
    let mut watches = Vec::new();
    for number in 0..1000 {
        watches.push(watch(&room, &format!("m{number}")).await);
    }
    stub.slow.store(true, SeqCst);
    stub.end_streams();
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(stub.asking.load(SeqCst), REOPENING_MAX);
    stub.slow.store(false, SeqCst);
    until("all are served again", || stub.streams() == 1000).await;
    for (number, watch) in watches.iter_mut().enumerate() {
        assert_eq!(told(next(watch).await), "lagged 0");
        deliver(&room, &format!("m{number}")).await;
        assert_eq!(told(next(watch).await), format!("+{} m{number}", number + 1));
    }
}

#[tokio::test]
async fn who_comes_back_is_told_what_happened_since() {
    let (stub, room) = stub::open(Settings::default());
    for name in ["a", "a", "b", "a"] {
        deliver(&room, name).await;
    }
    let (mut back, mut fresh) = (watch_after(&room, "a", 1).await, watch(&room, "a").await);
    deliver(&room, "a").await;
    for expected in ["+2 a", "+4 a", "+5 a"] {
        assert_eq!(told(next(&mut back).await), expected);
    }
    assert_eq!(told(next(&mut fresh).await), "+5 a", "the past of one is not told to others");
    assert_eq!(asked(&stub), ["a from 1", "a from the end"]);
    drop((back, fresh));
    until("the streams are given back", || stub.streams() == 0).await;
}

#[tokio::test]
async fn who_comes_back_too_late_is_told() {
    let (stub, room) = stub::open(Settings { queue_max: 2, ..Settings::default() });
    for _ in 0..5 {
        deliver(&room, "a").await;
    }
    let mut slow = watch_after(&room, "a", 1).await;
    until("more came than may wait", || room.events_dropped() == 2).await;
    assert_eq!(next(&mut slow).await, Some(Event::Lagged { missed: 2, position: Position(3) }));
    assert_eq!(told(next(&mut slow).await), "+4 a");
    stub.forget();
    let mut late = watch_after(&room, "a", 1).await;
    assert_eq!(next(&mut late).await, Some(Event::Lagged { missed: 0, position: Position(5) }));
    assert_eq!(told(watch_after_delivery(&room, late, "a").await), "+6 a");
}

/// Before anything new came: the place to go on from is the one it named.
#[tokio::test(start_paused = true)]
async fn who_came_back_loses_nothing_when_the_stream_ends() {
    let (stub, room) = stub::open(Settings::default());
    deliver(&room, "a").await;
    let mut back = watch_after(&room, "a", 1).await;
    stub.end_streams();
    deliver(&room, "a").await;
    assert_eq!(told(next(&mut back).await), "+2 a");
    assert_eq!(asked(&stub), ["a from 1", "a from 1"]);
}
