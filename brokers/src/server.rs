//! One nats-server: its configuration, its process, and signals to it. It does not know how the others fare.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::ports::Ports;
use crate::spawn::{command, spawn};
use crate::{Accounts, Plan, Sync};

/// What the user of the nodes may do, as it is shipped.
const SHIPPED: &str = include_str!("../../deploy/nats/accounts.conf");
/// How many prefixes besides its own that user gets here, so that tests can share a cluster.
pub(crate) const PREFIXES: usize = 256;
pub(crate) const USER: &str = "postkeep";
pub(crate) const OPERATOR: &str = "operator";

const MAX_FILE: u64 = 100_000_000_000;
/// A server that was killed with much in it reads that again before it listens.
const PATIENCE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(10);

/// A server, running or not; killed when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) ports: Ports,
    program: PathBuf,
    under: Vec<String>,
    child: Option<Child>,
}

impl Server {
    /// Server `number` of those at `all`, in its folder under `root`; not started.
    pub(crate) fn new(program: &Path, root: &Path, plan: &Plan, all: &[Ports], number: usize) -> Result<Self> {
        let name = name(number);
        let folder = root.join(&name);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(folder.join("nats-server.conf"), configuration(plan, all, number, &folder))?;
        fs::write(folder.join("accounts.conf"), accounts(plan.accounts))?;
        let under = plan.under.get(number).cloned().unwrap_or_default();
        Ok(Self { name, folder, ports: all[number], program: program.to_owned(), under, child: None })
    }

    /// Start it. It does not listen yet.
    pub(crate) fn start(&mut self) -> Result<()> {
        if self.child.is_some() {
            bail!("{} runs already", self.name);
        }
        let log = File::options().create(true).append(true).open(self.log())?;
        let mut command = command(&self.under, &self.program);
        command.arg("--config").arg(self.folder.join("nats-server.conf"));
        // Name and password of a user are the same here.
        command.env("NATS_POSTKEEP_PASSWORD", USER).env("NATS_OPERATOR_PASSWORD", OPERATOR);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.child = Some(spawn(command)?);
        Ok(())
    }

    /// Wait until clients can connect.
    pub(crate) fn listens(&mut self) -> Result<()> {
        let begin = Instant::now();
        while !self.greets() {
            self.must_run()?;
            if begin.elapsed() > PATIENCE {
                bail!("{} does not listen after {PATIENCE:?}; it said:\n{}", self.name, self.said());
            }
            sleep(STEP);
        }
        Ok(())
    }

    /// Whether it is there and says its name; somebody else on its port does not.
    fn greets(&self) -> bool {
        let greeting = || -> std::io::Result<String> {
            let stream = TcpStream::connect_timeout(&self.ports.client, Duration::from_secs(1))?;
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line)?;
            Ok(line)
        };
        greeting().is_ok_and(|line| line.contains(&format!("\"server_name\":\"{}\"", self.name)))
    }

    /// An error with its last words when it ended by itself.
    pub(crate) fn must_run(&mut self) -> Result<()> {
        let child = self.child.as_mut().with_context(|| format!("{} was not started", self.name))?;
        let Some(status) = child.try_wait()? else { return Ok(()) };
        self.child = None;
        bail!("{} ended by itself with {status}; it said:\n{}", self.name, self.said());
    }

    /// Send a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let child = self.child.as_ref().with_context(|| format!("{} does not run", self.name))?;
        Ok(kill_process(Pid::from_child(child), signal)?)
    }

    /// Stop all its threads where they are, and wait until they stand: a signal is on its way for a moment.
    pub(crate) fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)?;
        let begin = Instant::now();
        while !self.stands() {
            if begin.elapsed() > PATIENCE {
                bail!("{} did not stand still within {PATIENCE:?}", self.name);
            }
            sleep(STEP);
        }
        Ok(())
    }

    fn stands(&self) -> bool {
        let tasks = self.pid().and_then(|pid| fs::read_dir(format!("/proc/{pid}/task")).ok());
        let stopped = |task: &Path| fs::read_to_string(task.join("stat")).is_ok_and(|stat| stat.contains(") T "));
        tasks.is_none_or(|tasks| tasks.flatten().all(|task| stopped(&task.path())))
    }

    /// Send a signal that ends it, and wait until it did.
    pub(crate) fn end(&mut self, signal: Signal) -> Result<()> {
        self.signal(signal)?;
        let begin = Instant::now();
        let child = self.child.as_mut().expect("it took a signal, so it is there");
        while child.try_wait()?.is_none() {
            if begin.elapsed() > PATIENCE {
                bail!("{} did not end within {PATIENCE:?} of {signal:?}", self.name);
            }
            sleep(STEP);
        }
        self.child = None;
        Ok(())
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// The last lines of its log.
    pub(crate) fn said(&self) -> String {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<_> = log.lines().rev().take(10).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("nats-server.log")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a server calls itself.
pub(crate) fn name(number: usize) -> String {
    format!("n{}", number + 1)
}

fn configuration(plan: &Plan, all: &[Ports], number: usize, folder: &Path) -> String {
    let Ports { client, monitor, route } = all[number];
    let sync = if plan.sync == Sync::Always { "sync_interval: always" } else { "" };
    let max_file = plan.max_file.unwrap_or(MAX_FILE);
    let mut text = format!(
        "server_name: {name}\nlisten: \"{client}\"\nhttp: \"{monitor}\"\n\
         jetstream {{\n  store_dir: \"{store}\"\n  max_file_store: {max_file}\n  max_memory_store: 16MB\n  {sync}\n}}\n",
        name = name(number),
        store = folder.join("store").display(),
    );
    if all.len() > 1 {
        let routes: Vec<_> = all.iter().map(|ports| format!("\"nats-route://{}\"", ports.route)).collect();
        let routes = routes.join(", ");
        // Writing into a string cannot fail.
        let _ = writeln!(text, "cluster {{\n  name: brokers\n  listen: \"{route}\"\n  routes: [{routes}]\n}}");
    }
    text + "include ./accounts.conf\n" + &plan.extra + "\n"
}

fn accounts(accounts: Accounts) -> String {
    match accounts {
        Accounts::Open => String::new(),
        Accounts::Shipped => SHIPPED.lines().flat_map(for_each_prefix).map(|line| line + "\n").collect(),
    }
}

/// A line of the shipped accounts, and after one that speaks of a prefix the same for each other prefix.
fn for_each_prefix(line: &str) -> Vec<String> {
    let of_prefix = line.contains("\"postkeep.") && !line.contains("postkeep.jsz");
    let others = (0..PREFIXES).filter(|_| of_prefix).map(|n| line.replace("\"postkeep.", &format!("\"{}.", prefix(n))));
    std::iter::once(line.to_owned()).chain(others).collect()
}

pub(crate) fn prefix(number: usize) -> String {
    format!("t{number}")
}
