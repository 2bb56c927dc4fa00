//! Many who watch mailboxes by server-sent events while mail comes: good ones, who must see all of it in order; some of
//! them break off again and again and go on where they were; and stalled ones, who never read and must be in nobody's
//! way. One thread, so that it uses one core at most.
//!
//! Times are from the `250` to the event. With several nodes mail goes in at another one than is watched.

#![allow(clippy::print_stdout, reason = "what it found is what it is for")]

mod stalled;
mod watcher;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::future::{join_all, try_join_all};
use futures_util::{StreamExt, TryStreamExt, stream};
use postkeep_bench::cpu::cpu;
use postkeep_bench::figures::Figures;
use postkeep_bench::letter::letter;
use postkeep_bench::{Asked, Chance, Site, Tally};
use serde_json::{Value, json};
use tokio::time::{sleep, sleep_until};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "events-load --http ADDR,… --smtp ADDR,… [--processes PID,…] [--clients N] [--stalled N] \
    [--breaking N] [--messages N] [--mailboxes N] [--rate N] [--stall-max S] [--seed N]";
/// Streams that are opened at once.
const AT_ONCE: usize = 64;
/// Sessions that the mails are sent over; the mails of one mailbox keep to one, and so to their order.
const SENDERS: usize = 32;
/// So long after the last 250 every event has come.
const LATE: Duration = Duration::from_secs(20);

pub(crate) struct Plan {
    pub(crate) site: Site,
    good: usize,
    stalled: usize,
    /// Of the good ones, those who break off now and then.
    breaking: usize,
    pub(crate) mailboxes: usize,
    pub(crate) each: usize,
    rate: f64,
    /// A stalled stream is ended within so long.
    stall_max: Duration,
    seed: u64,
    pub(crate) tally: Tally,
    /// When each message was acknowledged, by mailbox and number.
    pub(crate) acknowledged: RefCell<Vec<Vec<Option<Instant>>>>,
    /// Messages that were acknowledged.
    sent: Cell<usize>,
    /// When the last of them was.
    sent_at: Cell<Option<Instant>>,
}

fn main() -> Result<()> {
    let mut asked = Asked::from_env(USAGE);
    let plan = Plan::asked(&mut asked)?;
    asked.finish()?;
    let told = tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(plan.run())?;
    println!("{told}");
    Ok(())
}

impl Plan {
    fn asked(asked: &mut Asked) -> Result<Self> {
        let mut count = |name: &str, usual| Ok::<usize, anyhow::Error>(asked.value(name)?.unwrap_or(usual));
        let (clients, stalled) = (count("--clients", 5_000)?, count("--stalled", 1_000)?);
        let (breaking, messages) = (count("--breaking", 400)?, count("--messages", 10_000)?);
        let mailboxes = count("--mailboxes", 500)?.max(1);
        let each = messages.div_ceil(mailboxes);
        Ok(Self {
            good: clients.checked_sub(stalled).context("--stalled is part of --clients")?,
            stalled,
            breaking,
            mailboxes,
            each,
            rate: asked.value("--rate")?.unwrap_or(500.0),
            stall_max: Duration::from_secs_f64(asked.value("--stall-max")?.unwrap_or(20.0)),
            seed: asked.value("--seed")?.unwrap_or(1),
            tally: Tally::default(),
            acknowledged: RefCell::new(vec![vec![None; each]; mailboxes]),
            sent: Cell::new(0),
            sent_at: Cell::new(None),
            site: Site::asked(asked)?,
        })
    }

    async fn run(&self) -> Result<Value> {
        let before = self.site.memory().await?;
        let (begin, used) = (Instant::now(), cpu()?);
        let opening = stream::iter(0..self.good).map(|number| watcher::Watcher::open(self, number)).buffered(AT_ONCE);
        let watchers: Vec<_> = opening.try_collect().await?;
        let opening = stream::iter(0..self.stalled).map(|number| stalled::open(self, number)).buffered(AT_ONCE);
        let stalled: Vec<_> = opening.try_collect().await?;
        let held = self.site.memory().await?;
        let watching = watchers.into_iter().enumerate().map(|(number, watcher)| {
            let breaks = number < self.breaking;
            watcher.run(self, breaks.then(|| Chance::new(self.seed, number as u64 + 1)))
        });
        let (seen, sent_in) = tokio::join!(join_all(watching), self.send());
        let sent_in = sent_in?;
        let mut figures = Figures::default();
        seen.into_iter().flatten().for_each(|time| figures.done(time, 0));
        let mut told = figures.told(begin.elapsed(), cpu()? - used);
        let ended = stalled::ended(stalled, self.stall_max).await;
        let after = self.site.memory().await?;
        told["memory"] = json!({ "before": before, "held": held, "after": after });
        told["rate"] = json!((self.sent.get() as f64 / sent_in.as_secs_f64()).round());
        told["stalled_ended"] = json!(ended);
        told["errors"] = self.tally.of("failures").into();
        told["tally"] = self.tally.told();
        Ok(told)
    }

    /// The name of a mailbox.
    pub(crate) fn mailbox(number: usize) -> String {
        format!("watched-{number}")
    }

    /// Every message when it is due: the first of each mailbox, then the second of each.
    async fn send(&self) -> Result<Duration> {
        let senders = SENDERS.min(self.mailboxes);
        let clients = try_join_all((0..senders).map(|number| self.site.sender(number))).await?;
        let begin = Instant::now();
        let sending = clients.into_iter().enumerate().map(async |(first, mut client)| {
            for place in 0..self.each * self.mailboxes {
                let (number, mailbox) = (place / self.mailboxes, place % self.mailboxes);
                if mailbox % senders != first {
                    continue;
                }
                sleep_until((begin + Duration::from_secs_f64(place as f64 / self.rate)).into()).await;
                let message = letter(&format!("number {number}"), 600);
                client.deliver(&format!("{}@client.test", Self::mailbox(mailbox)), &message).await?;
                self.acknowledged.borrow_mut()[mailbox][number] = Some(Instant::now());
                self.sent.set(self.sent.get() + 1);
            }
            client.quit().await
        });
        let all = try_join_all(sending).await;
        // Nobody waits for what was not sent.
        self.sent_at.set(Some(Instant::now()));
        all.map(|_| begin.elapsed())
    }

    /// Over when everything that was sent should have been seen.
    pub(crate) async fn late(&self) {
        while self.sent_at.get().is_none_or(|at| at.elapsed() < LATE) {
            sleep(Duration::from_secs(1)).await;
        }
    }
}
