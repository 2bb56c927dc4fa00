//! What a search takes in a store of 100,000 messages while mail arrives, and what the index of texts costs that mail: two
//! stores with the same mail, one with an index and one without, get mail at the same pace in turn; in the one with an
//! index somebody searches meanwhile.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Plan, Report};
use crate::load::chance::Chance;
use crate::load::crowd::{Crowd, fill};
use crate::load::figures::{Goal, grouped, median, megabytes, percentile};
use crate::load::folder::{Folder, settle};
use crate::load::http::Connection;
use crate::load::letters::{Kind, letter};
use crate::load::process::cpu;
use crate::load::server::Server;

const MESSAGES: usize = 100_000;
const MAILBOXES: usize = 1_000;
/// Different messages; each is sent many times.
const LETTERS: u64 = 4_000;
/// Senders' domains: a search for one finds one message in a hundred.
const SHOPS: usize = 100;
/// Messages a second, and how many clients send them.
const RATE: usize = 200;
const CLIENTS: usize = 20;
/// A search begins so often.
const EVERY: Duration = Duration::from_millis(25);
/// How long the index may take to be filled.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// One kind of search. `{n}` is another number each time.
struct Search {
    name: &'static str,
    query: &'static str,
}

const SEARCHES: &[Search] = &[
    Search { name: "a word that many have", query: "password" },
    Search { name: "a word that few have", query: "order-{n}x" },
    Search { name: "a phrase that nobody has", query: "%22regards+tomorrow+{n}%22" },
    Search { name: "a sender's domain", query: "from:@shop{s}.test" },
    Search { name: "a sender and a word", query: "from:@shop{s}.test+invoice" },
];

const COLUMNS: &[&str] = &["what is looked for", "searches", "p50, ms", "p99, ms", "goal"];

pub(super) fn run(plan: &Plan) -> Result<()> {
    let letters = letters();
    let mut report = Report::new("bench search", COLUMNS);
    let (indexed, control) = (Side::new(plan, "indexed", &[])?, Side::new(plan, "control", &["search.index_max=0"])?);
    let mailboxes: Vec<u32> = (0..MESSAGES).map(|number| (number % MAILBOXES) as u32).collect();
    for side in [&indexed, &control] {
        fill(side.smtp, &mailboxes, &letters)?;
    }
    report.raw(indexed.caught_up()?);
    let mut all = Figures::default();
    for round in 0..plan.rounds {
        let mut order = [true, false];
        order.rotate_left(round % 2);
        for is_indexed in order {
            settle()?;
            if is_indexed {
                all.searched(&indexed, &letters, plan.time, round as u64)?;
            } else {
                all.quiet(&control, &letters, plan.time, round as u64)?;
            }
        }
    }
    tell(&mut report, &mut all);
    plan.done(&report)
}

/// A store and its server.
struct Side {
    server: Server,
    folder: Folder,
    smtp: SocketAddr,
    http: SocketAddr,
}

impl Side {
    fn new(plan: &Plan, name: &str, settings: &[&str]) -> Result<Self> {
        let folder = Folder::new(name)?;
        let binary: &Path = &plan.binary;
        let server = folder.serve(binary, settings)?;
        let (smtp, http) = (server.address("smtp")?, server.address("http")?);
        Ok(Self { server, folder, smtp, http })
    }

    /// Wait until the index has everything; what that took.
    fn caught_up(&self) -> Result<String> {
        let (begin, before) = (Instant::now(), cpu(self.server.pid())?);
        let index = self.folder.database().with_file_name("search.db");
        let left = format!(
            "ATTACH '{}' AS search; SELECT main.state.last_position - search.state.head FROM main.state, search.state",
            index.display()
        );
        while self.folder.ask(&left)? != "0" {
            ensure!(begin.elapsed() < PATIENCE, "the index is not filled after {PATIENCE:?}");
            sleep(Duration::from_millis(500));
        }
        let spent = cpu(self.server.pid())? - before;
        let (mail, index) = (size(&self.folder, "postkeep.db"), size(&self.folder, "search.db"));
        let (mail, index) = (megabytes(mail), megabytes(index));
        let took = begin.elapsed().as_secs_f64();
        Ok(format!("the index was filled {took:.0} s after the mail, CPU {spent:.0?}; mail {mail}, index {index}"))
    }
}

fn size(folder: &Folder, name: &str) -> u64 {
    std::fs::metadata(folder.database().with_file_name(name)).map_or(0, |file| file.len())
}

/// What the rounds showed.
#[derive(Default)]
struct Figures {
    /// Of each kind of search.
    searches: Vec<Vec<Duration>>,
    /// Of each round, in milliseconds: p50 and p99 of deliveries.
    indexed: Vec<(f64, f64)>,
    control: Vec<(f64, f64)>,
}

impl Figures {
    /// One round with searches.
    fn searched(&mut self, side: &Side, letters: &[Vec<u8>], time: Duration, round: u64) -> Result<()> {
        self.searches.resize_with(SEARCHES.len(), Vec::new);
        let over = AtomicBool::new(false);
        let (delivered, searched) = scope(|threads| {
            let searching = threads.spawn(|| search(side.http, round, &over));
            let delivered = deliver(side, letters, time, round);
            over.store(true, Ordering::Relaxed);
            (delivered, searching.join().expect("a client does not panic"))
        });
        self.indexed.push(delivered?);
        for (all, some) in self.searches.iter_mut().zip(searched?) {
            all.extend(some);
        }
        Ok(())
    }

    /// One round without.
    fn quiet(&mut self, side: &Side, letters: &[Vec<u8>], time: Duration, round: u64) -> Result<()> {
        self.control.push(deliver(side, letters, time, round)?);
        Ok(())
    }
}

/// Deliver at the pace of all; p50 and p99 in milliseconds.
fn deliver(side: &Side, letters: &[Vec<u8>], time: Duration, round: u64) -> Result<(f64, f64)> {
    let every = Some(Duration::from_secs(1) * CLIENTS as u32 / RATE as u32);
    let crowd = Crowd { smtp: side.smtp, clients: CLIENTS, letters, mailboxes: 0..MAILBOXES, every, seed: round };
    let mut times: Vec<Duration> = crowd.deliver_for(time)?.iter().map(|one| one.took).collect();
    let ms = |share: f64, times: &mut [Duration]| percentile(times, share).as_secs_f64() * 1e3;
    Ok((ms(0.5, &mut times), ms(0.99, &mut times)))
}

/// Search over all mailboxes until it is over, one kind after the other; how long each took.
fn search(http: SocketAddr, round: u64, over: &AtomicBool) -> Result<Vec<Vec<Duration>>> {
    let mut client = Connection::open(http)?;
    let mut chance = Chance::new(&[round, 77]);
    let mut times = vec![Vec::new(); SEARCHES.len()];
    let mut due = Instant::now();
    for kind in (0..SEARCHES.len()).cycle() {
        if over.load(Ordering::Relaxed) {
            break;
        }
        sleep(due.saturating_duration_since(Instant::now()));
        due = Instant::now() + EVERY;
        let (number, shop) = (chance.below(LETTERS as usize).to_string(), chance.below(SHOPS).to_string());
        let query = SEARCHES[kind].query.replace("{n}", &number).replace("{s}", &shop);
        let begin = Instant::now();
        client.send("GET", &format!("/api/v2/messages?q={query}"))?;
        let (status, body) = client.receive()?;
        times[kind].push(begin.elapsed());
        ensure!(status == 200, "{query} answered {status}");
        let told: Value = serde_json::from_slice(&body).context("an answer in JSON")?;
        ensure!(told["search"]["complete"] == true, "{query}: {}", told["search"]);
    }
    Ok(times)
}

fn tell(report: &mut Report, all: &mut Figures) {
    for (search, times) in SEARCHES.iter().zip(&mut all.searches) {
        let [p50, p99] = [0.5, 0.99].map(|share| percentile(times, share).as_secs_f64() * 1e3);
        report.row(vec![
            search.name.into(),
            grouped(times.len() as f64),
            format!("{p50:.1}"),
            format!("{p99:.1}"),
            Goal::AtMost(50.0).judged(p99),
        ]);
    }
    let shown = |rounds: &[(f64, f64)]| {
        rounds.iter().map(|(p50, p99)| format!("{p50:.1}/{p99:.1}")).collect::<Vec<_>>().join(" ")
    };
    report.raw(format!("delivery p50/p99 in ms, with an index and searches: {}", shown(&all.indexed)));
    report.raw(format!("delivery p50/p99 in ms, without both: {}", shown(&all.control)));
    let p99 = |rounds: &[(f64, f64)]| median(&rounds.iter().map(|(_, p99)| *p99).collect::<Vec<_>>());
    let ratio = p99(&all.indexed) / p99(&all.control);
    report.row(vec![
        format!(
            "delivery p99 at {RATE} msg/s, against the same without index and searches ({:.1} to {:.1} ms)",
            p99(&all.indexed),
            p99(&all.control)
        ),
        "–".into(),
        "–".into(),
        format!("{ratio:.2} ×"),
        Goal::AtMost(1.25).judged(ratio),
    ]);
}

/// Messages of 2 to 20 KB, from many shops, each with a word of its own.
fn letters() -> Vec<Vec<u8>> {
    let one = |number: u64| {
        let mut chance = Chance::new(&[number, 5]);
        let bytes = chance.spread(2_048.0, 20_480.0) as usize;
        let text = String::from_utf8(letter(Kind::Words, bytes, &mut chance)).expect("letters are ASCII");
        let shop = format!("<orders@shop{}.test>", number as usize % SHOPS);
        let text = text.replacen("<orders@shop.test>", &shop, 1);
        text.replacen("Subject: ", &format!("Subject: order-{number}x "), 1).into_bytes()
    };
    (0..LETTERS).map(one).collect()
}
