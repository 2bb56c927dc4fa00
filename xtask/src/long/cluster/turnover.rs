//! Room and memory while mail comes and goes: messages of mixed sizes at a steady rate, each kept for a minute, and a client
//! that lists, deletes and purges, for three times as long as anything is kept. From then on brokers and node must not
//! grow: the last third is held against the one before.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::Value;

use super::Measure;
use crate::bench::Report;
use crate::load::chance::Chance;
use crate::load::cluster::{BROKERS, Cluster};
use crate::load::crowd::{Crowd, mailbox};
use crate::load::figures::{Goal, megabytes};
use crate::load::http::Connection;
use crate::load::letters::{Kind, letter};
use crate::load::process::memory;
use crate::load::server::Server;

/// How long a message lives.
const LIFE: Duration = Duration::from_secs(60);
/// A body lies longer than what points to it (crates/store-jetstream/src/streams.rs).
const BODY_LIFE: Duration = Duration::from_secs(660);
const SENDERS: usize = 20;
/// Each of them; together 200 messages a second.
const EVERY: Duration = Duration::from_millis(100);
const MAILBOXES: usize = 2_000;
const BYTES: (f64, f64) = (500.0, 50_000.0);
const LOOK_EVERY: Duration = Duration::from_secs(5);
const REST_EVERY: Duration = Duration::from_millis(20);
const FLAT: Goal = Goal::AtMost(1.1);
const COLUMNS: &[&str] = &["mean", "second third", "last third", "ratio", "goal"];

/// A look at what is used, in bytes.
struct Look {
    at: Duration,
    /// By all brokers.
    disk: u64,
    memory: u64,
    node: u64,
}

type Figure = (&'static str, fn(&Look) -> u64);
const FIGURES: [Figure; 3] = [
    ("disk of all brokers", |look| look.disk),
    ("memory of all brokers", |look| look.memory),
    ("memory of the node", |look| look.node),
];

pub(super) fn run(measure: &Measure<'_>) -> Result<()> {
    let mut report = Report::within("docs/scale.md", "long cluster turnover", COLUMNS);
    let time = measure.scaled_time(BODY_LIFE * 3, Duration::from_secs(30));
    let cluster = Cluster::start(measure.binary, &[])?;
    let node = cluster.node(&[&format!("mailbox.retention={}s", LIFE.as_secs())])?;
    let mut chance = Chance::new(&[5]);
    let sizes = (0..300).map(|_| chance.spread(BYTES.0, BYTES.1) as usize);
    let letters: Vec<_> = sizes.map(|size| letter(Kind::Noise, size, &mut Chance::new(&[size as u64]))).collect();
    let looks = load(&cluster, &node, &letters, time, &mut report)?;
    node.stop()?;
    for looks in looks.chunks(looks.len().div_ceil(40)) {
        let look = &looks[looks.len() - 1];
        let figures = FIGURES.map(|(name, figure)| format!("{name} {}", megabytes(figure(look))));
        report.raw(format!("after {:.0} s: {}", look.at.as_secs_f64(), figures.join(", ")));
    }
    for (name, figure) in FIGURES {
        let third = |number: u32| mean(&looks, figure, time / 3 * number, time / 3 * (number + 1));
        let (second, last) = (third(1), third(2));
        let (ratio, cells) = (last / second, [second, last].map(|bytes| megabytes(bytes as u64)));
        report.row([vec![name.into()], cells.to_vec(), vec![format!("{ratio:.2}"), FLAT.judged(ratio)]].concat());
    }
    measure.done(&report)
}

/// Send, and use REST, for so long; looks meanwhile.
fn load(
    cluster: &Cluster,
    node: &Server,
    letters: &[Vec<u8>],
    time: Duration,
    report: &mut Report,
) -> Result<Vec<Look>> {
    let (smtp, over, begin) = (node.address("smtp")?, AtomicBool::new(false), Instant::now());
    let crowd = Crowd { smtp, clients: SENDERS, letters, mailboxes: 0..MAILBOXES, every: Some(EVERY), seed: 1 };
    let look = || -> Result<Look> {
        let brokers = 0..BROKERS;
        Ok(Look {
            at: begin.elapsed(),
            disk: brokers.clone().map(|broker| cluster.disk(broker)).sum(),
            memory: brokers.map(|broker| cluster.brokers.rss(broker)).sum(),
            node: memory(node.pid())?.now,
        })
    };
    scope(|threads| {
        let senders = threads.spawn(|| crowd.deliver_for(time));
        let reader = threads.spawn(|| rest(node, &over));
        let mut looks = Vec::new();
        while !senders.is_finished() {
            sleep(LOOK_EVERY.min(time / 30));
            looks.push(look()?);
        }
        over.store(true, Ordering::Relaxed);
        let delivered = senders.join().expect("a client does not panic")?;
        let asked = reader.join().expect("a client does not panic")?;
        let bytes: usize = delivered.iter().map(|message| message.bytes).sum();
        report.raw(format!(
            "{} messages, {} in all, and {asked} lists, deletes and purges in {time:.0?}",
            delivered.len(),
            megabytes(bytes as u64)
        ));
        Ok(looks)
    })
}

/// List mailboxes drawn by chance, and now and then delete a message or purge; how many requests that were.
fn rest(node: &Server, over: &AtomicBool) -> Result<usize> {
    let mut connection = Connection::open(node.address("http")?)?;
    let (mut chance, mut asked) = (Chance::new(&[6]), 0);
    let mut ask = |method: &str, path: &str, allowed: &[u16]| -> Result<Vec<u8>> {
        asked += 1;
        connection.send(method, &format!("/api/v1/mailbox/{path}"))?;
        let (status, body) = connection.receive()?;
        ensure!(allowed.contains(&status), "{method} {path} was answered with {status}");
        Ok(body)
    };
    while !over.load(Ordering::Relaxed) {
        let name = mailbox(chance.below(MAILBOXES));
        let list: Vec<Value> = serde_json::from_slice(&ask("GET", &name, &[200])?)?;
        if chance.percent(5) {
            ask("DELETE", &name, &[200])?;
        } else if let Some(id) = list.first().and_then(|message| message["id"].as_str())
            && chance.percent(50)
        {
            // It may have lapsed since.
            ask("DELETE", &format!("{name}/{id}"), &[200, 404])?;
        }
        sleep(REST_EVERY);
    }
    Ok(asked)
}

/// Of the looks between two times.
fn mean(looks: &[Look], figure: fn(&Look) -> u64, from: Duration, to: Duration) -> f64 {
    let within: Vec<_> = looks.iter().filter(|look| (from..to).contains(&look.at)).map(figure).collect();
    within.iter().sum::<u64>() as f64 / within.len().max(1) as f64
}
