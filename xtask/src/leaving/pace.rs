//! Whether mail waits for what leaves: how long a delivery takes without webhooks, and with a receiver in each of its
//! states. The sides take turns, round after round, each on a server of its own.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::receiver::{Mood, Receiver};
use super::site::{Engine, Site};
use crate::bench::Report;
use crate::load::cluster;
use crate::load::figures::{Goal, median, percentile};
use crate::load::smtp::{Client, message};

const ROUNDS: usize = 5;
const WARM: Duration = Duration::from_millis(500);
const TIME: Duration = Duration::from_secs(3);
const CONNECTIONS: usize = 8;
const SIZE: usize = 1_000;
/// Of the control's 99th percentile.
const GOAL: Goal = Goal::AtMost(1.25);
const COLUMNS: [&str; 6] = ["engine", "receiver", "p50", "p99", "p99 of the control", "p99 / control, median of 5"];

/// The sides; none is the control.
const SIDES: [Option<Mood>; 6] =
    [None, Some(Mood::Well), Some(Mood::Slow), Some(Mood::Failing), Some(Mood::Hanging), Some(Mood::Gone)];

/// Mails a second, far from what the engine can take at most: this is about waiting, not about work.
fn rate(engine: Engine) -> u32 {
    match engine {
        Engine::Memory | Engine::Disk => 200,
        Engine::Jetstream => 80,
    }
}

pub(super) fn run(binary: &Path, engines: &[Engine], write: bool) -> Result<()> {
    let mut report = Report::new("long leaving pace", &COLUMNS);
    for engine in engines {
        if *engine == Engine::Jetstream && !cluster::possible()? {
            continue;
        }
        rounds(binary, *engine, &mut report)?;
    }
    println!("\n{}", report.text());
    if write {
        report.write()?;
    }
    ensure!(!report.text().contains("**missed**"), "a goal was missed");
    Ok(())
}

fn rounds(binary: &Path, engine: Engine, report: &mut Report) -> Result<()> {
    let mut figures: Vec<Vec<[f64; 2]>> = vec![Vec::new(); SIDES.len()];
    for round in 0..ROUNDS {
        // Another one begins each round, so that none is always the first.
        for place in (0..SIDES.len()).map(|place| (place + round) % SIDES.len()) {
            figures[place].push(side(binary, engine, SIDES[place])?);
        }
        let told: Vec<_> = figures.iter().map(|side| format!("{:.2}/{:.2}", side[round][0], side[round][1])).collect();
        report.raw(format!("{} round {}: p50/p99 ms of {}: {}", engine.name(), round + 1, names(), told.join(" ")));
    }
    let column = |side: usize, which: usize| figures[side].iter().map(|figure| figure[which]).collect::<Vec<_>>();
    for (side, mood) in SIDES.iter().enumerate().skip(1) {
        let ratios: Vec<_> = column(side, 1).iter().zip(column(0, 1)).map(|(with, without)| with / without).collect();
        let ratio = median(&ratios);
        let millis = |figure: f64| format!("{figure:.2} ms");
        report.row(vec![
            engine.name().to_owned(),
            name(*mood),
            millis(median(&column(side, 0))),
            millis(median(&column(side, 1))),
            millis(median(&column(0, 1))),
            format!("{ratio:.2} ({})", GOAL.judged(ratio)),
        ]);
    }
    Ok(())
}

fn name(side: Option<Mood>) -> String {
    side.map_or("none".to_owned(), |mood| format!("{mood:?}").to_lowercase())
}

fn names() -> String {
    SIDES.map(name).join(" ")
}

/// Median and 99th percentile of one side in one round, in milliseconds.
fn side(binary: &Path, engine: Engine, mood: Option<Mood>) -> Result<[f64; 2]> {
    let receiver = Receiver::start()?;
    receiver.set(mood.unwrap_or(Mood::Gone));
    let told = mood.map(|_| receiver.address);
    let site = Site::start(binary, engine, "pace", told, &[])?;
    let address = site.doors.lock().expect("nobody panics")[0].context("it is down")?;
    load(address, rate(engine), WARM)?;
    let mut times = load(address, rate(engine), TIME)?;
    if mood == Some(Mood::Well) {
        ensure!(receiver.count() > 0, "nobody was told of anything");
    }
    drop(site);
    Ok([0.5, 0.99].map(|share| percentile(&mut times, share).as_secs_f64() * 1e3))
}

/// Send at this rate for so long, whatever the answers; how long each mail took.
fn load(address: SocketAddr, rate: u32, time: Duration) -> Result<Vec<Duration>> {
    let every = Duration::from_secs(1) * CONNECTIONS as u32 / rate;
    let begun = Instant::now();
    let send = |number: usize| -> Result<Vec<Duration>> {
        let mut client = Client::open(Ipv4Addr::LOCALHOST, address)?;
        let (letter, to) = (message("pace", SIZE), format!("box{number}@example.com"));
        // Not all at the same moment.
        let mut due = begun + every * number as u32 / CONNECTIONS as u32;
        let mut times = Vec::new();
        while due < begun + time {
            sleep(due.saturating_duration_since(Instant::now()));
            let asked = Instant::now();
            client.deliver(&to, &letter)?;
            times.push(asked.elapsed());
            due += every;
        }
        Ok(times)
    };
    thread::scope(|scope| {
        let senders: Vec<_> = (0..CONNECTIONS).map(|number| scope.spawn(move || send(number))).collect();
        let times = senders.into_iter().map(|sender| sender.join().expect("no sender panics"));
        times.collect::<Result<Vec<_>>>().map(|times| times.concat())
    })
}
