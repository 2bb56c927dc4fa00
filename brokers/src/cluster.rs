//! Several servers as one: started until they are well together, and each one's fate in the caller's hands.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;
use serde_json::Value;

use crate::folder::Folder;
use crate::monitor;
use crate::server::{OPERATOR, PREFIXES, Server, USER, prefix};
use crate::{Accounts, Plan, find, ports};

/// An election takes up to nine seconds, and the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(20);
/// How often to try other ports when somebody took one between finding and binding it.
const TRIES: usize = 5;
/// The unit of `/proc/<pid>/stat` on every Linux that matters here.
const TICKS_PER_SECOND: f64 = 100.0;

/// Running servers, numbered from 0; killed when dropped.
#[derive(Debug)]
pub struct Cluster {
    servers: Vec<Server>,
    accounts: Accounts,
    prefixes: AtomicUsize,
    // Behind the servers, so that it goes after them.
    folder: Folder,
}

impl Cluster {
    /// Start the servers of a plan, and wait until each is healthy and all agree on a leader.
    ///
    /// # Errors
    /// There is no nats-server (or `POSTKEEP_NATS_SERVER` is `none`: ask [`crate::nats_server`] first), or it does not
    /// come up; then with what it said.
    pub fn start(plan: Plan) -> Result<Self> {
        ensure!(plan.servers > 0, "a cluster has at least one server");
        let program = find::nats_server()?.context("POSTKEEP_NATS_SERVER is `none`, so no server can be started")?;
        let mut tries = 1;
        loop {
            match Self::once(&program, &plan) {
                Err(error) if tries < TRIES && format!("{error:#}").contains("address already in use") => tries += 1,
                outcome => return outcome,
            }
        }
    }

    fn once(program: &Path, plan: &Plan) -> Result<Self> {
        let folder = Folder::new(plan.folder.clone())?;
        let all = ports::free(&hosts(plan)?)?;
        let server = |number| Server::new(program, folder.path(), plan, &all, number);
        let servers = (0..plan.servers).map(server).collect::<Result<_>>()?;
        let mut cluster = Self { servers, accounts: plan.accounts, prefixes: AtomicUsize::new(0), folder };
        for server in &mut cluster.servers {
            server.start()?;
        }
        cluster.come_up()?;
        Ok(cluster)
    }

    fn come_up(&mut self) -> Result<()> {
        let begin = Instant::now();
        while !self.is_up() {
            for server in &mut self.servers {
                server.must_run()?;
            }
            if begin.elapsed() > PATIENCE {
                let said: Vec<_> =
                    self.servers.iter().map(|server| format!("{}:\n{}", server.name, server.said())).collect();
                bail!("the servers are not well together after {PATIENCE:?}; they said:\n{}", said.join("\n"));
            }
            sleep(STEP);
        }
        self.servers.iter_mut().try_for_each(Server::listens)
    }

    fn is_up(&self) -> bool {
        let led = |server: &Server| self.len() == 1 || monitor::meta_leader(server.ports.monitor, self.len()).is_some();
        self.servers.iter().all(|server| monitor::is_healthy(server.ports.monitor) && led(server))
    }

    /// How many servers there are, running or not.
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.servers.len()
    }

    /// Where nodes connect, one URL per server. With the shipped accounts, as the user that may do no more than nodes do.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        (0..self.len()).map(|server| self.url(server)).collect()
    }

    /// Where nodes connect to one server.
    #[must_use]
    pub fn url(&self, server: usize) -> String {
        self.url_of(USER, server)
    }

    /// The same for somebody who may do everything with the streams, such as deleting one.
    #[must_use]
    pub fn operator_urls(&self) -> Vec<String> {
        (0..self.len()).map(|server| self.url_of(OPERATOR, server)).collect()
    }

    fn url_of(&self, user: &str, server: usize) -> String {
        let address = self.servers[server].ports.client;
        match self.accounts {
            Accounts::Shipped => format!("nats://{user}:{user}@{address}"),
            Accounts::Open => format!("nats://{address}"),
        }
    }

    /// A prefix that this cluster's users may use and that was not handed out before, so that tests can share a cluster.
    ///
    /// # Panics
    /// After 256 of them.
    #[must_use]
    pub fn prefix(&self) -> String {
        let number = self.prefixes.fetch_add(1, Ordering::Relaxed);
        assert!(number < PREFIXES, "a cluster has {PREFIXES} prefixes; start another one");
        prefix(number)
    }

    /// What a server calls itself: n1, n2, n3.
    #[must_use]
    pub fn name(&self, server: usize) -> String {
        self.servers[server].name.clone()
    }

    /// The process of a server that runs.
    #[must_use]
    pub fn pid(&self, server: usize) -> Option<u32> {
        self.servers[server].pid()
    }

    /// Where a server has its configuration, its log `nats-server.log` and its data, `store`.
    #[must_use]
    pub fn folder(&self, server: usize) -> PathBuf {
        self.servers[server].folder.clone()
    }

    /// The folder that all of them lie in.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// End a server at once, as a crash would, and wait for its end.
    ///
    /// # Errors
    /// It does not run.
    pub fn kill(&mut self, server: usize) -> Result<()> {
        self.servers[server].end(Signal::KILL)
    }

    /// End a server politely and wait for its end.
    ///
    /// # Errors
    /// It does not run, or does not end.
    pub fn stop(&mut self, server: usize) -> Result<()> {
        self.servers[server].end(Signal::TERM)
    }

    /// Start a server that was ended, with what it had, and wait until it listens. Whether it is well by then is another
    /// question: [`Cluster::wait_healthy`].
    ///
    /// # Errors
    /// It runs already, or does not come up; then with what it said.
    pub fn start_again(&mut self, server: usize) -> Result<()> {
        self.servers[server].start()?;
        self.servers[server].listens()
    }

    /// Let a server stand still, connections open and nothing answered.
    ///
    /// # Errors
    /// It does not run.
    pub fn pause(&self, server: usize) -> Result<()> {
        self.servers[server].pause()
    }

    /// Let it go on.
    ///
    /// # Errors
    /// It does not run.
    pub fn resume(&self, server: usize) -> Result<()> {
        self.servers[server].signal(Signal::CONT)
    }

    /// Whether a server says that it is well: it serves, knows the cluster's leader, and is up to date with its streams.
    #[must_use]
    pub fn is_healthy(&self, server: usize) -> bool {
        monitor::is_healthy(self.monitor(server))
    }

    /// Wait until all servers that run are healthy.
    ///
    /// # Errors
    /// One is not; which, and what it said.
    pub fn wait_healthy(&self, within: Duration) -> Result<()> {
        let begin = Instant::now();
        for server in self.servers.iter().filter(|server| server.pid().is_some()) {
            while !monitor::is_healthy(server.ports.monitor) {
                if begin.elapsed() > within {
                    bail!("{} is not healthy within {within:?}; it said:\n{}", server.name, server.said());
                }
                sleep(STEP);
            }
        }
        Ok(())
    }

    /// Where a server answers over plain HTTP: `/varz`, `/jsz?streams=true`, `/healthz`.
    #[must_use]
    pub fn monitor(&self, server: usize) -> SocketAddr {
        self.servers[server].ports.monitor
    }

    /// What a server answers there.
    ///
    /// # Errors
    /// It does not answer, or not with 200.
    pub fn ask(&self, server: usize, path: &str) -> Result<Value> {
        let (status, answer) = monitor::ask(self.monitor(server), path)?;
        ensure!(status == 200, "{} answered {path} with {status}: {answer}", self.name(server));
        Ok(answer)
    }

    /// The streams of all accounts, each with the server that leads it by its own word. One without a leader is missing.
    #[must_use]
    pub fn streams(&self) -> BTreeMap<String, usize> {
        let running = self.servers.iter().enumerate().filter(|(_, server)| server.pid().is_some());
        let led = |(number, server): (usize, &Server)| {
            let names = monitor::leads(server.ports.monitor, &server.name);
            names.into_iter().map(move |name| (name, number))
        };
        running.flat_map(led).collect()
    }

    /// The server that leads a stream; nobody during an election.
    #[must_use]
    pub fn leader_of(&self, stream: &str) -> Option<usize> {
        self.streams().remove(stream)
    }

    /// Memory of a server that is resident, in bytes; 0 when it does not run.
    #[must_use]
    pub fn rss(&self, server: usize) -> u64 {
        let status = self.process(server, "status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or_default() * 1024
    }

    /// CPU that a server used since it was started, in user and kernel together.
    #[must_use]
    pub fn cpu(&self, server: usize) -> Duration {
        let stat = self.process(server, "stat");
        // The name of the program stands in parentheses and may hold anything, so count from behind it.
        let times = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        let ticks: f64 = times.filter_map(|text| text.parse::<f64>().ok()).sum();
        Duration::from_secs_f64(ticks / TICKS_PER_SECOND)
    }

    fn process(&self, server: usize, file: &str) -> String {
        let pid = self.pid(server);
        pid.and_then(|pid| fs::read_to_string(format!("/proc/{pid}/{file}")).ok()).unwrap_or_default()
    }
}

fn hosts(plan: &Plan) -> Result<Vec<IpAddr>> {
    let Some(hosts) = &plan.hosts else { return Ok(vec![Ipv4Addr::LOCALHOST.into(); plan.servers]) };
    ensure!(hosts.len() == plan.servers, "{} servers need {} hosts, not {}", plan.servers, plan.servers, hosts.len());
    hosts.iter().map(|host| host.parse().with_context(|| format!("{host} is no address"))).collect()
}
