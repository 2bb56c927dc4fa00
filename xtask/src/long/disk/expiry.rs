//! A million messages that lapse at once, while 50 senders go on delivering: how much longer a delivery takes meanwhile,
//! and how long it takes until all is gone. The same senders deliver to the same store with and without expiry, in turns
//! of some seconds, so that a bad minute of the machine falls on both.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};

use super::{Measure, Spread};
use crate::bench::Report;
use crate::load::crowd::{Crowd, fill};
use crate::load::figures::{Goal, grouped, megabytes};
use crate::load::folder::{Folder, settle};
use crate::load::letters::{Kind, letters};
use crate::load::server::Server;

const MESSAGES: usize = 1_000_000;
const MESSAGE_BYTES: usize = 1_000;
const MAILBOXES: usize = 10_000;
const SENDERS: usize = 50;
/// How long each turn is.
const TURN: Duration = Duration::from_secs(10);
/// The age at which mail lapses, in the turns in which it does. A start takes far less than a twentieth of it, so that
/// the engine does not hold it for a jump of the clock.
const LIFE: Duration = Duration::from_secs(60);
const NEVER: Duration = Duration::from_secs(365 * 24 * 3600);
const TURNS_MAX: usize = 100;
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// What an empty store may take: a log of up to 64 MiB, and some pages kept for the next mail.
const SMALL: u64 = 100_000_000;
const GIVEN_BACK_WITHIN: Duration = Duration::from_secs(300);

const COLUMNS: &[&str] = &[
    "50 senders",
    "nothing lapses, p50 / p99",
    "1,000,000 messages lapse, p50 / p99",
    "ratio of p99",
    "goal",
    "all gone after",
    "space given back after",
];

pub(super) fn run(measure: &Measure<'_>) -> Result<()> {
    let mut report = Report::new("long expiry", COLUMNS);
    let paces = [("as fast as they can", None), ("10 messages a second each", Some(Duration::from_millis(100)))];
    for (name, every) in paces {
        let Outcome { calm, meanwhile, gone, given_back } = one(measure, name, every, &mut report)?;
        let ratio = meanwhile.p99 / calm.p99;
        report.row(vec![
            name.into(),
            calm.text(),
            meanwhile.text(),
            format!("{ratio:.2}"),
            Goal::AtMost(2.0).judged(ratio),
            format!("{:.1} s", gone.as_secs_f64()),
            format!("{:.1} s", given_back.as_secs_f64()),
        ]);
    }
    measure.done(&report)
}

struct Outcome {
    calm: Spread,
    meanwhile: Spread,
    gone: Duration,
    given_back: Duration,
}

/// One turn.
struct Turn {
    times: Vec<Duration>,
    took: Duration,
    /// Whether nothing old is left.
    gone: bool,
}

/// A store of its own: fill it until everything in it is old, then deliver in turns until the old mail is gone.
fn one(measure: &Measure<'_>, name: &str, every: Option<Duration>, report: &mut Report) -> Result<Outcome> {
    let letters = letters(Kind::Words, MESSAGE_BYTES, 64);
    let [life, turn] =
        [(LIFE, 20), (TURN, 2)].map(|(time, least)| measure.scaled_time(time, Duration::from_secs(least)));
    let folder = Folder::new("expiry")?;
    let serve = |age: Duration| -> Result<Server> {
        folder.serve(measure.binary, &["mailbox.messages_max=0", &format!("mailbox.retention={}s", age.as_secs())])
    };
    let server = serve(NEVER)?;
    let plan: Vec<u32> = (0..measure.scaled(MESSAGES)).map(|number| (number % MAILBOXES) as u32).collect();
    fill(server.address("smtp")?, &plan, &letters)?;
    server.stop()?;
    let full = folder.used()?;
    let old = SystemTime::now().duration_since(UNIX_EPOCH)?;
    settle()?;
    sleep(life + Duration::from_secs(1));

    let mut times = [Vec::new(), Vec::new()];
    let mut lapsing = Duration::ZERO;
    for number in 0..TURNS_MAX {
        let which = number % 2;
        let server = serve([NEVER, life][which])?;
        let (smtp, mailboxes, seed) = (server.address("smtp")?, 0..MAILBOXES, number as u64);
        let crowd = Crowd { smtp, clients: SENDERS, letters: &letters, mailboxes, every, seed };
        let Turn { times: new, took, gone } = deliver(&folder, &crowd, turn, old)?;
        let (kind, spread) = (["calm", "lapsing"][which], Spread::of(new.clone()).text());
        let rate = grouped(new.len() as f64 / took.as_secs_f64());
        report.raw(format!("{name}, {kind}: {} messages in {took:.1?}, {rate} msg/s, {spread}", new.len()));
        times[which].extend(new);
        lapsing += took * which as u32;
        if gone {
            // The senders have stopped, so that in the end their mail lapses too.
            let given_back = given_back(&folder, (full / 10).max(SMALL))?;
            let [full, left] = [full, folder.used()?].map(megabytes);
            report
                .raw(format!("{name}: {full} on disk when filled, {left} {given_back:.1?} after the senders stopped"));
            server.stop()?;
            let [calm, meanwhile] = times.map(Spread::of);
            return Ok(Outcome { calm, meanwhile, gone: lapsing, given_back });
        }
        server.stop()?;
    }
    anyhow::bail!("what lapsed is still there after {lapsing:.0?}");
}

/// Deliver for a turn, or until nothing is left of what came before that time.
fn deliver(folder: &Folder, crowd: &Crowd<'_>, turn: Duration, old: Duration) -> Result<Turn> {
    let (begin, over) = (Instant::now(), AtomicBool::new(false));
    let watch = || -> Result<bool> {
        while begin.elapsed() < turn {
            sleep(LOOK_EVERY);
            // Nothing at all is as good as nothing old.
            let oldest: f64 = folder.ask("SELECT coalesce(min(received_at), 9e18) FROM message")?.parse()?;
            if oldest > old.as_micros() as f64 {
                return Ok(true);
            }
        }
        Ok(false)
    };
    scope(|threads| {
        let load = threads.spawn(|| crowd.deliver(&|_| over.load(Ordering::Relaxed)));
        let gone = watch();
        let took = begin.elapsed();
        over.store(true, Ordering::Relaxed);
        let delivered = load.join().expect("a client does not panic")?;
        ensure!(!delivered.is_empty(), "nothing was delivered: take a larger --scale");
        Ok(Turn { times: delivered.iter().map(|message| message.took).collect(), took, gone: gone? })
    })
}

/// Wait until the directory takes no more than so many bytes, or does not get there.
fn given_back(folder: &Folder, bytes: u64) -> Result<Duration> {
    let begin = Instant::now();
    while folder.used()? > bytes && begin.elapsed() < GIVEN_BACK_WITHIN {
        sleep(LOOK_EVERY);
    }
    Ok(begin.elapsed())
}
