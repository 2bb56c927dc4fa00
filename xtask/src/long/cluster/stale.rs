//! Read your writes through any node: mail sent to one node, or deleted or purged there, and looked for on another at once,
//! by several clients at the same time. Not one look may show the mailbox as it was before.

use std::thread::scope;

use anyhow::Result;

use super::change::{Change, Changer, Seen};
use super::{Measure, Spread};
use crate::bench::Report;
use crate::load::cluster::Cluster;
use crate::load::figures::{Goal, grouped};

const NODES: usize = 3;
const CLIENTS: usize = 8;

const WORKS: [(&str, Change, usize); 6] = [
    ("send, then list", Change::SendThenList, 10_000),
    ("send, then read the latest", Change::SendThenLatest, 1_000),
    ("send, then read by its id", Change::SendThenRead, 1_000),
    ("delete, then list", Change::DeleteThenList, 1_000),
    ("delete, then read by its id", Change::DeleteThenRead, 1_000),
    ("purge, then list", Change::PurgeThenList, 1_000),
];
const COLUMNS: &[&str] = &["on one node, then on another", "times", "stale", "goal", "the look took, p50 / p99"];

pub(super) fn run(measure: &Measure<'_>) -> Result<()> {
    let mut report = Report::within("docs/scale.md", "long cluster stale", COLUMNS);
    let cluster = Cluster::start(measure.binary, &[])?;
    let nodes = (0..NODES).map(|_| cluster.node(&[])).collect::<Result<Vec<_>>>()?;
    let mut clients = (0..CLIENTS).map(|number| Changer::new(number, &nodes)).collect::<Result<Vec<_>>>()?;
    for (name, change, count) in WORKS {
        let seen = all(&mut clients, change, measure.scaled(count).div_ceil(CLIENTS))?;
        let times: Vec<_> = seen.iter().map(|seen| seen.took).collect();
        let stale: Vec<_> = seen.iter().filter_map(|seen| seen.stale).collect();
        let longest = stale.iter().max().map(|longest| format!(", the longest for {longest:.1?}")).unwrap_or_default();
        report.raw(format!("{name}: {} of {} stale{longest}; {CLIENTS} clients at once", stale.len(), seen.len()));
        report.row(vec![
            name.into(),
            grouped(seen.len() as f64),
            stale.len().to_string(),
            Goal::AtMost(0.0).judged(stale.len() as f64),
            Spread::of(times).text(),
        ]);
    }
    drop(clients);
    for node in nodes {
        node.stop()?;
    }
    measure.done(&report)
}

/// So many changes by each client, all of them at once.
fn all(clients: &mut [Changer], change: Change, each: usize) -> Result<Vec<Seen>> {
    scope(|threads| {
        let work = |client: &mut Changer| (0..each).map(|_| client.change(change)).collect::<Result<Vec<_>>>();
        let running: Vec<_> = clients.iter_mut().map(|client| threads.spawn(move || work(client))).collect();
        let seen = running.into_iter().map(|client| client.join().expect("a client does not panic"));
        Ok(seen.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    })
}
