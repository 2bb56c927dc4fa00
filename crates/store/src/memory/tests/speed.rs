//! How long a call takes, for people: `cargo test --release -p postkeep-store speed -- --ignored --nocapture`.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use futures_util::FutureExt;
use mail::Mailbox;

use crate::clock::{Clock, SystemClock};
use crate::conformance::Letter;
use crate::delivery::Delivery;
use crate::list::{Order, Page};
use crate::memory::Settings;
use crate::memory::kept::Draft;
use crate::{Memory, Store};

const MAILBOXES: usize = 4_000;

fn deliveries(mailboxes: usize) -> Vec<Delivery> {
    let now = SystemClock.now();
    (0..mailboxes)
        .map(|number| Letter::new("Hello there", &[&format!("user{number}")]).size(1_024).delivery(now))
        .collect()
}

fn append(memory: &Memory, delivery: Delivery) {
    memory.append(delivery).now_or_never().expect("it does not wait").expect("it fits");
}

/// The best of a hundred rounds, in nanoseconds a call: on a machine that is busy otherwise, the one it left alone.
fn best(mut call: impl FnMut(usize)) -> u64 {
    const CALLS: usize = 2_000;
    let round = |round: usize| {
        let begun = Instant::now();
        (round * CALLS..(round + 1) * CALLS).for_each(&mut call);
        begun.elapsed().as_nanos() as u64 / CALLS as u64
    };
    (0..100).map(round).min().expect("a hundred rounds")
}

/// A message as it comes from a connection: just written, nobody else's.
fn fresh(templates: &[Delivery], number: usize) -> Delivery {
    let template = &templates[number * 7919 % templates.len()];
    let (raw, envelope) = (Bytes::copy_from_slice(&template.raw), Arc::new((*template.envelope).clone()));
    Delivery { raw, envelope, ..template.clone() }
}

fn measure(name: &str, settings: Settings) {
    let templates = deliveries(MAILBOXES);
    let making = best(|number| drop(fresh(&templates, number)));
    let memory = Memory::new(settings, Arc::new(SystemClock));
    for number in 0..50_000 {
        append(&memory, fresh(&templates, number));
    }
    let appending = best(|number| append(&memory, fresh(&templates, number)));
    println!("append {name}: {} ns beside {making} ns of making it; {:?}", appending - making, memory.drops());
    println!("    of it under the lock: {} ns (best tenth)", locked(&memory, &templates));
}

/// How long an append holds the lock.
fn locked(memory: &Memory, templates: &[Delivery]) -> u128 {
    let hold = |number: usize| {
        let draft = Draft::of(fresh(templates, number), &memory.settings);
        memory.step_swept(|state, now, debris| {
            let begun = Instant::now();
            let newcomer = state.last().0 + 1;
            state.append(draft, now, debris).expect("it fits");
            state.make_room(newcomer, now, 256, debris);
            begun.elapsed().as_nanos()
        })
    };
    let mut times: Vec<_> = (0..20_000).map(hold).collect();
    times.sort();
    times[times.len() / 10]
}

#[test]
#[ignore = "measures, asserts nothing"]
fn append_below_every_bound() {
    measure("below every bound", Settings { bytes_max: 16 << 30, messages_max: 0, ..Settings::default() });
}

#[test]
#[ignore = "measures, asserts nothing"]
fn append_at_the_bound_of_bytes() {
    measure("at the bound of bytes", Settings { bytes_max: 64 << 20, messages_max: 0, ..Settings::default() });
}

#[test]
#[ignore = "measures, asserts nothing"]
fn append_at_the_cap() {
    measure("at the cap", Settings { bytes_max: 16 << 30, messages_max: 10, ..Settings::default() });
}

#[test]
#[ignore = "measures, asserts nothing"]
fn list_of_100() {
    let templates = deliveries(100);
    let memory = Memory::new(Settings::default(), Arc::new(SystemClock));
    for number in 0..100 * templates.len() {
        append(&memory, fresh(&templates, number));
    }
    let (mailbox, page) = (Mailbox::from_canonical("user7"), Page { after: None, limit: 100, order: Order::Newest });
    let listing = best(|_| {
        assert_eq!(memory.list(&mailbox, page).now_or_never().unwrap().unwrap().items.len(), 100);
    });
    println!("list of 100 and dropping it: {listing} ns");
}

/// What a tiny message takes, and what it is charged; to be run alone, so that no memory is used anew.
fn weigh(name: &str, mailboxes: usize) {
    const MESSAGES: u64 = 200_000;
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux tells it");
        pages.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4_096
    };
    let settings = Settings { bytes_max: 16 << 30, messages_max: 0, ..Settings::default() };
    let memory = Memory::new(settings, Arc::new(SystemClock));
    let before = resident();
    for number in 0..MESSAGES as usize {
        let to = format!("user{}", number % mailboxes);
        append(&memory, Letter::new("Hi", &[&to]).delivery(SystemClock.now()));
    }
    println!("{name}: {} bytes a message, charged {}", (resident() - before) / MESSAGES, memory.bytes() / MESSAGES);
}

#[test]
#[ignore = "measures, asserts nothing"]
fn weight_of_one_message_each() {
    weigh("one in each mailbox", usize::MAX);
}

#[test]
#[ignore = "measures, asserts nothing"]
fn weight_of_many_messages_each() {
    weigh("200 in each mailbox", 1_000);
}
