//! The cluster itself: brokers, and nodes over them. It does not know who asks for it or why it ends.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use brokers::{Cluster, Plan, tethered};

use super::table::table;
use crate::args::Args;
use crate::load::http::get;
use crate::load::server::{Server, Starting, binary, serve};

/// A broker that comes back reads what it has and catches up, while an election may be on.
const HEALTHY_WITHIN: Duration = Duration::from_secs(50);

/// What to start.
pub(super) struct Options {
    /// Where data and logs lie; `None`: somewhere temporary.
    pub(super) folder: Option<PathBuf>,
    servers: usize,
    nodes: usize,
    settings: Vec<String>,
    binary: Option<PathBuf>,
    /// The first port of the nodes; free ones when left out.
    port_base: Option<u16>,
}

impl Options {
    pub(super) fn new(args: &mut Args, folder: Option<PathBuf>, nodes: usize) -> Result<Self> {
        let mut settings = Vec::new();
        while let Some(setting) = args.value("--set")? {
            settings.push(setting);
        }
        let servers = args.value("--servers")?.unwrap_or(3);
        let nodes = args.value("--nodes")?.unwrap_or(nodes);
        Ok(Self {
            folder,
            servers,
            nodes,
            settings,
            binary: args.value("--bin")?,
            port_base: args.value("--port-base")?,
        })
    }

    /// What node `number` is told besides the brokers' addresses. With too few servers there are no copies.
    pub(super) fn of_node(&self, number: u16) -> Result<Vec<String>> {
        let mut settings = Vec::new();
        if self.servers < 3 {
            settings.push("store.jetstream.replicas=1".to_owned());
        }
        if let Some(base) = self.port_base {
            let port = |step| base.checked_add(2 * number + step).context("--port-base is too high");
            settings.push(format!("smtp.addr=127.0.0.1:{}", port(0)?));
            settings.push(format!("http.addr=127.0.0.1:{}", port(1)?));
        }
        settings.extend(self.settings.iter().cloned());
        Ok(settings)
    }
}

/// Brokers and nodes; all killed when dropped.
pub(super) struct Site {
    // Nodes first: that is the order in which they go.
    nodes: Vec<Server>,
    pub(super) brokers: Cluster,
}

impl Site {
    /// Start the brokers, and then one node after the other: the first makes the streams.
    pub(super) fn start(options: &Options) -> Result<Self> {
        ensure!(options.nodes < 1000, "a thousand nodes are too many for one machine");
        let program = (options.nodes > 0).then(|| binary(options.binary.clone())).transpose()?;
        let plan = Plan { folder: options.folder.clone(), ..Plan::of(options.servers) };
        let mut site = Self { nodes: Vec::new(), brokers: Cluster::start(plan)? };
        for number in 0..options.nodes {
            let program = program.as_ref().expect("it is there when there are nodes");
            let node = site.node(program, number, &options.of_node(number as u16)?)?;
            site.nodes.push(node);
        }
        Ok(site)
    }

    fn node(&self, program: &Path, number: usize, settings: &[String]) -> Result<Server> {
        let urls = format!("store.jetstream.urls={}", self.brokers.urls().join(","));
        let own = ["store.engine=jetstream", &urls];
        let settings: Vec<_> = own.into_iter().chain(settings.iter().map(String::as_str)).collect();
        let mut command = tethered(program);
        serve(&mut command, &settings);
        let log = self.folder().join(format!("{}.log", name(number)));
        let said = || fs::read_to_string(&log).unwrap_or_default();
        let ready = Starting::new(command, File::create(&log)?)?.ready();
        ready.with_context(|| format!("{} did not start; it said:\n{}", name(number), said().trim()))
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.brokers.root()
    }

    /// Where each node takes mail, and where it hands it out.
    pub(super) fn nodes(&self) -> Result<Vec<(SocketAddr, SocketAddr)>> {
        self.nodes.iter().map(|node| Ok((node.address("smtp")?, node.address("http")?))).collect()
    }

    /// A table of who is where.
    pub(super) fn addresses(&self) -> Result<String> {
        let broker =
            |n: usize| [self.brokers.name(n), self.brokers.url(n), format!("http://{}", self.brokers.monitor(n))];
        let brokers: Vec<_> = (0..self.brokers.len()).map(broker).collect();
        let nodes = self.nodes()?.into_iter().enumerate();
        let nodes: Vec<_> =
            nodes.map(|(number, (smtp, http))| [name(number), smtp.to_string(), format!("http://{http}")]).collect();
        Ok(table(["broker", "nodes connect to", "monitoring"], &brokers) + &table(["node", "SMTP", "HTTP"], &nodes))
    }

    /// A table of how everybody is.
    pub(super) fn status(&self) -> Result<String> {
        let streams = self.brokers.streams();
        let broker = |n: usize| {
            let leads: Vec<_> =
                streams.iter().filter(|(_, leader)| **leader == n).map(|(name, _)| name.as_str()).collect();
            [self.brokers.name(n), self.health(n).to_owned(), leads.join(" ")]
        };
        let brokers: Vec<_> = (0..self.brokers.len()).map(broker).collect();
        let node = |(number, (_, http)): (usize, (SocketAddr, SocketAddr))| {
            let ready = get(http, "/readyz").map_or_else(|error| format!("no: {error:#}"), |_| "yes".to_owned());
            [name(number), ready]
        };
        let nodes: Vec<_> = self.nodes()?.into_iter().enumerate().map(node).collect();
        Ok(table(["broker", "health", "leads"], &brokers) + &table(["node", "ready"], &nodes))
    }

    fn health(&self, broker: usize) -> &'static str {
        match self.brokers.pid(broker) {
            None => "down",
            Some(_) if self.brokers.is_healthy(broker) => "healthy",
            Some(_) => "not well",
        }
    }

    /// Bring back every broker that is down, and wait until all are healthy.
    pub(super) fn back(&mut self) -> Result<Vec<String>> {
        let down: Vec<_> = (0..self.brokers.len()).filter(|&n| self.brokers.pid(n).is_none()).collect();
        for &broker in &down {
            self.brokers.start_again(broker)?;
        }
        self.brokers.wait_healthy(HEALTHY_WITHIN)?;
        Ok(down.into_iter().map(|broker| self.brokers.name(broker)).collect())
    }

    /// Stop the nodes, and the brokers when no node needs them any more. Whoever cannot be stopped politely is killed.
    pub(super) fn stop(mut self) -> Result<()> {
        let mut outcomes: Vec<_> = self.nodes.drain(..).map(Server::stop).collect();
        for broker in 0..self.brokers.len() {
            if self.brokers.pid(broker).is_some() {
                outcomes.push(self.brokers.stop(broker));
            }
        }
        outcomes.into_iter().collect()
    }
}

fn name(node: usize) -> String {
    format!("node{}", node + 1)
}

/// Remove what a cluster left in its folder, and nothing else that may be there.
pub(super) fn wipe(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.join("nats-server.conf").is_file() {
            fs::remove_dir_all(&path)?;
        } else if is_log(&path) {
            fs::remove_file(&path)?;
        }
    }
    // Something of somebody else's may be in it.
    let _ = fs::remove_dir(folder);
    println!("{} is empty of mail", folder.display());
    Ok(())
}

fn is_log(path: &Path) -> bool {
    let number = path.file_name().and_then(|name| name.to_str()?.strip_prefix("node")?.strip_suffix(".log"));
    number.is_some_and(|number| number.parse::<u16>().is_ok())
}
