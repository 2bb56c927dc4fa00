//! Many who wait, each for a mail to a mailbox of its own; then the mails, in an order by chance and at a rate. Each
//! waiter must be answered once, with its mail. One thread, so that it uses one core at most.
//!
//! Times are from the `250` to the answer. An answer that was read before its `250` took no time. With several nodes mail
//! goes in at another one than the waiter asked.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use std::cell::RefCell;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::future::{join_all, try_join_all};
use futures_util::{StreamExt, TryStreamExt, stream};
use postkeep_bench::cpu::cpu;
use postkeep_bench::figures::Figures;
use postkeep_bench::letter::with_code;
use postkeep_bench::rest::{Call, Client};
use postkeep_bench::{Asked, Chance, Site};
use serde_json::{Value, json};
use tokio::time::sleep_until;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str =
    "wait-load --http ADDR,… --smtp ADDR,… [--processes PID,…] [--waiters N] [--rate N] [--timeout S] [--seed N]";
/// Requests that are sent at once while the waiters come.
const AT_ONCE: usize = 64;
/// Sessions that the mails are sent over.
const SENDERS: usize = 32;
/// What is made once by the first of them is not counted as memory of the waiters.
const WARM: usize = 50;
/// A waiter is answered within its time, or so long after it.
const GRACE: Duration = Duration::from_secs(10);
/// Nothing comes for so long after the last answer.
const QUIET: Duration = Duration::from_millis(200);

struct Plan {
    site: Site,
    waiters: usize,
    rate: f64,
    timeout: u64,
    seed: u64,
}

fn main() -> Result<()> {
    let mut asked = Asked::from_env(USAGE);
    let plan = Plan {
        site: Site::asked(&mut asked)?,
        waiters: asked.value("--waiters")?.unwrap_or(10_000),
        rate: asked.value("--rate")?.unwrap_or(500.0),
        timeout: asked.value("--timeout")?.unwrap_or(55),
        seed: asked.value("--seed")?.unwrap_or(1),
    };
    asked.finish()?;
    let told = tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(plan.run())?;
    println!("{told}");
    Ok(())
}

/// The answer to a waiter.
struct Answer {
    number: usize,
    at: Instant,
    bytes: usize,
    waiter: Client,
}

/// What one round of waiting came to.
struct Round {
    figures: Figures,
    held: u64,
    sent_in: Duration,
    /// Answers that were read before their `250`.
    early: usize,
}

impl Plan {
    async fn run(&self) -> Result<Value> {
        self.round("warm", WARM.min(self.waiters)).await?;
        let before = self.site.memory().await?;
        let (begin, used) = (Instant::now(), cpu()?);
        let Round { mut figures, held, sent_in, early } = self.round("waiter", self.waiters).await?;
        let mut told = figures.told(begin.elapsed(), cpu()? - used);
        let after = self.site.memory().await?;
        told["memory"] = json!({ "before": before, "held": held, "after": after });
        told["rate"] = json!((self.waiters as f64 / sent_in.as_secs_f64()).round());
        told["early"] = json!(early);
        Ok(told)
    }

    /// So many waiters, and a mail for each.
    async fn round(&self, name: &str, count: usize) -> Result<Round> {
        let asking = stream::iter(0..count).map(|number| self.ask(name, number)).buffered(AT_ONCE);
        let waiters: Vec<Client> = asking.try_collect().await?;
        let held = self.site.memory().await?;
        let (begin, acknowledged) = (Instant::now(), RefCell::new(vec![None; count]));
        let answers = waiters.into_iter().enumerate().map(|(number, waiter)| self.answer(name, number, waiter));
        let sending = async {
            self.send(name, &acknowledged).await?;
            Ok::<_, anyhow::Error>(begin.elapsed())
        };
        let (answers, sent_in) = tokio::join!(join_all(answers), sending);
        let sent_in = sent_in?;
        let (mut figures, mut early) = (Figures::default(), 0);
        for (answer, acknowledged) in once(answers).await.into_iter().zip(acknowledged.into_inner()) {
            match answer {
                Ok(Answer { at, bytes, .. }) => {
                    let from = acknowledged.context("an answer before the mail was sent")?;
                    early += usize::from(at < from);
                    figures.done(at.saturating_duration_since(from), bytes);
                }
                Err(error) => figures.errors.push(format!("{error:#}")),
            }
        }
        Ok(Round { figures, held, sent_in, early })
    }

    fn path(&self, name: &str, number: usize) -> String {
        format!("/api/v2/mailboxes/{name}-{number}/wait?timeout={}s", self.timeout)
    }

    /// Connect and ask; the answer comes later.
    async fn ask(&self, name: &str, number: usize) -> Result<Client> {
        let mut client = self.site.reader(number).await.with_context(|| format!("waiter {number}"))?;
        client.wire = client.wire.waiting(Duration::from_secs(self.timeout) + GRACE);
        client.send(&Call { method: "GET", path: &self.path(name, number), ..Call::default() }).await?;
        Ok(client)
    }

    /// The answer must hold the mail.
    async fn answer(&self, name: &str, number: usize, mut waiter: Client) -> Result<Answer> {
        let path = self.path(name, number);
        let answer = waiter.expect(&Call { method: "GET", path: &path, ..Call::default() }, 200).await?;
        let at = Instant::now();
        let messages = answer["messages"].as_array().context("an answer without messages")?;
        ensure!(answer["outcome"] == "matched" && messages.len() == 1, "waiter {number}: {answer}");
        let wanted = [("mailbox", format!("{name}-{number}")), ("subject", format!("Code for {name} {number}"))];
        for (member, wanted) in wanted {
            ensure!(messages[0][member] == *wanted, "waiter {number} got {member} {}", messages[0][member]);
        }
        Ok(Answer { number, at, bytes: answer.to_string().len(), waiter })
    }

    /// All mails, in an order by chance, each when it is due; when its 250 came is put down.
    async fn send(&self, name: &str, acknowledged: &RefCell<Vec<Option<Instant>>>) -> Result<()> {
        let count = acknowledged.borrow().len();
        let order = shuffled(count, &mut Chance::new(self.seed, 0));
        let senders = SENDERS.min(count);
        let clients = try_join_all((0..senders).map(|number| self.site.sender(number))).await?;
        let begin = Instant::now();
        let sending = clients.into_iter().enumerate().map(async |(first, mut client)| {
            for place in (first..count).step_by(senders) {
                let number = order[place];
                sleep_until((begin + Duration::from_secs_f64(place as f64 / self.rate)).into()).await;
                let to = format!("{name}-{number}@client.test");
                client.deliver(&to, &with_code(&to, &format!("Code for {name} {number}"), "482915")).await?;
                acknowledged.borrow_mut()[number] = Some(Instant::now());
            }
            client.quit().await
        });
        try_join_all(sending).await.map(|_| ())
    }
}

/// The answers, now that the last has come; one that was followed by another is an error.
async fn once(answers: Vec<Result<Answer>>) -> Vec<Result<Answer>> {
    let looking = answers.into_iter().map(async |answer| {
        let mut answer = answer?;
        ensure!(answer.waiter.wire.quiet_for(QUIET).await, "waiter {} was answered again, or left", answer.number);
        Ok(answer)
    });
    join_all(looking).await
}

/// The numbers below this in an order by chance.
fn shuffled(count: usize, chance: &mut Chance) -> Vec<usize> {
    let mut order: Vec<_> = (0..count).collect();
    for place in (1..count).rev() {
        order.swap(place, chance.below(place + 1));
    }
    order
}
