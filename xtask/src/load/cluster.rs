//! Brokers and nodes for a measurement: three nats-servers that sync always, any number of postkeep over them, and what
//! the brokers use. What is in a stream is asked at the brokers' monitoring port; this program knows the names of
//! streams, not what lies in them.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};

use super::server::{Server, Starting, serve};

/// How many brokers there are; a stream has a copy on each.
pub(crate) const BROKERS: usize = 3;
/// What the streams and subjects of every store here begin with.
pub(crate) const PREFIX: &str = "postkeep";

/// Three brokers; killed when dropped, and what they kept is gone then.
pub(crate) struct Cluster {
    pub(crate) brokers: brokers::Cluster,
    binary: PathBuf,
    nodes: AtomicUsize,
}

/// What a stream holds.
#[derive(Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

/// Whether there is a nats-server to start; if it shall be done without, that is said.
pub(crate) fn possible() -> Result<bool> {
    let found = brokers::nats_server()?.is_some();
    if !found {
        println!("POSTKEEP_NATS_SERVER is `none`: passed over");
    }
    Ok(found)
}

impl Cluster {
    /// Start the brokers; these words stand before the command of each.
    pub(crate) fn start(binary: &Path, under: &[&str]) -> Result<Self> {
        let words: Vec<_> = under.iter().map(|word| (*word).to_owned()).collect();
        let plan = brokers::Plan { under: vec![words; BROKERS], ..brokers::Plan::of(BROKERS) };
        let brokers = brokers::Cluster::start(plan)?;
        Ok(Self { brokers, binary: binary.to_owned(), nodes: AtomicUsize::new(0) })
    }

    /// A node that connects to any of the brokers.
    pub(crate) fn node(&self, settings: &[&str]) -> Result<Server> {
        self.node_at(&self.brokers.urls(), settings)
    }

    /// A node that connects to these brokers, with these settings besides.
    pub(crate) fn node_at(&self, urls: &[String], settings: &[&str]) -> Result<Server> {
        let urls = format!("store.jetstream.urls={}", urls.join(","));
        let prefix = format!("store.jetstream.prefix={PREFIX}");
        let mut command = Command::new(&self.binary);
        serve(&mut command, &[&["store.engine=jetstream", &urls, &prefix], settings].concat());
        let log = self.brokers.root().join(format!("node-{}.log", self.nodes.fetch_add(1, Ordering::Relaxed)));
        let said = || fs::read_to_string(&log).unwrap_or_default();
        let starting = Starting::new(command, File::create(&log)?)?;
        starting.ready().map_err(|error| error.context(said().trim().to_owned()))
    }

    /// CPU that all brokers used since they were started.
    pub(crate) fn cpu(&self) -> Duration {
        (0..BROKERS).map(|broker| self.brokers.cpu(broker)).sum()
    }

    /// Bytes on disk of one broker.
    pub(crate) fn disk(&self, broker: usize) -> u64 {
        used(&self.brokers.folder(broker).join("store"))
    }

    /// What a stream of the store holds, by the word of one broker: `sum-0`, `body-0`.
    pub(crate) fn stream(&self, name: &str) -> Result<Stream> {
        let (name, answer) = (format!("{PREFIX}-{name}"), self.brokers.ask(0, "/jsz?streams=true")?);
        let accounts = answer["account_details"].as_array().into_iter().flatten();
        let mut streams = accounts.flat_map(|account| account["stream_detail"].as_array().into_iter().flatten());
        let state = streams.find(|stream| stream["name"] == *name).map(|stream| &stream["state"]);
        let number = |field: &str| state.and_then(|state| state[field].as_u64());
        let (messages, bytes) =
            number("messages").zip(number("bytes")).with_context(|| format!("there is no {name}"))?;
        Ok(Stream { messages, bytes })
    }
}

/// Bytes that a folder and all below it take on disk. Files come and go meanwhile.
fn used(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => used(&entry.path()),
            Ok(data) => data.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}
