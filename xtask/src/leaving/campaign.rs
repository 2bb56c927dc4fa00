//! The campaign: mail comes without a pause while the receiver falls from one bad state into the next and the server is
//! killed; at the end the receiver is well, and everything that was acknowledged must arrive.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::receiver::{Mood, Receiver};
use super::senders::{Sent, send};
use super::site::{Engine, Site};
use super::tally::Tally;

pub(super) const COLUMNS: [&str; 8] = [
    "engine",
    "kills",
    "mails acknowledged",
    "their events arrived",
    "requests",
    "of these after a 200",
    "all there after",
    "lost, out of order, other id, mail refused",
];

/// Mailboxes, each with its sender.
const MAILBOXES: [&str; 4] = ["ann", "bob", "cat", "dan"];

/// What happens when.
pub(crate) struct Plan {
    steps: Vec<Step>,
    /// Between two mails of a sender.
    pause: Duration,
    settings: &'static [&'static str],
    /// How long the last events may take once the receiver is well.
    patience: Duration,
}

enum Step {
    /// The receiver is so, for this long.
    Be(Mood, Duration),
    /// The server is killed and started again.
    Kill,
}

impl Plan {
    /// Every state for a minute, and gone for so many minutes, with the settings that everybody has.
    pub(super) fn long(minutes: f64) -> Self {
        let minute = Duration::from_secs_f64(6.0 * minutes);
        let half = Duration::from_secs_f64(30.0 * minutes);
        let settings = &[];
        Self {
            steps: steps(minute, half),
            pause: Duration::from_millis(100),
            settings,
            patience: minute.max(Duration::from_secs(600)),
        }
    }

    /// The same in seconds.
    pub(super) fn short() -> Self {
        let settings = &["webhooks.timeout=1s", "webhooks.retry_max=1s", "webhooks.rest=1s"];
        let (step, half) = (Duration::from_millis(1500), Duration::from_secs(2));
        Self { steps: steps(step, half), pause: Duration::from_millis(40), settings, patience: Duration::from_secs(60) }
    }
}

fn steps(step: Duration, half_gone: Duration) -> Vec<Step> {
    use Mood::{Failing, Gone, Hanging, Slow, Well};
    use Step::{Be, Kill};
    vec![
        Be(Well, step),
        Kill,
        Be(Failing, step),
        Kill,
        Be(Failing, step / 2),
        Be(Hanging, step),
        Kill,
        Be(Hanging, step / 2),
        Be(Slow, step),
        Kill,
        Be(Slow, step / 2),
        Be(Gone, half_gone),
        Kill,
        Be(Gone, half_gone),
    ]
}

/// Run it on one engine.
pub(super) fn run(binary: &Path, engine: Engine, plan: &Plan) -> Result<Tally> {
    let receiver = Receiver::start()?;
    let mut site = Site::start(binary, engine, "events", Some(receiver.address), plan.settings)?;
    let doors = Arc::clone(&site.doors);
    let over = AtomicBool::new(false);
    let (sent, kills) = thread::scope(|scope| {
        let senders: Vec<_> = MAILBOXES
            .iter()
            .map(|mailbox| scope.spawn(|| send((*mailbox).to_owned(), &doors, plan.pause, &over)))
            .collect();
        let walked = walk(&mut site, engine, &receiver, plan);
        over.store(true, Ordering::Relaxed);
        let sent: Vec<Sent> = senders.into_iter().map(|sender| sender.join().expect("no sender panics")).collect();
        walked.map(|kills| (sent, kills))
    })?;
    receiver.set(Mood::Well);
    let back = Instant::now();
    let mut tally = Tally::of(&sent, &receiver.arrivals());
    while !tally.faults.is_empty() && back.elapsed() < plan.patience {
        sleep(Duration::from_millis(100));
        tally = Tally::of(&sent, &receiver.arrivals());
    }
    let last = receiver.arrivals().last().map_or(back, |arrival| arrival.at);
    (tally.kills, tally.drained) = (kills, last.saturating_duration_since(back));
    let said = site.said();
    if !tally.faults.is_empty() {
        println!("{}", said.lines().rev().take(20).collect::<Vec<_>>().join("\n"));
    }
    site.stop().context("it did not end well")?;
    Ok(tally)
}

/// Go through the steps; how often it was killed. Memory does not outlive its process, and so is not killed.
fn walk(site: &mut Site, engine: Engine, receiver: &Receiver, plan: &Plan) -> Result<usize> {
    let mut kills = 0;
    for step in &plan.steps {
        match step {
            Step::Be(mood, time) => {
                receiver.set(*mood);
                sleep(*time);
            }
            Step::Kill if engine == Engine::Memory => {}
            Step::Kill => {
                site.kill(kills)?;
                kills += 1;
            }
        }
    }
    Ok(kills)
}
