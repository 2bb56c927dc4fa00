//! What the cluster's engine costs: mail over kept SMTP connections to one node, and the same payloads published straight
//! to the same streams by a bare loop, in turns, over the same three brokers. Held against that loop are the rate, and the
//! CPU that the brokers use for a message.
//!
//! On a small machine brokers, node and senders share the cores, and then the rate tells who is the thriftiest of them.
//! So both are measured a second time with the brokers on one core and everything else on the others, and once more there
//! at a rate that both keep easily.

mod side;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use self::side::{Done, Share, Side, middle};
use super::{Plan, Report};
use crate::load::cluster::{Cluster, PREFIX, Stream, possible};
use crate::load::crowd::Crowd;
use crate::load::figures::{Goal, grouped, median, percentile};
use crate::load::folder::settle;
use crate::load::letters::{Kind, letters};
use crate::load::machine::{Kept, cores, idle, keep_off_first};
use crate::load::process::cpu;
use crate::load::server::Server;
use crate::shell::{built, cargo, run as must};

/// The sizes of messages, unless one is named.
const SIZES: [usize; 2] = [20_480, 2_048];
const CONNECTIONS: usize = 64;
const MAILBOXES: usize = 10_000;
/// What an easy rate is, of the rate that the bare loop reached.
const EASY: f64 = 0.6;
/// Before the first round: fills the streams with what the bare loop takes for its patterns.
const FIRST: Duration = Duration::from_secs(3);
/// Before each round: a node that has just started opens and allocates.
const WARM: Duration = Duration::from_millis(500);
/// After each round: followers apply what the leader has acknowledged, which is part of its cost.
const REST: Duration = Duration::from_millis(300);
/// A core that is idle for less than this share of the time limits what runs on it.
const IDLE: f64 = 0.1;
const RATE_GOAL: Goal = Goal::AtLeast(0.9);
const CPU_GOAL: Goal = Goal::AtMost(1.15);

const COLUMNS: &[&str] = &[
    "work",
    "bare, msg/s",
    "Postkeep, msg/s",
    "ratio",
    "goal",
    "bare, p50 / p99 ms",
    "Postkeep, p50 / p99 ms",
    "bare, broker CPU µs/msg",
    "Postkeep, broker CPU µs/msg",
    "ratio",
    "goal",
    "node, CPU µs/msg",
    "the limit",
];

/// Where the brokers run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On all cores, with everything else.
    Shared,
    /// On the first core, with everything else on the others.
    Apart,
}

pub(super) fn run(plan: &Plan) -> Result<()> {
    if !possible()? {
        return Ok(());
    }
    must(&mut cargo(["build", "--release", "--package", "postkeep-bench", "--bin", "bare-stream"]))?;
    let mut report = Report::new("bench cluster", COLUMNS);
    let sizes = plan.size.map_or(SIZES.to_vec(), |size| vec![size]);
    for bytes in sizes {
        for place in [Place::Shared, Place::Apart] {
            Bench::new(plan, bytes, place)?.measure(&mut report)?;
        }
    }
    plan.done(&report)
}

/// Brokers with everything that a measurement on them needs.
struct Bench<'a> {
    plan: &'a Plan,
    bytes: usize,
    place: Place,
    cores: usize,
    cluster: Cluster,
    letters: Vec<Vec<u8>>,
    _kept: Option<Kept>,
}

impl<'a> Bench<'a> {
    fn new(plan: &'a Plan, bytes: usize, place: Place) -> Result<Self> {
        let (apart, cores) = (place == Place::Apart, cores());
        let cluster = Cluster::start(&plan.binary, if apart { &["taskset", "--cpu-list", "0"] } else { &[] })?;
        let kept = if apart { Some(keep_off_first()?) } else { None };
        // What does not pack: else the brokers get less than the senders send.
        let letters = letters(Kind::Noise, bytes, 64);
        Ok(Self { plan, bytes, place, cores, cluster, letters, _kept: kept })
    }

    fn measure(&self, report: &mut Report) -> Result<()> {
        let node = self.node()?;
        self.crowd(&node, None)?.deliver_for(FIRST)?;
        node.stop()?;
        let size = format!("{} KB", self.bytes / 1024);
        let fast = match self.place {
            Place::Shared => format!("{size}, as fast as it goes, all on {} cores", self.cores),
            Place::Apart => format!("{size}, as fast as it goes, brokers on a core of their own"),
        };
        let rate_goal = if self.place == Place::Apart && self.bytes >= SIZES[0] { RATE_GOAL } else { Goal::None };
        let rates = self.rounds(report, &fast, rate_goal, None)?;
        if self.place == Place::Apart {
            let rate = (median(&rates) * EASY).round();
            let easy = format!("{size}, {} a second, brokers on a core of their own", grouped(rate));
            self.rounds(report, &easy, Goal::None, Some(rate))?;
        }
        Ok(())
    }

    /// All rounds of one work, who goes first changing; the rates of the bare loop.
    fn rounds(&self, report: &mut Report, name: &str, goal: Goal, rate: Option<f64>) -> Result<Vec<f64>> {
        let (mut bares, mut ours) = (Vec::new(), Vec::new());
        for round in 0..self.plan.rounds {
            let mut order = ["bare", "Postkeep"];
            order.rotate_left(round % 2);
            for who in order {
                settle()?;
                sleep(REST);
                let bare = who == "bare";
                let side = if bare { self.bare(rate)? } else { self.ours(rate)? };
                report.raw(format!("{name}, round {}: {who:<8} {}", round + 1, side.line()));
                if bare { &mut bares } else { &mut ours }.push(side);
            }
        }
        report.row(self.row(name, goal, &bares, &ours));
        Ok(bares.iter().map(Side::rate).collect())
    }

    fn row(&self, name: &str, goal: Goal, bares: &[Side], ours: &[Side]) -> Vec<String> {
        let both = |figure: fn(&Side) -> f64| [middle(bares, figure), middle(ours, figure)];
        let [bare_rate, our_rate] = both(Side::rate);
        let [bare_cpu, our_cpu] = both(|side| side.each(side.brokers));
        let [[bare_p50, our_p50], [bare_p99, our_p99]] = [both(|side| side.p50), both(|side| side.p99)];
        let (rate, cpu) = (our_rate / bare_rate, our_cpu / bare_cpu);
        let [first, others] = [0, 1].map(|place| middle(ours, |side| side.idle[place]));
        vec![
            name.into(),
            grouped(bare_rate),
            grouped(our_rate),
            format!("{rate:.2}"),
            goal.judged(rate),
            format!("{bare_p50:.1} / {bare_p99:.1}"),
            format!("{our_p50:.1} / {our_p99:.1}"),
            format!("{bare_cpu:.0}"),
            format!("{our_cpu:.0}"),
            format!("{cpu:.2}"),
            CPU_GOAL.judged(cpu),
            format!("{:.0}", middle(ours, |side| side.each(side.node))),
            self.limit(first, others).into(),
        ]
    }

    /// Which CPU limits a side, from how much of the first core and of the others is idle.
    fn limit(&self, first: f64, others: f64) -> &'static str {
        match self.place {
            Place::Shared if first + others < IDLE * self.cores as f64 => "the cores, shared by all",
            Place::Apart if first < IDLE => "the brokers' core",
            Place::Apart if others < IDLE * (self.cores - 1) as f64 => "the cores of node and senders",
            _ => "no CPU",
        }
    }

    /// One node, always at the first broker, where the bare loop connects too.
    fn node(&self) -> Result<Server> {
        self.cluster.node_at(&[self.cluster.brokers.url(0)], &[])
    }

    fn crowd(&self, node: &Server, rate: Option<f64>) -> Result<Crowd<'_>> {
        let clients = self.connections();
        let every = rate.map(|rate| Duration::from_secs_f64(clients as f64 / rate));
        let (smtp, letters) = (node.address("smtp")?, &self.letters);
        Ok(Crowd { smtp, clients, letters, mailboxes: 0..MAILBOXES, every, seed: 1 })
    }

    fn connections(&self) -> usize {
        self.plan.connections.unwrap_or(CONNECTIONS)
    }

    fn ours(&self, rate: Option<f64>) -> Result<Side> {
        let node = self.node()?;
        let crowd = self.crowd(&node, rate)?;
        crowd.deliver_for(WARM)?;
        let side = self.watched(|| {
            let (own, of_node) = (cpu(std::process::id())?, cpu(node.pid())?);
            let begin = Instant::now();
            let mut times: Vec<_> = crowd.deliver_for(self.plan.time)?.iter().map(|one| one.took).collect();
            let seconds = begin.elapsed().as_secs_f64();
            ensure!(!times.is_empty(), "nothing was delivered");
            let [p50, p99] = [0.5, 0.99].map(|share| percentile(&mut times, share).as_secs_f64() * 1e3);
            let node = (cpu(node.pid())? - of_node).as_secs_f64();
            let senders = (cpu(std::process::id())? - own).as_secs_f64();
            Ok(Done { count: times.len() as f64, seconds, p50, p99, node, senders })
        })?;
        node.stop()?;
        Ok(side)
    }

    fn bare(&self, rate: Option<f64>) -> Result<Side> {
        let mut command = Command::new(built()?.join("bare-stream"));
        command.args([&self.cluster.brokers.url(0), PREFIX, "--in-flight", &self.connections().to_string()]);
        command.args(["--seconds", &self.plan.time.as_secs_f64().to_string()]);
        command.args(["--mailboxes", &MAILBOXES.to_string()]);
        if let Some(rate) = rate {
            command.args(["--rate", &rate.to_string()]);
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot run bare-stream")?;
        let mut said = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let mut text = String::new();
        said.read_line(&mut text)?;
        ensure!(text.trim() == "ready", "bare-stream did not get ready");
        let side = self.watched(|| {
            child.stdin.take().expect("stdin is a pipe").write_all(b"go\n")?;
            text.clear();
            said.read_to_string(&mut text)?;
            let figures: Value = serde_json::from_str(&text).context("bare-stream told something else than JSON")?;
            let number = |name: &str| figures[name].as_f64().with_context(|| format!("bare-stream told no {name}"));
            let [count, seconds] = [number("messages")?, number("seconds")?];
            let senders = number("cpu_seconds")?;
            Ok(Done { count, seconds, p50: number("p50_ms")?, p99: number("p99_ms")?, node: 0.0, senders })
        });
        // It has said all it had to say, or broke off.
        child.wait()?;
        side
    }

    /// Run a side, and see what the brokers do for it.
    fn watched(&self, side: impl FnOnce() -> Result<Done>) -> Result<Side> {
        let streams = || -> Result<[Stream; 2]> { Ok([self.cluster.stream("body-0")?, self.cluster.stream("sum-0")?]) };
        let (stored, rested, begin) = (streams()?, idle()?, Instant::now());
        let used = self.cluster.cpu();
        let Done { count, seconds, p50, p99, node, senders } = side()?;
        let (now, time) = (idle()?, begin.elapsed().as_secs_f64());
        let idle = [0, 1].map(|place| (now[place].saturating_sub(rested[place])).as_secs_f64() / time);
        sleep(REST);
        let brokers = (self.cluster.cpu() - used).as_secs_f64();
        let after = streams()?;
        let stored = [0, 1].map(|place| {
            let (before, after): (Stream, Stream) = (stored[place], after[place]);
            let messages = after.messages as f64 - before.messages as f64;
            Share { messages: messages / count, bytes: (after.bytes as f64 - before.bytes as f64) / messages }
        });
        Ok(Side { count, seconds, p50, p99, brokers, node, senders, idle, stored })
    }
}
