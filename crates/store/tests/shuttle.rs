//! The memory engine under a scheduler that chooses, at every lock, who goes next: thousands of orders of a few callers.
//! The engine's own files are compiled here once more, with that scheduler's lock in place of the real one; a reader
//! that is never woken shows as a deadlock.
//!
//! Without the usual harness, because the engine's unit tests are not for this lock.

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
use store::{Change, ManualClock, NewJob, Position, Scope};

pub(crate) use store::{Abilities, Store, change, clock, delivery, error, list, outbox, peers, registry};

#[path = "../src/memory/mod.rs"]
mod memory;

mod sync {
    //! The lock of the scheduler.

    pub(crate) use shuttle::sync::{Mutex, MutexGuard};
}

use memory::{Memory, Settings};

const ORDERS: usize = 2_000;

/// One thing that must hold in every order.
type Check = (&'static str, fn());

const CHECKS: &[Check] = &[
    ("readers are told every change once", readers_are_told_every_change_once),
    ("slow readers are told what they lost", slow_readers_are_told),
    ("streams end with the engine", streams_end_with_the_engine),
    ("streams can be dropped at any time", streams_can_be_dropped),
    ("a purge takes nothing later", purge_takes_nothing_later),
    ("copies come together", copies_come_together),
    ("room is made and kept", room_is_made),
    ("jobs are taken once", jobs_are_taken_once),
    ("one put wins", one_put_wins),
];

#[allow(clippy::print_stdout, reason = "this is the harness")]
fn main() {
    for (name, check) in CHECKS {
        shuttle::check_random(check, ORDERS);
        shuttle::check_pct(check, ORDERS / 2, 3);
        println!("{name} ... ok");
    }
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
    listing.items.iter().map(|item| item.summary.id.into()).collect()
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

fn readers_are_told_every_change_once() {
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
}

fn slow_readers_are_told() {
    let memory = engine(Settings { lag_max: 2, ..Settings::default() });
    let mut stream = block_on(memory.changes(Scope::Mailbox(ann()), Position::START)).expect("it streams");
    let writer = Arc::clone(&memory);
    let writer = thread::spawn(move || (0..5).map(|_| send(&writer, &Letter::new("1", &["ann"]))).collect::<VecDeque<_>>());
    let mut told = Vec::new();
    let mut lost_to = Position::START;
    while told.len() < 5 && told.last().copied().max(Some(lost_to)) != Some(last(&memory, &writer)) {
        match block_on(stream.next()).expect("it goes on") {
            Change::Lost { position } => lost_to = position,
            change => told.push(change.position()),
        }
    }
    let sent = writer.join().expect("the writer does not panic");
    assert!(told.is_sorted_by(|a, b| a < b));
    for position in sent {
        assert!(told.contains(&position) || position <= lost_to, "{position:?} was neither told nor lost");
    }
}

/// The last of five, or one that is never reached as long as they have not all been sent.
fn last<T>(memory: &Memory, _writer: &thread::JoinHandle<T>) -> Position {
    let ids = ids(memory, "ann");
    if ids.len() == 5 { ids[4] } else { Position::END }
}

fn streams_end_with_the_engine() {
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
}

fn streams_can_be_dropped() {
    let memory = engine(Settings::default());
    let shared = Arc::clone(&memory);
    at_once(3, move |number| match number {
        0 => _ = (send(&shared, &Letter::new("1", &["ann"])), send(&shared, &Letter::new("2", &["bob", "ann"]))),
        1 => drop(block_on(shared.changes(Scope::Mailbox(ann()), Position::START))),
        _ => drop(block_on(shared.changes(Scope::All, Position::END))),
    });
    assert_eq!(ids(&memory, "ann").len(), 2);
}

fn purge_takes_nothing_later() {
    let memory = engine(Settings::default());
    let shared = Arc::clone(&memory);
    let counts = at_once(3, move |number| {
        if number > 0 {
            send(&shared, &Letter::new("1", &["ann"]));
            send(&shared, &Letter::new("2", &["ann"]));
            return 0;
        }
        let position = block_on(shared.position(&ann())).expect("it answers");
        let gone = block_on(shared.purge(&ann(), position, Vec::new())).expect("it answers");
        assert!(ids(&shared, "ann").iter().all(|id| *id > position));
        gone
    });
    assert_eq!(counts[0] as usize + ids(&memory, "ann").len(), 4);
}

fn copies_come_together() {
    let memory = engine(Settings::default());
    let shared = Arc::clone(&memory);
    at_once(3, move |number| {
        if number > 0 {
            return _ = send(&shared, &Letter::new("1", &["ann", "bob"]));
        }
        let (ann, bob) = (ids(&shared, "ann").len(), ids(&shared, "bob").len());
        assert!(ann <= bob, "bob was looked at later, and has no fewer");
    });
    assert_eq!((ids(&memory, "ann").len(), ids(&memory, "bob").len()), (2, 2));
}

fn room_is_made() {
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
}

fn jobs_are_taken_once() {
    let memory = engine(Settings::default());
    let job = NewJob { kind: "hook".to_owned(), payload: "x".into(), not_before: None };
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
}

fn one_put_wins() {
    let memory = engine(Settings::default());
    let won = at_once(3, move |_| {
        let put = memory.registry().put("kind", "key", "mine".into(), None, Expect::Absent);
        matches!(block_on(put).expect("it answers"), Put::Written(_))
    });
    assert_eq!(won.into_iter().filter(|won| *won).count(), 1);
}
