//! A cluster under trial: real brokers, and nodes that share one prefix on them. Each can be ended and brought back; what
//! happens to them, and why, is somebody else's business.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use brokers::{Cluster, Plan};
use rustix::process::{Pid, Signal};

use crate::load::server::Server;
use crate::shell::which;

use super::checker::{Kind, Violation};
use super::doors::{Door, Doors};
use super::launch::Launch;
use super::letter::Author;
use super::operator::Operator;
use super::watch::is_ready;

/// A node that was asked to end must have done so.
const END_MAX: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(50);

/// What a cluster is made of.
#[derive(Clone)]
pub(crate) struct Layout {
    pub(crate) binary: PathBuf,
    /// Of the user, for every node.
    pub(crate) settings: Vec<String>,
    pub(crate) nodes: usize,
    pub(crate) servers: usize,
    pub(crate) shards: usize,
    pub(crate) body_shards: usize,
}

/// Where it stands.
pub(crate) struct Ground {
    pub(crate) brokers: Plan,
    /// One for each node.
    pub(crate) spots: Vec<Spot>,
    /// The address that clients come from.
    pub(crate) clients: Ipv4Addr,
    /// Where nodes are told that the brokers are, when that is not where they are.
    pub(crate) detour: Vec<SocketAddr>,
}

/// Where one node runs.
#[derive(Clone)]
pub(crate) struct Spot {
    /// Words before its command.
    pub(crate) under: Vec<String>,
    pub(crate) host: Ipv4Addr,
}

impl Ground {
    /// All on loopback, with what the brokers keep below this folder.
    pub(crate) fn loopback(layout: &Layout, folder: &Path) -> Self {
        let brokers = Plan { folder: Some(folder.join("brokers")), ..Plan::of(layout.servers) };
        let spot = Spot { under: Vec::new(), host: Ipv4Addr::LOCALHOST };
        Self { brokers, spots: vec![spot; layout.nodes], clients: Ipv4Addr::LOCALHOST, detour: Vec::new() }
    }
}

/// A running cluster; everything ends when it is dropped.
pub(crate) struct Fleet {
    // Before the brokers, so that they end first.
    nodes: Vec<Node>,
    pub(crate) brokers: Cluster,
    pub(crate) layout: Layout,
    pub(crate) prefix: String,
    pub(crate) doors: Arc<Doors>,
    author: Author,
    starts: Vec<Duration>,
}

struct Node {
    launch: Launch,
    server: Option<Server>,
}

impl Fleet {
    /// Nodes over brokers that run already.
    pub(crate) fn start(
        layout: Layout,
        ground: &Ground,
        brokers: Cluster,
        (folder, doors, author): (&Path, Arc<Doors>, Author),
    ) -> Result<Self> {
        let prefix = brokers.prefix();
        let urls = detoured(&brokers.urls(), &ground.detour)?;
        let waived = ground.brokers.sync == brokers::Sync::Default;
        let node = |(number, spot): (usize, &Spot)| {
            let Layout { servers, shards, body_shards, .. } = layout;
            let store = vec![
                format!("smtp.addr={}:0", spot.host),
                format!("http.addr={}:0", spot.host),
                "store.engine=jetstream".into(),
                format!("store.jetstream.urls={}", urls.join(",")),
                format!("store.jetstream.prefix={prefix}"),
                format!("store.jetstream.replicas={}", if servers < 3 { 1 } else { 3 }),
                format!("store.jetstream.shards={shards}"),
                format!("store.jetstream.body_shards={body_shards}"),
                format!("store.jetstream.sync_waived={waived}"),
            ];
            let log = folder.join(format!("node-{}.log", number + 1));
            let (binary, settings) = (layout.binary.clone(), layout.settings.clone());
            let under = [spot.under.clone(), ending_with_us()].concat();
            Node { launch: Launch { binary, store, settings, under, log }, server: None }
        };
        let nodes = ground.spots.iter().enumerate().map(node).collect();
        let mut fleet = Self { nodes, brokers, layout, prefix, doors, author, starts: Vec::new() };
        for number in 0..fleet.nodes.len() {
            fleet.start_node(number)?;
        }
        fleet.starts.clear();
        Ok(fleet)
    }

    /// How many nodes there are, running or not.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The process of a node that runs.
    pub(crate) fn node(&self, number: usize) -> Option<Pid> {
        let server = self.nodes[number].server.as_ref()?;
        Pid::from_raw(server.pid() as i32)
    }

    /// The process of a broker that runs.
    pub(crate) fn broker(&self, number: usize) -> Option<Pid> {
        Pid::from_raw(self.brokers.pid(number)? as i32)
    }

    /// Start a node and wait until it is ready.
    pub(crate) fn start_node(&mut self, number: usize) -> Result<()> {
        let node = &mut self.nodes[number];
        ensure!(node.server.is_none(), "node {} runs already", number + 1);
        let server = node.launch.start(self.author, None).with_context(|| format!("node {}", number + 1))?;
        self.starts.push(server.ready_after);
        self.doors.open(Door::of(&server, number, self.author.from)?);
        node.server = Some(server);
        Ok(())
    }

    /// Begin to start a node and kill it after this time.
    pub(crate) fn kill_starting(&self, number: usize, after: Duration) -> Result<()> {
        let starting = self.nodes[number].launch.begin(self.author, None)?;
        sleep(after);
        drop(starting);
        Ok(())
    }

    /// End a node by this signal, if it runs, and wait for its end.
    pub(crate) fn end_node(&mut self, number: usize, signal: Signal) -> Result<Option<ExitStatus>> {
        self.doors.close(number);
        let Some(mut server) = self.nodes[number].server.take() else { return Ok(None) };
        server.signal(signal)?;
        let begin = Instant::now();
        while begin.elapsed() < END_MAX {
            if let Some(status) = server.ended()? {
                return Ok(Some(status));
            }
            sleep(Duration::from_millis(5));
        }
        bail!("node {} did not end within {END_MAX:?} of {signal:?}", number + 1)
    }

    /// Bring back whatever is down, brokers first.
    pub(crate) fn bring_back(&mut self) -> Result<()> {
        for broker in 0..self.brokers.len() {
            if self.brokers.pid(broker).is_none() {
                self.brokers.start_again(broker)?;
            }
        }
        for node in 0..self.nodes.len() {
            if self.nodes[node].server.is_none() {
                self.start_node(node)?;
            }
        }
        Ok(())
    }

    /// Nodes that ended and were not asked to.
    pub(crate) fn ended(&mut self) -> Result<Vec<Violation>> {
        let mut found = Vec::new();
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let Some(server) = &mut node.server else { continue };
            if let Some(status) = server.ended()? {
                let words = node.launch.last_words();
                let what = format!("node {} ended by itself, with {status}; it said: {words}", number + 1);
                found.push(Violation::new(Kind::Server, what));
                node.server = None;
                self.doors.close(number);
            }
        }
        Ok(found)
    }

    /// Wait until every broker is healthy and every node says that it is ready.
    pub(crate) fn wait_well(&self, within: Duration) -> Result<()> {
        let begin = Instant::now();
        self.brokers.wait_healthy(within)?;
        for door in self.doors.opened() {
            while !is_ready(door.http) {
                if begin.elapsed() > within {
                    bail!("node {} is not ready {within:?} after all brokers were back", door.number + 1);
                }
                sleep(STEP);
            }
        }
        Ok(())
    }

    /// Wait until no delivery is half done.
    pub(crate) fn wait_settled(&self, within: Duration) -> Result<()> {
        let operator = self.operator();
        let begin = Instant::now();
        loop {
            let pending = operator.pending(&self.prefix, self.layout.body_shards);
            if matches!(pending, Ok(0)) {
                return Ok(());
            }
            if begin.elapsed() > within {
                bail!("after {within:?} there are still deliveries that are half done: {pending:?}");
            }
            sleep(STEP);
        }
    }

    pub(crate) fn operator(&self) -> Operator {
        Operator::new(self.brokers.operator_urls())
    }

    /// How long the starts took since this was asked last.
    pub(crate) fn take_starts(&mut self) -> Vec<Duration> {
        std::mem::take(&mut self.starts)
    }

    /// The last lines of each node's log.
    pub(crate) fn logs(&self) -> Vec<PathBuf> {
        self.nodes.iter().map(|node| node.launch.log.clone()).collect()
    }
}

/// Words before a command, so that it ends with this process however that ends: a campaign takes long, and people grow
/// impatient. Where there is no `setpriv`, none.
fn ending_with_us() -> Vec<String> {
    let words = ["setpriv", "--pdeathsig", "KILL"].map(String::from);
    if which("setpriv").is_some() { words.into() } else { Vec::new() }
}

/// The same URLs with other addresses, where there are such.
fn detoured(urls: &[String], detour: &[SocketAddr]) -> Result<Vec<String>> {
    let url = |(place, url): (usize, &String)| match detour.get(place) {
        None => Ok(url.clone()),
        Some(address) => {
            let (login, _) = url.rsplit_once('@').context("a URL without a user")?;
            Ok(format!("{login}@{address}"))
        }
    };
    urls.iter().enumerate().map(url).collect()
}
