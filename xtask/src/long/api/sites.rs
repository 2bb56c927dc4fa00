//! The servers of one measurement, by the engine that keeps their mail.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::load::cluster::{Cluster, possible};
use crate::load::folder::Folder;
use crate::load::server::Server;
use crate::load::tools::Place;

/// What keeps the mail.
pub(super) const ENGINES: [&str; 3] = ["memory", "disk", "jetstream"];
const NODES: usize = 3;
/// Each of those who wait or watch holds a connection; few are needed to send, and all of them share the files.
const CONNECTIONS: [&str; 2] = ["http.connections_max=12000", "smtp.connections_max=2000"];
/// Nodes of a cluster make and know their inboxes by one key. It keeps no secret here.
const KEY: &str = "1f2e3d4c5b6a79880f1e2d3c4b5a69781f2e3d4c5b6a79880f1e2d3c4b5a6978\n";

/// One server, or the nodes of a cluster. They go first, then what they keep their mail in.
pub(super) struct Site {
    servers: Vec<Server>,
    _keeps: Keeps,
}

#[expect(dead_code, reason = "held until the servers are gone")]
enum Keeps {
    Nothing,
    Folder(Folder),
    Brokers(Cluster, Place),
}

impl Site {
    /// Start it; nothing where brokers are needed and shall be done without.
    pub(super) fn start(engine: &str, binary: &Path) -> Result<Option<Self>> {
        match engine {
            "disk" => {
                let folder = Folder::new("api")?;
                let server = folder.serve(binary, &CONNECTIONS)?;
                Ok(Some(Self { servers: vec![server], _keeps: Keeps::Folder(folder) }))
            }
            "jetstream" if !possible()? => Ok(None),
            "jetstream" => Self::cluster(binary).map(Some),
            _ => {
                let server = Server::postkeep(binary, &CONNECTIONS)?;
                Ok(Some(Self { servers: vec![server], _keeps: Keeps::Nothing }))
            }
        }
    }

    fn cluster(binary: &Path) -> Result<Self> {
        let (brokers, place) = (Cluster::start(binary, &[])?, Place::new("api")?);
        let file = place.file("keys");
        fs::write(&file, KEY).with_context(|| format!("cannot write {}", file.display()))?;
        let key = format!("access.key_file={}", file.display());
        let nodes = (0..NODES).map(|_| brokers.node(&[CONNECTIONS[0], CONNECTIONS[1], &key]));
        Ok(Self { servers: nodes.collect::<Result<_>>()?, _keeps: Keeps::Brokers(brokers, place) })
    }

    /// The addresses and the processes as words of a load generator.
    pub(super) fn words(&self, command: &mut Command) -> Result<()> {
        for listener in ["http", "smtp"] {
            let addresses = self.servers.iter().map(|server| Ok(server.address(listener)?.to_string()));
            command.args([&format!("--{listener}"), &addresses.collect::<Result<Vec<_>>>()?.join(",")]);
        }
        let processes: Vec<_> = self.servers.iter().map(|server| server.pid().to_string()).collect();
        command.args(["--processes", &processes.join(",")]);
        Ok(())
    }

    /// End all servers politely.
    pub(super) fn stop(self) -> Result<()> {
        self.servers.into_iter().try_for_each(Server::stop)
    }
}
