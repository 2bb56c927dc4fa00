//! The server under trial on one of the engines: started with a receiver in its configuration, killed, and started again
//! over what it kept.

use std::fs::{self, File, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use super::senders::Doors;
use crate::load::server::{Server, Starting, serve};
use crate::load::tools::Place;
use crate::shell::built;

/// Nodes of a cluster.
const NODES: usize = 2;

/// Where mail is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Engine {
    Memory,
    Disk,
    Jetstream,
}

impl Engine {
    pub(super) const ALL: [Self; 3] = [Self::Memory, Self::Disk, Self::Jetstream];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Disk => "disk",
            Self::Jetstream => "jetstream",
        }
    }

    /// The one of this name, or all.
    pub(super) fn named(name: Option<&str>) -> Result<Vec<Self>> {
        let Some(name) = name else { return Ok(Self::ALL.to_vec()) };
        match Self::ALL.into_iter().find(|engine| engine.name() == name) {
            Some(engine) => Ok(vec![engine]),
            None => bail!("--engine {name} is unknown; there are memory, disk, jetstream"),
        }
    }
}

/// A server, or several over brokers; killed when dropped, and what they kept is gone then.
pub(super) struct Site {
    // Before the brokers: that is the order in which they go.
    nodes: Vec<Option<Server>>,
    pub(super) doors: Arc<Doors>,
    settings: Vec<String>,
    binary: PathBuf,
    place: Place,
    folder: Option<PathBuf>,
    _brokers: Option<brokers::Cluster>,
}

impl Site {
    /// Start it, with events for this receiver if there is one.
    pub(super) fn start(
        binary: &Path,
        engine: Engine,
        name: &str,
        receiver: Option<SocketAddr>,
        settings: &[&str],
    ) -> Result<Self> {
        Self::start_with(binary, engine, name, &configuration(receiver), settings)
    }

    /// Start it with this file.
    pub(super) fn start_with(binary: &Path, engine: Engine, name: &str, file: &str, settings: &[&str]) -> Result<Self> {
        let place = Place::new(&format!("leaving-{}-{name}", engine.name()))?;
        fs::write(place.file("postkeep.toml"), file)?;
        // Not among temporary files, which may lie in memory: this is about a disk.
        let folder = built()?.with_file_name("tmp").join(format!("postkeep-{}-leaving-{name}", std::process::id()));
        let folder = (engine == Engine::Disk).then_some(folder);
        if let Some(parent) = folder.as_deref().and_then(Path::parent) {
            fs::create_dir_all(parent)?;
        }
        let brokers = match engine {
            Engine::Jetstream => Some(brokers::Cluster::start(brokers::Plan::of(3))?),
            _ => None,
        };
        let mut own = vec![format!("store.engine={}", engine.name()), "log.level=info".to_owned()];
        own.extend(["mailbox.messages_max=0", "mailbox.retention=0"].map(str::to_owned));
        own.extend(folder.iter().map(|folder| format!("store.disk.path={}", folder.display())));
        own.extend(brokers.iter().map(|brokers| format!("store.jetstream.urls={}", brokers.urls().join(","))));
        own.extend(settings.iter().map(|setting| (*setting).to_owned()));
        let count = if engine == Engine::Jetstream { NODES } else { 1 };
        let (doors, binary) = (Arc::new(Mutex::new(vec![None; count])), binary.to_owned());
        let nodes = (0..count).map(|_| None).collect();
        let mut site = Self { nodes, doors, settings: own, binary, place, folder, _brokers: brokers };
        (0..count).try_for_each(|node| site.begin(node))?;
        Ok(site)
    }

    fn begin(&mut self, node: usize) -> Result<()> {
        let mut command = Command::new(&self.binary);
        serve(&mut command, &self.settings.iter().map(String::as_str).collect::<Vec<_>>());
        command.arg("--config").arg(self.place.file("postkeep.toml"));
        let starting = Starting::new(command, self.log(node)?)?;
        let server = starting.ready().with_context(|| format!("it said: {}", self.said()))?;
        self.doors.lock().expect("no sender panics")[node] = Some(server.address("smtp")?);
        self.nodes[node] = Some(server);
        Ok(())
    }

    /// Kill a node and start it again. What it had in hand is in nobody's hands then.
    pub(super) fn kill(&mut self, number: usize) -> Result<()> {
        let node = number % self.nodes.len();
        if let Some(server) = self.nodes[node].take() {
            server.signal(Signal::KILL)?;
            self.doors.lock().expect("no sender panics")[node] = None;
            server.wait()?;
        }
        self.begin(node)
    }

    /// Where the first node is asked.
    pub(super) fn http(&self) -> Result<SocketAddr> {
        self.nodes[0].as_ref().context("it is down")?.address("http")
    }

    /// End all of it as a user would.
    pub(super) fn stop(mut self) -> Result<()> {
        self.nodes.iter_mut().filter_map(Option::take).try_for_each(Server::stop)
    }

    /// What all of them said.
    pub(super) fn said(&self) -> String {
        (0..self.nodes.len())
            .map(|node| fs::read_to_string(self.place.file(&format!("{node}.log"))).unwrap_or_default())
            .collect()
    }

    fn log(&self, node: usize) -> Result<File> {
        Ok(OpenOptions::new().create(true).append(true).open(self.place.file(&format!("{node}.log")))?)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.nodes.clear();
        if let Some(folder) = &self.folder {
            // What stays behind lies among things that are built.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// One that is told of everything, if anybody is.
fn configuration(receiver: Option<SocketAddr>) -> String {
    let Some(address) = receiver else { return String::new() };
    format!(
        "[[webhook]]\nname = \"trial\"\nurl = \"http://{address}/hook\"\n\
         secret = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=\"\n"
    )
}
