//! The feed, over an engine whose stream can be made to stall, lose and end.

mod counted;
mod streams;

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use mail::MessageId;
use proptest::prelude::*;
use store::{Change, News, Position, Scope};
use tokio::task::yield_now;

use super::hub::Hub;
use super::queue::Queue;
use super::{Event, Watch};
use crate::stub::{self, ANYBODY, mailbox, next, parcel};
use crate::{Error, Mailroom, Settings};

async fn deliver(room: &Mailroom, name: &str) -> MessageId {
    room.deliver(&ANYBODY, parcel(room, &[&format!("{name}@x.test")])).await.unwrap().filed[0].id
}

async fn watch(room: &Mailroom, name: &str) -> Watch {
    room.watch(&ANYBODY, Scope::Mailbox(mailbox(name))).await.unwrap()
}

async fn watch_all(room: &Mailroom) -> Watch {
    room.watch(&ANYBODY, Scope::All).await.unwrap()
}

fn deleted(position: u64) -> Change {
    let (id, position) = (MessageId::new(position), Position(position));
    Change::Deleted { mailbox: mailbox("a"), id, position }
}

/// Waits for what other tasks do, for a while.
async fn until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..10_000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("not reached: {what}");
}

/// What is there without waiting.
fn now(watch: &mut Watch) -> Option<Event> {
    watch.next().now_or_never().flatten()
}

/// What a queue has without waiting: an event, its end, or neither.
fn poll(queue: &Queue) -> Option<Option<Event>> {
    poll_fn(|context| queue.poll_next(context)).now_or_never()
}

/// Events in short: `+3 a`, `-3 a`, `0<3 a`, `lagged 2`.
fn told(event: Option<Event>) -> String {
    match event {
        Some(Event::Change(Change::Delivered { mailbox, summary }, _)) => format!("+{} {mailbox}", summary.id.number()),
        Some(Event::Change(Change::Deleted { mailbox, id, .. }, _)) => format!("-{} {mailbox}", id.number()),
        Some(Event::Change(Change::Purged { mailbox, up_to, .. }, _)) => format!("0<{} {mailbox}", up_to.0),
        Some(Event::Lagged { missed, .. }) => format!("lagged {missed}"),
        None => "end".into(),
    }
}

#[tokio::test]
async fn changes_come_in_order_to_those_they_concern() {
    let (_stub, room) = stub::open(Settings::default());
    let (mut of_a, mut of_all) = (watch(&room, "a").await, watch_all(&room).await);
    deliver(&room, "a").await;
    deliver(&room, "b").await;
    room.delete(&ANYBODY, &mailbox("a"), crate::Which::Latest).await.unwrap();
    room.purge(&ANYBODY, &mailbox("b")).await.unwrap();
    deliver(&room, "a").await;
    for expected in ["+1 a", "+2 b", "-1 a", "0<4 b", "+5 a"] {
        assert_eq!(told(next(&mut of_all).await), expected);
    }
    for expected in ["+1 a", "-1 a", "+5 a"] {
        assert_eq!(told(next(&mut of_a).await), expected);
    }
    assert_eq!((now(&mut of_a), now(&mut of_all)), (None, None));
}

async fn watch_after_delivery(room: &Mailroom, mut watch: Watch, name: &str) -> Option<Event> {
    deliver(room, name).await;
    next(&mut watch).await
}

#[tokio::test]
async fn watchers_are_limited() {
    let (_stub, room) = stub::open(Settings { watchers_max: 2, ..Settings::default() });
    let (first, _second) = (watch(&room, "a").await, watch_all(&room).await);
    let third = room.watch(&ANYBODY, Scope::All).await;
    assert!(matches!(third, Err(Error::TooMany { .. })));
    drop(first);
    watch(&room, "b").await;
}

#[tokio::test]
async fn who_does_not_read_loses_the_oldest_and_is_told_once() {
    let (_stub, room) = stub::open(Settings { queue_max: 2, ..Settings::default() });
    let (mut slow, mut good) = (watch(&room, "a").await, watch(&room, "a").await);
    for number in 1..=5 {
        deliver(&room, "a").await;
        assert_eq!(told(next(&mut good).await), format!("+{number} a"));
    }
    let lagged = next(&mut slow).await;
    assert_eq!(lagged, Some(Event::Lagged { missed: 3, position: Position(3) }));
    for expected in ["+4 a", "+5 a"] {
        assert_eq!(told(next(&mut slow).await), expected);
    }
    deliver(&room, "a").await;
    assert_eq!(told(next(&mut slow).await), "+6 a");
    assert_eq!(room.events_dropped(), 3);
}

/// Nothing read after the gap may be from before it: a delete among the missing would be undone.
#[tokio::test]
async fn what_the_engine_lost_is_told_to_all() {
    let (stub, room) = stub::open(Settings::default());
    let (mut of_a, mut of_all) = (watch(&room, "a").await, watch_all(&room).await);
    deliver(&room, "a").await;
    stub.lose(Position(9));
    until("the gap is told", || room.events_dropped() == 2).await;
    deliver(&room, "a").await;
    for watch in [&mut of_a, &mut of_all] {
        assert_eq!(next(watch).await, Some(Event::Lagged { missed: 1, position: Position(9) }));
        assert_eq!(told(next(watch).await), "+2 a");
    }
}

#[tokio::test]
async fn the_end_of_the_mailroom_ends_a_watch() {
    let (stub, room) = stub::open(Settings::default());
    let mut watch = watch_all(&room).await;
    deliver(&room, "a").await;
    yield_now().await;
    drop(room);
    assert_eq!(told(next(&mut watch).await), "+1 a");
    assert_eq!(next(&mut watch).await, None);
    assert_eq!(next(&mut watch).await, None);
    until("the stream is given back", || stub.streams() == 0).await;
}

/// The pump is not even run while mail is delivered: a delivery that waited for a watcher could not end.
#[tokio::test]
async fn t062_a_delivery_waits_for_no_watcher() {
    let (_stub, room) = stub::open(Settings { queue_max: 1, ..Settings::default() });
    let _stalled = watch_all(&room).await;
    for _ in 0..1000 {
        assert!(room.deliver(&ANYBODY, parcel(&room, &["a@x.test"])).now_or_never().is_some());
    }
}

#[tokio::test]
async fn t062_a_thousand_stalled_watchers_cost_a_good_one_nothing() {
    let (_stub, room) = stub::open(Settings::default());
    let mut stalled = Vec::new();
    for _ in 0..1000 {
        stalled.push(watch_all(&room).await);
    }
    let mut good = watch_all(&room).await;
    for round in 0..10 {
        for _ in 0..100 {
            deliver(&room, "a").await;
        }
        for number in 1..=100 {
            assert_eq!(told(next(&mut good).await), format!("+{} a", round * 100 + number));
        }
    }
    let kept = Settings::default().queue_max as u64;
    for watch in &mut stalled {
        assert_eq!(told(now(watch)), format!("lagged {}", 1000 - kept));
        for number in 1000 - kept + 1..=1000 {
            assert_eq!(told(now(watch)), format!("+{number} a"));
        }
        assert_eq!(now(watch), None);
    }
    assert_eq!(room.events_dropped(), 1000 * (1000 - kept));
}

#[tokio::test]
async fn ten_thousand_watched_mailboxes_are_served_within_bounds() {
    let (stub, room) = stub::open(Settings { watchers_max: 10_000, queue_max: 2, ..Settings::default() });
    let mut watches = Vec::new();
    for number in 0..10_000 {
        watches.push(watch(&room, &format!("m{number}")).await);
    }
    assert_eq!(stub.streams(), 10_000);
    let one_more = room.watch(&ANYBODY, Scope::Mailbox(mailbox("more"))).await;
    assert!(matches!(one_more, Err(Error::TooMany { .. })));
    for number in (0..10_000).step_by(2) {
        deliver(&room, &format!("m{number}")).await;
    }
    for (number, watch) in watches.iter_mut().enumerate().step_by(2) {
        assert_eq!(told(next(watch).await), format!("+{} m{number}", number / 2 + 1));
    }
    assert!(watches.iter_mut().all(|watch| now(watch).is_none()), "somebody saw what was not there for it");
    for _ in 0..5 {
        deliver(&room, "m0").await;
    }
    until("the oldest went", || room.events_dropped() == 3).await;
    drop(watches);
    until("the streams are given back", || stub.streams() == 0).await;
}

/// Watchers come and go, so that the pump starts and stops, while others deliver. The queues take all of it: on a busy
/// machine a watcher may be late.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn once_watch_returned_no_delivery_is_missed() {
    let settings = Settings { queue_max: 10_000, ..Settings::default() };
    let (stub, room) = stub::open(settings.clone());
    come_and_go(&room).await;
    until("the stream is given back", || stub.streams() == 0).await;
    let bounds = store::memory::Settings { lag_max: 10_000, ..Default::default() };
    let memory = store::Memory::new(bounds, Arc::new(store::SystemClock));
    come_and_go(&Mailroom::new(Arc::new(memory), settings)).await;
}

async fn come_and_go(room: &Arc<Mailroom>) {
    let rounds = |name: &'static str| {
        let room = Arc::clone(room);
        tokio::spawn(async move {
            for _ in 0..500 {
                let mut watch = watch(&room, name).await;
                let id = deliver(&room, name).await;
                sees(&mut watch, id).await;
            }
        })
    };
    for task in [rounds("a"), rounds("a"), rounds("b"), rounds("c")] {
        task.await.unwrap();
    }
}

/// This delivery, after any that others made before it, in order.
async fn sees(watch: &mut Watch, id: MessageId) {
    let mut last = 0;
    loop {
        let next = next(watch).await;
        let Some(Event::Change(Change::Delivered { summary, .. }, _)) = next else { panic!("{next:?}") };
        assert!(summary.id.number() > last, "out of order");
        last = summary.id.number();
        if summary.id == id {
            return;
        }
    }
}

#[test]
fn who_leaves_leaves_nothing_behind() {
    let hub = Hub::new(8, 2, false);
    for number in 0..3 {
        let enter = |after| hub.enter(Scope::Mailbox(mailbox(&format!("m{number}"))), after).unwrap();
        let (first, second) = (enter(Position::END), enter(Position::END));
        hub.leave(&first);
        assert_eq!(hub.audiences(), 1, "somebody is left there");
        let back = enter(Position::START);
        assert_eq!(hub.audiences(), 2, "who comes back shares with nobody");
        hub.leave(&second);
        hub.leave(&back);
        assert_eq!(hub.audiences(), 0);
    }
}

/// A pump that was stopped with a change in hand must not tell it to those who came later.
#[tokio::test]
async fn a_stopped_pump_tells_nobody() {
    let hub = Hub::new(8, 8, false);
    let lost = News::Lost { position: Position(1) };
    let first = hub.enter(Scope::All, Position::END).unwrap();
    hub.tell(&first.audience, &lost);
    assert!(poll(&first.queue).is_some());
    hub.leave(&first);
    let second = hub.enter(Scope::All, Position::END).unwrap();
    hub.tell(&first.audience, &lost);
    assert_eq!(poll(&second.queue), None);
    hub.tell(&second.audience, &lost);
    assert!(poll(&second.queue).is_some());
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Push,
    Lose,
    Read,
}

proptest! {
    /// Whatever happens to a queue: it never holds more than it may, and what is read is in order, without a gap that
    /// was not told, and with nothing from before a gap after it.
    #[test]
    fn a_queue_never_hides_a_gap(
        queue_max in 1_usize..5,
        steps in prop::collection::vec(prop::sample::select(vec![Step::Push, Step::Push, Step::Lose, Step::Read]), 0..60),
    ) {
        let queue = Queue::default();
        let (mut last, mut seen, mut missed) = (0, 0, 0);
        let read = |queue: &Queue, seen: &mut u64, missed: &mut u64| match poll(queue).flatten() {
            Some(Event::Lagged { missed: more, position }) => {
                *missed += more;
                *seen = position.0;
                true
            }
            Some(event) => {
                assert_eq!(event.position().0, *seen + 1, "a gap that was not told");
                *seen += 1;
                true
            }
            None => false,
        };
        let mut dropped = 0;
        for step in steps {
            match step {
                Step::Push => { last += 1; dropped += u64::from(queue.push(deleted(last), Position(last), queue_max)); }
                Step::Lose => { last += 1; dropped += queue.lose(Position(last)); }
                Step::Read => { read(&queue, &mut seen, &mut missed); }
            }
        }
        let mut left = 0;
        while read(&queue, &mut seen, &mut missed) { left += 1; }
        prop_assert!(left <= queue_max + 1);
        prop_assert_eq!((seen, missed), (last, dropped));
    }
}
