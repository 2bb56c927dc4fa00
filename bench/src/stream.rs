//! A bare loop that publishes what the cluster's engine publishes for a message: its body, and once that is acknowledged
//! its summary, on the subject of a mailbox. It publishes into the very streams of a store that the engine made, over one
//! connection as a node does, and takes its payloads from there: the least that this many messages cost the brokers. It
//! knows nothing of mail, of trying again or of how a payload came to be.
//!
//! `bare-stream URL PREFIX [--in-flight N] [--seconds N] [--rate N] [--mailboxes N]`: the store of this prefix must hold
//! mail already, in its first shards. With a rate, so many messages a second are begun, else each as soon as one is done.
//! It says `ready` when it has its payloads and begins when a line, or the end, comes on stdin, so that whoever measures
//! the brokers can begin with it. At the end it prints one line of JSON: messages, seconds, p50 and p99 in milliseconds, bytes of the payloads on average, and CPU
//! seconds of this process in the loop.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow, bail, ensure};
use async_nats::{Client, ConnectOptions, HeaderMap, Message, Request};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::task::LocalSet;
use tokio::time::{sleep, timeout};

use postkeep_bench::cpu::cpu;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "bare-stream URL PREFIX [--in-flight N] [--seconds N] [--rate N] [--mailboxes N]";
/// So many different messages are taken from the store and published over and over.
const PATTERNS: u64 = 100;
const ANSWER_WAIT: Duration = Duration::from_secs(20);
/// The header by which a stream takes a message once.
const ID: &str = "Nats-Msg-Id";
/// Headers of a stored message that it is published with again; the others were added on the way out, or belong to a
/// batch that it came in.
const KEPT: [&str; 2] = [ID, "Nats-TTL"];

/// What the command line asks for.
struct Asked {
    url: String,
    prefix: String,
    in_flight: u64,
    time: Duration,
    rate: Option<f64>,
    mailboxes: u64,
}

/// A message as the engine published it.
struct Pattern {
    headers: HeaderMap,
    payload: Bytes,
}

/// Everything that the loops share; they run on one thread.
struct Bare {
    client: Client,
    asked: Asked,
    bodies: Vec<Pattern>,
    summaries: Vec<Pattern>,
    /// Makes the ids of this run its own.
    salt: u64,
    next: Cell<u64>,
    begin: Instant,
}

fn main() -> Result<()> {
    let asked = asked(std::env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, run(asked))
}

async fn run(asked: Asked) -> Result<()> {
    let client = connect(&asked.url).await.context("no broker to connect to")?;
    let prefix = &asked.prefix;
    let bodies = patterns(&client, &format!("{prefix}-body-0"), &format!("{prefix}.b.0")).await?;
    let summaries = patterns(&client, &format!("{prefix}-sum-0"), &format!("{prefix}.s.0.*.m")).await?;
    println!("ready");
    // Nothing else runs yet that this could hold up.
    std::io::stdin().read_line(&mut String::new())?;
    let salt = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64;
    let (next, cpu_before, begin) = (Cell::new(0), cpu()?, Instant::now());
    let bare = Rc::new(Bare { client, asked, bodies, summaries, salt, next, begin });
    let loops: Vec<_> =
        (0..bare.asked.in_flight).map(|number| tokio::task::spawn_local(Rc::clone(&bare).publish(number))).collect();
    let mut times = Vec::new();
    for one in loops {
        times.extend(one.await??);
    }
    tell(&bare, times, cpu()? - cpu_before)
}

/// Connect as the user that the URL names, if it does.
async fn connect(url: &str) -> Result<Client> {
    let mut options = ConnectOptions::new().name("bare-stream").skip_subject_validation(true).request_timeout(None);
    let said = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
    if let Some((user, password)) = said.and_then(|(user, _)| user.split_once(':')) {
        options = options.user_and_password(user.to_owned(), password.to_owned());
    }
    Ok(options.connect(url).await?)
}

fn tell(bare: &Bare, mut times: Vec<Duration>, cpu: f64) -> Result<()> {
    let seconds = bare.begin.elapsed().as_secs_f64();
    ensure!(!times.is_empty(), "nothing was published");
    times.sort();
    let share = |share: f64| {
        let rank = (times.len() as f64 * share).ceil() as usize;
        times[rank.clamp(1, times.len()) - 1].as_secs_f64() * 1e3
    };
    let mean = |patterns: &[Pattern]| patterns.iter().map(|one| one.payload.len()).sum::<usize>() / patterns.len();
    let figures = json!({
        "messages": times.len(),
        "seconds": seconds,
        "p50_ms": share(0.5),
        "p99_ms": share(0.99),
        "body_bytes": mean(&bare.bodies),
        "summary_bytes": mean(&bare.summaries),
        "cpu_seconds": cpu,
    });
    println!("{figures}");
    Ok(())
}

fn asked(mut words: impl Iterator<Item = String>) -> Result<Asked> {
    let (url, prefix) = (words.next().context(USAGE)?, words.next().context(USAGE)?);
    let mut asked = Asked { url, prefix, in_flight: 64, time: Duration::from_secs(5), rate: None, mailboxes: 10_000 };
    while let Some(name) = words.next() {
        let value = words.next().with_context(|| format!("{name} needs a value behind it"))?;
        match name.as_str() {
            "--in-flight" => asked.in_flight = value.parse()?,
            "--seconds" => asked.time = Duration::from_secs_f64(value.parse()?),
            "--rate" => asked.rate = Some(value.parse()?),
            "--mailboxes" => asked.mailboxes = value.parse()?,
            _ => bail!("{name} means nothing here: {USAGE}"),
        }
    }
    ensure!(asked.in_flight > 0 && asked.mailboxes > 0, "one in flight and one mailbox are the least");
    Ok(asked)
}

/// Some messages of a subject, from the beginning of the stream to its end, evenly.
async fn patterns(client: &Client, stream: &str, subject: &str) -> Result<Vec<Pattern>> {
    let info = ask(client, format!("$JS.API.STREAM.INFO.{stream}"), HeaderMap::new(), Bytes::new()).await?;
    let info: Value = serde_json::from_slice(&info.payload)?;
    ensure!(info["error"].is_null(), "the stream {stream}: {}", info["error"]);
    let number = |name: &str| info["state"][name].as_u64().with_context(|| format!("{stream} tells no {name}"));
    let (first, last) = (number("first_seq")?, number("last_seq")?);
    let mut all = Vec::new();
    for place in 0..PATTERNS {
        let question = json!({ "seq": first + (last + 1 - first) * place / PATTERNS, "next_by_subj": subject });
        let subject = format!("$JS.API.DIRECT.GET.{stream}");
        let message = ask(client, subject, HeaderMap::new(), question.to_string().into()).await?;
        // At the end there may be none behind the place.
        if message.status.is_none() {
            all.push(Pattern { headers: kept(message.headers.as_ref()), payload: message.payload });
        }
    }
    ensure!(!all.is_empty(), "{stream} holds nothing on {subject} to take for a pattern");
    Ok(all)
}

fn kept(headers: Option<&HeaderMap>) -> HeaderMap {
    let mut kept = HeaderMap::new();
    for name in KEPT {
        if let Some(value) = headers.and_then(|headers| headers.get(name)) {
            kept.insert(name, value.clone());
        }
    }
    kept
}

async fn ask(client: &Client, subject: String, headers: HeaderMap, payload: Bytes) -> Result<Message> {
    let headers = (!headers.is_empty()).then_some(headers);
    let request = Request { payload: Some(payload), headers, timeout: Some(None), inbox: None };
    let answer = timeout(ANSWER_WAIT, client.send_request(subject, request)).await;
    answer.map_err(|_| anyhow!("no answer within {ANSWER_WAIT:?}"))?.context("a request failed")
}

impl Bare {
    /// One loop: message after message until the time is over; how long each took.
    async fn publish(self: Rc<Self>, number: u64) -> Result<Vec<Duration>> {
        let every = self.asked.rate.map(|rate| Duration::from_secs_f64(self.asked.in_flight as f64 / rate));
        // Spread by chance, as senders are who know nothing of each other.
        let share = mixed(self.salt ^ number) as f64 / u64::MAX as f64;
        let mut due = every.map(|every| self.begin + every.mul_f64(share));
        let mut times = Vec::new();
        while self.begin.elapsed() < self.asked.time {
            if let Some((due, every)) = due.as_mut().zip(every) {
                sleep(due.saturating_duration_since(Instant::now())).await;
                *due += every;
            }
            let begin = Instant::now();
            self.publish_one().await?;
            times.push(begin.elapsed());
        }
        Ok(times)
    }

    async fn publish_one(&self) -> Result<()> {
        let number = self.next.replace(self.next.get() + 1);
        let place = |patterns: &[Pattern]| number as usize % patterns.len();
        let prefix = &self.asked.prefix;
        self.store(format!("{prefix}.b.0"), &self.bodies[place(&self.bodies)], number).await?;
        let token = mixed(mixed(number) % self.asked.mailboxes);
        let subject = format!("{prefix}.s.0.{token:016x}.m");
        self.store(subject, &self.summaries[place(&self.summaries)], number).await
    }

    /// Publish and wait until it is stored.
    async fn store(&self, subject: String, pattern: &Pattern, number: u64) -> Result<()> {
        let mut headers = pattern.headers.clone();
        if headers.get(ID).is_some() {
            headers.insert(ID, format!("{:016x}{number:016x}", self.salt));
        }
        let answer = ask(&self.client, subject, headers, pattern.payload.clone()).await?;
        let ack: Value = serde_json::from_slice(&answer.payload)?;
        ensure!(ack["error"].is_null(), "a message was refused: {}", ack["error"]);
        Ok(())
    }
}

/// Numbers that look drawn by chance (SplitMix64).
fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
