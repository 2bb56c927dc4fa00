//! Real nats-servers on this machine, for tests, trials and measurements: started as a cluster, killed, paused, brought
//! back, looked at. It is a tool of the house and no part of the program; it knows nothing of mail, of streams and what
//! they are for, and speaks with a server only through its monitoring port.
//!
//! ```no_run
//! let mut cluster = brokers::Cluster::start(brokers::Plan::of(3))?;
//! cluster.kill(1)?;
//! cluster.start_again(1)?;
//! cluster.wait_healthy(std::time::Duration::from_secs(30))?;
//! # anyhow::Ok(())
//! ```
//!
//! Servers end with their [`Cluster`], and on Linux also with the process that started them, however that ends: a cluster
//! may lie in a `static`, which nobody drops.

mod cluster;
mod find;
mod folder;
mod monitor;
mod ports;
mod server;
mod spawn;

use std::path::PathBuf;

pub use cluster::Cluster;
pub use find::nats_server;
pub use spawn::tethered;

/// What to start.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many servers; one alone is no cluster and has no routes.
    pub servers: usize,
    /// Where configurations, logs and data lie, a folder per server; kept at the end. `None`: a temporary folder, removed
    /// at the end.
    pub folder: Option<PathBuf>,
    /// Whether a server syncs before it answers.
    pub sync: Sync,
    /// Who may connect.
    pub accounts: Accounts,
    /// The address of each server; 127.0.0.1 when left out.
    pub hosts: Option<Vec<String>>,
    /// For each server the words before its command, such as `ip netns exec name`; they must end in an `exec` of it, so
    /// that its process stays the one that was started. Empty, or too short: none.
    pub under: Vec<Vec<String>>,
    /// Bytes that each server may keep on disk; 100 GB when left out.
    pub max_file: Option<u64>,
    /// Lines for the end of each configuration.
    pub extra: String,
}

impl Plan {
    /// So many servers that sync always, with the accounts that are shipped, in a temporary folder.
    #[must_use]
    pub fn of(servers: usize) -> Self {
        Self {
            servers,
            folder: None,
            sync: Sync::Always,
            accounts: Accounts::Shipped,
            hosts: None,
            under: Vec::new(),
            max_file: None,
            extra: String::new(),
        }
    }
}

/// When a server syncs what it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Before it answers: `sync_interval: always`.
    Always,
    /// As nats-server does when it is not told: now and then, after it answered.
    Default,
}

/// Who may connect to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accounts {
    /// The accounts of `deploy/nats/accounts.conf`. Besides `postkeep`, the user of the nodes may use the prefixes that
    /// [`Cluster::prefix`] hands out.
    Shipped,
    /// Everybody may do everything, in one account; nobody may ask the servers whether they sync.
    Open,
}
