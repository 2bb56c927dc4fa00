//! The queue is bounded: with a receiver that is gone and room for few events, mail is taken as ever, what there is no room
//! for is left out and said, and what there was room for arrives in order.

use std::net::Ipv4Addr;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::receiver::{Mood, Receiver};
use super::site::{Engine, Site};
use crate::load::smtp::{Client, message};

const MAILS: u32 = 300;
const PATIENCE: Duration = Duration::from_secs(30);
const SETTINGS: [&str; 6] = [
    "store.memory.jobs_bytes_max=64KiB",
    "store.disk.jobs_bytes_max=64KiB",
    "store.jetstream.jobs_max=100",
    "webhooks.timeout=1s",
    "webhooks.retry_max=1s",
    "webhooks.rest=1s",
];

/// Fill it on one engine.
pub(super) fn run(binary: &Path, engine: Engine) -> Result<()> {
    let receiver = Receiver::start()?;
    receiver.set(Mood::Gone);
    let site = Site::start(binary, engine, "full", Some(receiver.address), &SETTINGS)?;
    let address = site.doors.lock().expect("nobody panics")[0].context("it is down")?;
    let mut client = Client::open(Ipv4Addr::LOCALHOST, address)?;
    for number in 1..=MAILS {
        client.deliver("ann@example.com", &message(&number.to_string(), 500)).context("mail was not taken")?;
    }
    receiver.set(Mood::Well);
    let begun = Instant::now();
    let (mut count, mut since) = (0, Instant::now());
    // All have come when none comes for a while.
    while since.elapsed() < Duration::from_secs(4) {
        ensure!(begun.elapsed() < PATIENCE, "{count} events came, and they do not end");
        sleep(Duration::from_millis(50));
        let now = receiver.count();
        if now != count {
            (count, since) = (now, Instant::now());
        }
        if count == 0 {
            since = Instant::now();
        }
    }
    let numbers: Vec<u32> = receiver.arrivals().iter().filter_map(|arrival| arrival.subject.parse().ok()).collect();
    println!("{}: of {MAILS} mails, all taken, {count} events found room and arrived", engine.name());
    ensure!(count < MAILS as usize, "there was room for all of them: the bound does not hold");
    ensure!(numbers.is_sorted(), "they came out of order: {numbers:?}");
    ensure!(site.said().contains("no room for more jobs"), "it was not said that some were left out");
    site.stop()
}
