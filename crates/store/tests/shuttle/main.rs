//! The memory engine under a scheduler that chooses, at every lock, who goes next: thousands of orders of a few callers.
//! The engine's own files are compiled here once more, with that scheduler's lock in place of the real one; a reader
//! that is never woken shows as a deadlock.

#![allow(dead_code, unreachable_pub, reason = "the engine's files are a part of another crate")]

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use jiff::Timestamp;
use mail::Mailbox;
use shuttle::future::block_on;
use shuttle::thread;
use store::conformance::Letter;
use store::list::{Order, Page};
use store::outbox::Handback;
use store::registry::{Expect, Put};
use store::{ManualClock, NewJob, News, Position, Scope};

pub(crate) use store::{Abilities, Store, change, clock, delivery, error, list, outbox, peers, registry};

mod memory;
#[path = "../../src/queue.rs"]
mod queue;
#[path = "../../src/readers.rs"]
mod readers;

mod sync {
    //! The lock of the scheduler.

    pub(crate) use shuttle::sync::{Mutex, MutexGuard};
}

use memory::{Memory, Settings};

const ORDERS: usize = 2_000;

/// Run a check in many orders: such as chance has it, and such as change hands seldom but at the worst moment.
fn in_every_order(check: fn()) {
    shuttle::check_random(check, ORDERS);
    shuttle::check_pct(check, ORDERS, 3);
}

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).expect("a time in 2027")
}

fn engine(settings: Settings) -> Arc<Memory> {
    Arc::new(Memory::new(settings, Arc::new(ManualClock::at(now()))))
}

fn ann() -> Mailbox {
    Mailbox::from_canonical("ann")
}

fn send(memory: &Memory, letter: &Letter) -> Position {
    block_on(memory.append(letter.delivery(now()))).expect("it fits")[0].id.into()
}

fn ids(memory: &Memory, name: &str) -> Vec<Position> {
    let page = Page { after: None, limit: 100, order: Order::Oldest };
    let listing = block_on(memory.list(&Mailbox::from_canonical(name), page)).expect("it answers");
    listing.items.iter().map(|summary| summary.id.into()).collect()
}

/// Run the same thing in several threads.
fn at_once<T: Send + 'static>(threads: usize, work: impl Fn(usize) -> T + Clone + Send + 'static) -> Vec<T> {
    let running: Vec<_> = (0..threads)
        .map(|number| {
            let work = work.clone();
            thread::spawn(move || work(number))
        })
        .collect();
    running.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
}

#[test]
fn readers_are_told_every_change_once() {
    in_every_order(|| {
        let memory = engine(Settings::default());
        let readers: Vec<_> = [Scope::All, Scope::Mailbox(ann())]
            .map(|scope| {
                let memory = Arc::clone(&memory);
                thread::spawn(move || {
                    let mut stream = block_on(memory.changes(scope, Position::START)).expect("it streams");
                    (0..4).map(|_| block_on(stream.next()).expect("it goes on").position()).collect::<Vec<_>>()
                })
            })
            .into();
        let writer = Arc::clone(&memory);
        let mut sent: Vec<_> = at_once(2, move |_| {
            [send(&writer, &Letter::new("1", &["ann"])), send(&writer, &Letter::new("2", &["ann"]))]
        })
        .into_iter()
        .flatten()
        .collect();
        sent.sort();
        for reader in readers {
            assert_eq!(reader.join().expect("no reader panics"), sent);
        }
    });
}

#[test]
fn slow_readers_are_told() {
    in_every_order(|| {
        let memory = engine(Settings { lag_max: 2, ..Settings::default() });
        let mut stream = block_on(memory.changes(Scope::Mailbox(ann()), Position::START)).expect("it streams");
        let writer = Arc::clone(&memory);
        let writer =
            thread::spawn(move || (0..5).map(|_| send(&writer, &Letter::new("1", &["ann"]))).collect::<VecDeque<_>>());
        let mut told = Vec::new();
        let mut lost_to = Position::START;
        // The last of five is told or lost, so that reading to there ends, in whichever order.
        while told.last().copied().max(Some(lost_to)) < fifth(&memory) {
            match block_on(stream.next()).expect("it goes on") {
                News::Lost { position } => lost_to = position,
                News::Change(change) => told.push(change.position()),
            }
        }
        let sent = writer.join().expect("the writer does not panic");
        assert!(told.is_sorted_by(|a, b| a < b));
        for position in sent {
            assert!(told.contains(&position) || position <= lost_to, "{position:?} was neither told nor lost");
        }
    });
}

/// The last of five, and beyond everything until it was sent.
fn fifth(memory: &Memory) -> Option<Position> {
    Some(ids(memory, "ann").get(4).copied().unwrap_or(Position::END))
}

#[test]
fn streams_end_with_the_engine() {
    in_every_order(|| {
        let memory = engine(Settings::default());
        let mut stream = block_on(memory.changes(Scope::All, Position::START)).expect("it streams");
        let mut records = block_on(memory.registry().watch("kind")).expect("it streams");
        let reader = thread::spawn(move || {
            while block_on(stream.next()).is_some() {}
            while block_on(records.next()).is_some() {}
        });
        send(&memory, &Letter::new("1", &["ann"]));
        drop(memory);
        reader.join().expect("it ends");
    });
}

#[test]
fn streams_can_be_dropped() {
    in_every_order(|| {
        let memory = engine(Settings::default());
        let shared = Arc::clone(&memory);
        at_once(3, move |number| match number {
            0 => _ = (send(&shared, &Letter::new("1", &["ann"])), send(&shared, &Letter::new("2", &["bob", "ann"]))),
            1 => drop(block_on(shared.changes(Scope::Mailbox(ann()), Position::START))),
            _ => drop(block_on(shared.changes(Scope::All, Position::END))),
        });
        assert_eq!(ids(&memory, "ann").len(), 2);
    });
}

#[test]
fn purge_takes_nothing_later() {
    in_every_order(|| {
        let memory = engine(Settings::default());
        let shared = Arc::clone(&memory);
        let counts = at_once(3, move |number| {
            if number > 0 {
                send(&shared, &Letter::new("1", &["ann"]));
                send(&shared, &Letter::new("2", &["ann"]));
                return 0;
            }
            let seen = ids(&shared, "ann");
            let position = seen.last().copied().unwrap_or(Position::START);
            let gone = block_on(shared.purge(&ann(), position, Vec::new())).expect("it answers");
            assert_eq!(gone as usize, seen.len(), "what was seen went, and nothing else");
            assert!(ids(&shared, "ann").iter().all(|id| *id > position));
            gone
        });
        assert_eq!(counts[0] as usize + ids(&memory, "ann").len(), 4);
    });
}

#[test]
fn copies_come_together() {
    in_every_order(|| {
        let memory = engine(Settings::default());
        let shared = Arc::clone(&memory);
        at_once(3, move |number| {
            if number > 0 {
                send(&shared, &Letter::new("1", &["ann", "bob"]));
                return;
            }
            let (ann, bob) = (ids(&shared, "ann").len(), ids(&shared, "bob").len());
            assert!(ann <= bob, "bob was looked at later, and has no fewer");
        });
        assert_eq!((ids(&memory, "ann").len(), ids(&memory, "bob").len()), (2, 2));
    });
}

#[test]
fn room_is_made() {
    in_every_order(|| {
        let memory = engine(Settings { bytes_max: 20_000, ..Settings::default() });
        let shared = Arc::clone(&memory);
        at_once(3, move |number| {
            let name = ["ann", "bob", "cat"][number];
            for size in [4_000, 9_000] {
                send(&shared, &Letter::new("1", &[name]).size(size));
            }
        });
        assert!(memory.bytes() <= 20_000, "{} bytes", memory.bytes());
        assert!(["ann", "bob", "cat"].iter().any(|name| !ids(&memory, name).is_empty()));
    });
}

#[test]
fn jobs_are_taken_once() {
    in_every_order(|| {
        let memory = engine(Settings::default());
        let job = NewJob::new("hook", "x");
        let shared = Arc::clone(&memory);
        let taken = at_once(3, move |number| {
            if number == 0 {
                send(&shared, &Letter::new("1", &["ann"]).job(job.clone()).job(job.clone()));
            }
            let taken = block_on(shared.outbox().take("hook", 1, Duration::from_secs(60))).expect("it answers");
            taken.iter().for_each(|job| {
                assert_eq!(block_on(shared.outbox().done(job.lease)).expect("it answers"), Handback::Taken);
            });
            taken.len() as u64
        });
        assert_eq!(taken.iter().sum::<u64>() + block_on(memory.outbox().waiting("hook")).expect("it answers"), 2);
    });
}

#[test]
fn one_put_wins() {
    in_every_order(|| {
        let memory = engine(Settings::default());
        let won = at_once(3, move |_| {
            let put = memory.registry().put("kind", "key", "mine".into(), None, Expect::Absent);
            matches!(block_on(put).expect("it answers"), Put::Written(_))
        });
        assert_eq!(won.into_iter().filter(|won| *won).count(), 1);
    });
}
