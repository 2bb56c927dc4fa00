//! Whether the engine gets slower as it fills: the same two million messages in a thousand, a hundred thousand and a
//! million mailboxes, and what append, list, read and delete take in each. The three stores are filled first and then
//! measured in turns, so that a bad minute of the machine falls on all of them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::Value;

use super::{Measure, Spread};
use crate::bench::Report;
use crate::load::chance::Chance;
use crate::load::crowd::{Crowd, fill, mailbox};
use crate::load::figures::{Goal, megabytes};
use crate::load::folder::{Folder, settle};
use crate::load::http::Connection;
use crate::load::letters::{Kind, letters};
use crate::load::server::Server;

const MAILBOXES: [usize; 3] = [1_000, 100_000, 1_000_000];
const MESSAGES: usize = 2_000_000;
const MESSAGE_BYTES: usize = 1_000;
/// The first mailboxes of each store hold a hundred messages each, the others what is left.
const HUNDREDS: usize = 200;
const ROUNDS: usize = 5;
const SAMPLES: usize = 1_000;
const SENDERS: usize = 50;
const SETTINGS: [&str; 2] = ["mailbox.messages_max=0", "mailbox.retention=0"];

const WORKS: [&str; 5] = [
    "append, one client",
    "append, 50 clients",
    "list of a mailbox with 100 messages",
    "read of a message",
    "delete of a message",
];
const COLUMNS: &[&str] = &[
    "p50 / p99",
    "1,000 mailboxes",
    "100,000 mailboxes",
    "1,000,000 mailboxes",
    "p50, last to first",
    "goal",
    "p99, last to first",
    "goal",
];

/// A message that is there: its mailbox and its id.
type Known = (usize, String);

pub(super) fn run(measure: &Measure<'_>) -> Result<()> {
    let mut report = Report::new("long growth", COLUMNS);
    let letters = letters(Kind::Words, MESSAGE_BYTES, 64);
    let mut stores = Vec::new();
    for mailboxes in MAILBOXES {
        let store = Store::filled(measure, measure.scaled(mailboxes), &letters)?;
        report.raw(format!("{mailboxes} mailboxes: {} on disk", megabytes(store.folder.used()?)));
        stores.push(store);
    }
    settle()?;
    for round in 0..=ROUNDS {
        // Who goes first changes.
        for place in 0..stores.len() {
            let store = &mut stores[(place + round) % MAILBOXES.len()];
            let times = store.round(round as u64, &letters)?;
            // The first round warms.
            if round > 0 {
                let spreads = times.each_ref().map(|times| Spread::of(times.clone()).text());
                report.raw(format!("round {round}, {} mailboxes: {}", store.mailboxes, spreads.join(", ")));
                store.times.iter_mut().zip(times).for_each(|(all, times)| all.extend(times));
            }
        }
    }
    for (work, name) in WORKS.iter().enumerate() {
        let spreads: Vec<_> = stores.iter().map(|store| Spread::of(store.times[work].clone())).collect();
        let [first, last] = [spreads[0], spreads[spreads.len() - 1]];
        let (p50, p99) = (last.p50 / first.p50, last.p99 / first.p99);
        report.raw(format!("{name}: {} samples in each store", stores[0].times[work].len()));
        let mut cells = vec![(*name).to_owned()];
        cells.extend(spreads.iter().map(|spread| spread.text()));
        cells.extend([format!("{p50:.2}"), Goal::AtMost(1.5).judged(p50)]);
        cells.extend([format!("{p99:.2}"), Goal::AtMost(3.0).judged(p99)]);
        report.row(cells);
    }
    for store in stores {
        store.server.stop()?;
    }
    measure.done(&report)
}

/// One column of the table.
struct Store {
    folder: Folder,
    server: Server,
    hundreds: usize,
    mailboxes: usize,
    /// What is in a mailbox, as far as it was asked for and not used yet.
    known: HashMap<usize, Vec<String>>,
    /// For each work.
    times: [Vec<Duration>; WORKS.len()],
}

impl Store {
    fn filled(measure: &Measure<'_>, mailboxes: usize, letters: &[Vec<u8>]) -> Result<Self> {
        let folder = Folder::new(&format!("growth-{mailboxes}"))?;
        let server = folder.serve(measure.binary, &SETTINGS)?;
        let hundreds = measure.scaled(HUNDREDS).min(mailboxes / 2);
        let plan = targets(measure.scaled(MESSAGES), mailboxes, hundreds);
        fill(server.address("smtp")?, &plan, letters)?;
        Ok(Self { folder, server, hundreds, mailboxes, known: HashMap::new(), times: Default::default() })
    }

    /// Every work for a while: the times, in the order of [`WORKS`].
    fn round(&mut self, round: u64, letters: &[Vec<u8>]) -> Result<[Vec<Duration>; WORKS.len()]> {
        let (smtp, http) = (self.server.address("smtp")?, self.server.address("http")?);
        let mut chance = Chance::new(&[round, self.mailboxes as u64]);
        let append = |clients: usize| -> Result<Vec<Duration>> {
            let mailboxes = self.hundreds..self.mailboxes;
            let crowd = Crowd { smtp, clients, letters, mailboxes, every: None, seed: round * 100 + clients as u64 };
            let count = (2 * SAMPLES / clients).min(SAMPLES);
            Ok(crowd.deliver_each(count)?.iter().map(|delivered| delivered.took).collect())
        };
        let (one, many) = (append(1)?, append(SENDERS)?);
        let lists = (0..SAMPLES).map(|_| mailbox(chance.below(self.hundreds))).collect::<Vec<_>>();
        let lists = timed(http, "GET", lists.iter().map(|name| format!("/api/v1/mailbox/{name}")), |body| {
            let list: Vec<Value> = serde_json::from_slice(body)?;
            ensure!(list.len() == 100, "a mailbox holds {} messages instead of 100", list.len());
            Ok(())
        })?;
        let drawn = self.draw(http, &mut chance)?;
        let paths = || drawn.iter().map(|(number, id)| format!("/api/v1/mailbox/{}/{id}", mailbox(*number)));
        let reads = timed(http, "GET", paths(), |_| Ok(()))?;
        let deletes = timed(http, "DELETE", paths(), |_| Ok(()))?;
        Ok([one, many, lists, reads, deletes])
    }

    /// Messages of mailboxes drawn by chance, none of them twice.
    fn draw(&mut self, http: SocketAddr, chance: &mut Chance) -> Result<Vec<Known>> {
        let mut connection = Connection::open(http)?;
        let mut drawn = Vec::with_capacity(SAMPLES);
        // Some mailboxes were drawn empty before, but never most of them.
        for _ in 0..10 * SAMPLES {
            if drawn.len() == SAMPLES {
                break;
            }
            let number = self.hundreds + chance.below(self.mailboxes - self.hundreds);
            let ids = match self.known.entry(number) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(ids(&mut connection, number)?),
            };
            if !ids.is_empty() {
                let id = ids.swap_remove(chance.below(ids.len()));
                drawn.push((number, id));
            }
        }
        ensure!(drawn.len() == SAMPLES, "there are not enough messages: take a larger --scale");
        Ok(drawn)
    }
}

/// The ids in a mailbox.
fn ids(connection: &mut Connection, number: usize) -> Result<Vec<String>> {
    connection.send("GET", &format!("/api/v1/mailbox/{}", mailbox(number)))?;
    let (status, body) = connection.receive()?;
    ensure!(status == 200, "a list was answered with {status}");
    let list: Vec<Value> = serde_json::from_slice(&body)?;
    Ok(list.iter().filter_map(|message| message["id"].as_str().map(str::to_owned)).collect())
}

/// One request after the other over one connection: how long each took. Looking at the answer is not counted.
fn timed(
    http: SocketAddr,
    method: &str,
    paths: impl Iterator<Item = String>,
    look: impl Fn(&[u8]) -> Result<()>,
) -> Result<Vec<Duration>> {
    let mut connection = Connection::open(http)?;
    let mut times = Vec::new();
    for path in paths {
        let begin = Instant::now();
        connection.send(method, &path)?;
        let (status, body) = connection.receive()?;
        times.push(begin.elapsed());
        ensure!(status == 200, "{method} {path} was answered with {status}");
        look(&body)?;
    }
    Ok(times)
}

/// Which mailbox each message goes to: a hundred to each of the first ones, the others evenly to the rest, all mixed.
fn targets(messages: usize, mailboxes: usize, hundreds: usize) -> Vec<u32> {
    let first = (0..hundreds * 100).map(|message| (message % hundreds) as u32);
    let others = messages.saturating_sub(hundreds * 100);
    let rest = (0..others).map(|message| (hundreds + message % (mailboxes - hundreds)) as u32);
    let mut plan: Vec<u32> = first.chain(rest).collect();
    let mut chance = Chance::new(&[messages as u64, mailboxes as u64]);
    for last in (1..plan.len()).rev() {
        plan.swap(last, chance.below(last + 1));
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mailboxes_get_a_hundred_and_all_get_something() {
        let plan = targets(20_000, 1_000, 50);
        assert_eq!(plan.len(), 20_000);
        let count = |number: u32| plan.iter().filter(|target| **target == number).count();
        assert!((0..50).all(|number| count(number) == 100));
        assert!((50..1_000).all(|number| [15, 16].contains(&count(number))));
        assert!(plan[..1_000].iter().any(|target| *target >= 50) && plan[..1_000].iter().any(|target| *target < 50));
    }
}
