//! The engines as the configuration names them, each with the keys of its own section. Which types of which crates they
//! are, only the assembly knows.

use std::path::PathBuf;
use std::time::Duration;

use super::ready::{Clash, Values};
use super::values::brokers;

/// What engine, and its bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Store {
    /// `store.engine`.
    pub(crate) engine: Engine,
    /// `mailbox.messages_max`; 0: no bound.
    pub(crate) messages_max: usize,
    /// `mailbox.retention`; none: no bound.
    pub(crate) retention: Option<Duration>,
}

impl Store {
    /// `store.disk.path`, where that is what the engine uses.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        match &self.engine {
            Engine::Disk(disk) => Some(disk.path.clone()),
            Engine::Memory(_) | Engine::Jetstream(_) => None,
        }
    }
}

/// The engines, each with the keys of its own section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    /// Mail until the program ends.
    Memory(Memory),
    /// Mail in a directory, through a power cut.
    Disk(Disk),
    /// Mail on brokers, through the loss of one of them.
    Jetstream(Jetstream),
}

/// The section `store.memory`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is named as its key")]
pub(crate) struct Memory {
    pub(crate) bytes_max: u64,
    pub(crate) changes_max: usize,
    pub(crate) lag_max: usize,
    pub(crate) jobs_bytes_max: u64,
    pub(crate) dead_jobs_max: usize,
    pub(crate) registry_bytes_max: u64,
}

/// The section `store.disk`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is named as its key")]
pub(crate) struct Disk {
    pub(crate) path: PathBuf,
    /// None: no bound.
    pub(crate) bytes_max: Option<u64>,
    pub(crate) free_min: u64,
    pub(crate) jump_hold: Duration,
    pub(crate) changes_max: usize,
    pub(crate) lag_max: usize,
    pub(crate) jobs_bytes_max: u64,
    pub(crate) dead_jobs_max: usize,
    pub(crate) registry_bytes_max: u64,
    pub(crate) queue_max: usize,
    pub(crate) wait_max: Duration,
    pub(crate) readers: usize,
    pub(crate) index_max: u64,
    pub(crate) index_text_max: usize,
}

/// The section `store.jetstream`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is named as its key")]
pub(crate) struct Jetstream {
    /// Never empty.
    pub(crate) urls: Vec<String>,
    pub(crate) credentials: Option<PathBuf>,
    pub(crate) tls_ca: Option<PathBuf>,
    pub(crate) tls_cert: Option<PathBuf>,
    pub(crate) tls_key: Option<PathBuf>,
    pub(crate) prefix: String,
    pub(crate) replicas: usize,
    pub(crate) shards: usize,
    pub(crate) body_shards: usize,
    pub(crate) sync_waived: bool,
    /// None: what the brokers allow.
    pub(crate) bytes_max: Option<u64>,
    pub(crate) wait_max: Duration,
    pub(crate) jobs_max: u64,
    pub(crate) dead_jobs_max: usize,
    pub(crate) registry_bytes_max: u64,
    pub(crate) bodies_max: usize,
}

impl Jetstream {
    /// Where the brokers are, as `host:port`, without what is secret.
    pub(crate) fn places(&self) -> Vec<&str> {
        self.urls.iter().map(|url| brokers::place(url)).collect()
    }
}

/// Make it of checked values.
pub(super) fn store(values: Values<'_>) -> Store {
    Store {
        engine: match values.text("store.engine") {
            "disk" => Engine::Disk(disk(values)),
            "jetstream" => Engine::Jetstream(jetstream(values)),
            _ => Engine::Memory(memory(values)),
        },
        messages_max: values.count("mailbox.messages_max"),
        retention: Some(values.time("mailbox.retention")).filter(|time| !time.is_zero()),
    }
}

fn memory(values: Values<'_>) -> Memory {
    Memory {
        bytes_max: values.size("store.memory.bytes_max"),
        changes_max: values.count("store.memory.changes_max"),
        lag_max: values.count("store.memory.lag_max"),
        jobs_bytes_max: values.size("store.memory.jobs_bytes_max"),
        dead_jobs_max: values.count("store.memory.dead_jobs_max"),
        registry_bytes_max: values.size("store.memory.registry_bytes_max"),
    }
}

fn disk(values: Values<'_>) -> Disk {
    Disk {
        path: PathBuf::from(values.text("store.disk.path")),
        bytes_max: Some(values.size("store.disk.bytes_max")).filter(|&bytes| bytes != 0),
        free_min: values.size("store.disk.free_min"),
        jump_hold: values.time("store.disk.jump_hold"),
        changes_max: values.count("store.disk.changes_max"),
        lag_max: values.count("store.disk.lag_max"),
        jobs_bytes_max: values.size("store.disk.jobs_bytes_max"),
        dead_jobs_max: values.count("store.disk.dead_jobs_max"),
        registry_bytes_max: values.size("store.disk.registry_bytes_max"),
        queue_max: values.count("store.disk.queue_max"),
        wait_max: values.time("store.disk.wait_max"),
        readers: values.count("store.disk.readers"),
        index_max: values.size("search.index_max"),
        index_text_max: values.size("search.index_text_max") as usize,
    }
}

fn jetstream(values: Values<'_>) -> Jetstream {
    let file = |name| Some(values.text(name)).filter(|path| !path.is_empty()).map(PathBuf::from);
    Jetstream {
        urls: values.list("store.jetstream.urls").to_vec(),
        credentials: file("store.jetstream.credentials"),
        tls_ca: file("store.jetstream.tls_ca"),
        tls_cert: file("store.jetstream.tls_cert"),
        tls_key: file("store.jetstream.tls_key"),
        prefix: values.text("store.jetstream.prefix").to_owned(),
        replicas: values.count("store.jetstream.replicas"),
        shards: values.count("store.jetstream.shards"),
        body_shards: values.count("store.jetstream.body_shards"),
        sync_waived: values.flag("store.jetstream.sync_waived"),
        bytes_max: Some(values.size("store.jetstream.bytes_max")).filter(|&bytes| bytes != 0),
        wait_max: values.time("store.jetstream.wait_max"),
        jobs_max: values.size("store.jetstream.jobs_max"),
        dead_jobs_max: values.count("store.jetstream.dead_jobs_max"),
        registry_bytes_max: values.size("store.jetstream.registry_bytes_max"),
        bodies_max: values.count("search.bodies_max"),
    }
}

/// A certificate is shown together with its key.
pub(super) fn half_a_certificate(values: Values<'_>) -> Option<Clash> {
    let keys = ["store.jetstream.tls_cert", "store.jetstream.tls_key"];
    let (there, missing) = match keys.map(|key| values.text(key).is_empty()) {
        [false, true] => (keys[0], keys[1]),
        [true, false] => (keys[1], keys[0]),
        _ => return None,
    };
    Some(Clash { keys, text: format!("{there} needs {missing} beside it; set both, or neither") })
}

/// Whoever we are to one broker we are to all of them: they name each other, without users.
pub(super) fn two_users(values: Values<'_>) -> Option<Clash> {
    let keys = ["store.jetstream.urls", "store.jetstream.credentials"];
    let mut users = values.list(keys[0]).iter().filter_map(|url| brokers::user(url));
    let first = users.next()?;
    let text = if users.any(|user| user != first) {
        "store.jetstream.urls name different users or passwords; one is used for all brokers, so write the same in each"
    } else if !values.text(keys[1]).is_empty() {
        "store.jetstream.urls name a user and store.jetstream.credentials another; leave one of them out"
    } else {
        return None;
    };
    Some(Clash { keys, text: text.to_owned() })
}
