//! Whether a cluster gets slower with its mailboxes: a thousand, a hundred thousand and a million of them, each with a small
//! message, and in each store what a message costs and what list and read take, what brokers and node hold in memory, and
//! how soon a broker is back after a kill. The three clusters are filled first and measured in turns, so that a bad minute
//! of the machine falls on all of them. All brokers run all the time; a node runs only while its store is measured.

use std::net::SocketAddr;
use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::fill::fill;
use super::{Measure, Spread};
use crate::bench::Report;
use crate::load::chance::Chance;
use crate::load::cluster::{BROKERS, Cluster};
use crate::load::crowd::{Crowd, mailbox};
use crate::load::figures::{Goal, median, megabytes};
use crate::load::folder::settle;
use crate::load::http::Connection;
use crate::load::letters::{Kind, letters};
use crate::load::process::memory;
use crate::load::server::Server;

const MAILBOXES: [usize; 3] = [1_000, 100_000, 1_000_000];
const MESSAGE_BYTES: usize = 1_000;
const ROUNDS: usize = 5;
/// Of each work in each round.
const SAMPLES: usize = 1_000;
const SENDERS: usize = 32;
const HEALTHY_WITHIN: Duration = Duration::from_secs(300);
/// No p50 may grow by more from the smallest store to the largest.
const FLAT: Goal = Goal::AtMost(1.5);

const WORKS: [&str; 4] =
    ["send, one client", "send, 32 clients", "list of a mailbox with one message", "read of the latest"];
const COLUMNS: &[&str] =
    &["what", "1,000 mailboxes", "100,000 mailboxes", "1,000,000 mailboxes", "p50, last to first", "goal"];

/// What one round showed of one store.
struct Round {
    times: [Vec<Duration>; WORKS.len()],
    /// CPU of the brokers, in µs a message, when many send.
    cost: f64,
    /// Of the node, at its end.
    memory: u64,
}

pub(super) fn run(measure: &Measure<'_>, shards: usize) -> Result<()> {
    let name = if shards == 1 { "long cluster mailboxes" } else { "long cluster mailboxes --shards 4" };
    ensure!([1, 4].contains(&shards), "--shards is 1 or 4: the tables have their places");
    let mut report = Report::within("docs/scale.md", name, COLUMNS);
    let letters = letters(Kind::Words, MESSAGE_BYTES, 64);
    let mut stores = Vec::new();
    for mailboxes in MAILBOXES {
        let store = Store::filled(measure, measure.scaled(mailboxes), shards, &letters, &mut report)?;
        stores.push(store);
    }
    settle()?;
    for round in 0..=ROUNDS {
        // Who goes first changes.
        for place in 0..stores.len() {
            let store = &mut stores[(place + round) % MAILBOXES.len()];
            let seen = store.round(round as u64, &letters)?;
            // The first round warms.
            if round > 0 {
                let spreads = seen.times.each_ref().map(|times| Spread::of(times.clone()).text()).join(", ");
                let (cost, memory) = (seen.cost, megabytes(seen.memory));
                let of = format!("round {round}, {} mailboxes", store.mailboxes);
                report.raw(format!("{of}: {spreads}; brokers {cost:.0} µs/msg; node {memory}"));
                store.rounds.push(seen);
            }
        }
    }
    tell(&mut report, &mut stores)?;
    measure.done(&report)
}

/// The rows of the table, the times of starts last, as a broker that was killed holds less in memory.
fn tell(report: &mut Report, stores: &mut [Store]) -> Result<()> {
    for (work, name) in WORKS.iter().enumerate() {
        let spreads: Vec<_> = stores.iter().map(|store| store.spread(work)).collect();
        let ratio = spreads[spreads.len() - 1].p50 / spreads[0].p50;
        let cells = spreads.iter().map(|spread| spread.text()).collect();
        row(report, &format!("{name}, p50 / p99"), cells, Some((ratio, FLAT)));
    }
    let costs: Vec<_> = stores.iter().map(Store::cost).collect();
    let ratio = costs[costs.len() - 1] / costs[0];
    let cells = costs.iter().map(|cost| format!("{cost:.0} µs")).collect();
    row(report, "CPU of all brokers for a message, 32 clients", cells, Some((ratio, Goal::None)));
    row(report, "memory of each broker when filled", all(stores, |store| store.filled.clone()), None);
    row(report, "memory of each broker after the rounds", all(stores, |store| store.memory()), None);
    row(report, "memory of the node that filled it", all(stores, |store| megabytes(store.filler)), None);
    let node = |store: &Store| megabytes(store.rounds.iter().map(|round| round.memory).max().unwrap_or_default());
    row(report, "memory of a node, at most", all(stores, node), None);
    row(report, "disk of one broker", all(stores, |store| megabytes(store.cluster.disk(0))), None);
    let starts: Vec<_> = stores.iter_mut().map(Store::starts).collect::<Result<_>>()?;
    row(report, "start until healthy after a kill, each broker", starts, None);
    Ok(())
}

fn all(stores: &[Store], cell: impl Fn(&Store) -> String) -> Vec<String> {
    stores.iter().map(cell).collect()
}

fn row(report: &mut Report, name: &str, cells: Vec<String>, ratio: Option<(f64, Goal)>) {
    let judged =
        ratio.map_or(["–".into(), "–".into()], |(ratio, goal)| [format!("{ratio:.2}"), goal.judged(ratio)]);
    report.row([vec![name.to_owned()], cells, judged.to_vec()].concat());
}

/// One column of the table.
struct Store {
    cluster: Cluster,
    mailboxes: usize,
    settings: [String; 2],
    /// Memory of the brokers when it was filled, and of the node.
    filled: String,
    filler: u64,
    rounds: Vec<Round>,
}

impl Store {
    fn filled(
        measure: &Measure<'_>,
        mailboxes: usize,
        shards: usize,
        letters: &[Vec<u8>],
        report: &mut Report,
    ) -> Result<Self> {
        let cluster = Cluster::start(measure.binary, &[])?;
        let settings = ["shards", "body_shards"].map(|key| format!("store.jetstream.{key}={shards}"));
        let mut store = Self { cluster, mailboxes, settings, filled: String::new(), filler: 0, rounds: Vec::new() };
        let node = store.node()?;
        let took = fill(node.address("smtp")?, 0..mailboxes, letters)?;
        store.filler = memory(node.pid())?.now;
        node.stop()?;
        store.filled = store.memory();
        let rate = mailboxes as f64 / took.as_secs_f64();
        let disk = megabytes(store.cluster.disk(0));
        report.raw(format!(
            "{mailboxes} mailboxes: filled in {took:.1?}, {rate:.0} mailboxes a second; brokers {}, {disk} on disk each",
            store.filled
        ));
        Ok(store)
    }

    fn node(&self) -> Result<Server> {
        self.cluster.node(&self.settings.each_ref().map(String::as_str))
    }

    /// Memory of each broker.
    fn memory(&self) -> String {
        let each: Vec<_> = (0..BROKERS).map(|broker| self.cluster.brokers.rss(broker) as f64 / 1e6).collect();
        each.iter().map(|megabytes| format!("{megabytes:.0}")).collect::<Vec<_>>().join(" / ") + " MB"
    }

    /// The second half of the mailboxes, to list and read: nothing more is sent there, so that in every store they hold
    /// one message, while in the first half of a small store there are soon many.
    fn looked_at(&self) -> Range<usize> {
        self.mailboxes / 2..self.mailboxes
    }

    /// Every work for a while, through a fresh node.
    fn round(&self, round: u64, letters: &[Vec<u8>]) -> Result<Round> {
        let node = self.node()?;
        let (smtp, http) = (node.address("smtp")?, node.address("http")?);
        let mut chance = Chance::new(&[round, self.mailboxes as u64]);
        let send = |clients: usize| -> Result<Vec<Duration>> {
            let (mailboxes, seed) = (0..self.looked_at().start, round * 100 + clients as u64);
            let crowd = Crowd { smtp, clients, letters, mailboxes, every: None, seed };
            let each = if clients == 1 { SAMPLES } else { 4 * SAMPLES / clients };
            Ok(crowd.deliver_each(each)?.iter().map(|delivered| delivered.took).collect())
        };
        let one = send(1)?;
        let before = self.cluster.cpu();
        let many = send(SENDERS)?;
        let cost = (self.cluster.cpu() - before).as_secs_f64() * 1e6 / many.len() as f64;
        let lists = self.timed(http, &mut chance, "")?;
        let reads = self.timed(http, &mut chance, "/latest")?;
        let memory = memory(node.pid())?.now;
        node.stop()?;
        Ok(Round { times: [one, many, lists, reads], cost, memory })
    }

    /// Requests to mailboxes drawn by chance, one after the other: how long each took.
    fn timed(&self, http: SocketAddr, chance: &mut Chance, below: &str) -> Result<Vec<Duration>> {
        let (mut connection, mailboxes) = (Connection::open(http)?, self.looked_at());
        let mut times = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES {
            let drawn = mailboxes.start + chance.below(mailboxes.len());
            let path = format!("/api/v1/mailbox/{}{below}", mailbox(drawn));
            let begin = Instant::now();
            connection.send("GET", &path)?;
            let (status, body) = connection.receive()?;
            times.push(begin.elapsed());
            // A list without a message is two bytes.
            ensure!(status == 200 && body.len() > 2, "GET {path} was answered with {status}, {} bytes", body.len());
        }
        Ok(times)
    }

    fn spread(&self, work: usize) -> Spread {
        Spread::of(self.rounds.iter().flat_map(|round| round.times[work].iter().copied()).collect())
    }

    fn cost(&self) -> f64 {
        median(&self.rounds.iter().map(|round| round.cost).collect::<Vec<_>>())
    }

    /// Kill each broker and start it again; how long it takes until it is healthy.
    fn starts(&mut self) -> Result<String> {
        let mut times = Vec::new();
        for broker in 0..BROKERS {
            let brokers = &mut self.cluster.brokers;
            brokers.kill(broker)?;
            let begin = Instant::now();
            brokers.start_again(broker)?;
            brokers.wait_healthy(HEALTHY_WITHIN)?;
            times.push(format!("{:.1}", begin.elapsed().as_secs_f64()));
        }
        Ok(times.join(" / ") + " s")
    }
}
