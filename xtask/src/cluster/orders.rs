//! What a running cluster can be told to do, and doing it.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use super::site::Site;
use crate::args::Args;
use crate::load::chance::Chance;

/// Which broker is meant. As text it is what goes over the socket.
#[derive(Debug, PartialEq)]
pub(super) enum Which {
    Named(String),
    /// The one that leads this stream.
    Leader(String),
    /// One by chance, from this number.
    Any(u64),
}

impl Which {
    /// `NAME`, `--leader STREAM`, or neither, and then with `--seed N` the same one again.
    pub(super) fn new(args: &mut Args) -> Result<Self> {
        if let Some(stream) = args.value("--leader")? {
            return Ok(Self::Leader(stream));
        }
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
        let seed = args.value("--seed")?;
        Ok(args.word().map_or_else(|| Self::Any(seed.unwrap_or_else(clock)), Self::Named))
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (kind, value) = text.split_once(' ')?;
        match kind {
            "named" => Some(Self::Named(value.to_owned())),
            "leader" => Some(Self::Leader(value.to_owned())),
            "any" => value.parse().ok().map(Self::Any),
            _ => None,
        }
    }

    fn find(&self, site: &Site) -> Result<usize> {
        let brokers = &site.brokers;
        match self {
            Self::Named(name) => {
                let found = (0..brokers.len()).find(|&broker| brokers.name(broker) == *name);
                found.with_context(|| format!("there is no broker {name}; they are called n1, n2 and so on"))
            }
            Self::Leader(stream) => brokers.leader_of(stream).with_context(|| format!("nobody leads {stream} now")),
            Self::Any(seed) => Ok(Chance::new(&[*seed]).below(brokers.len())),
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(out, "named {name}"),
            Self::Leader(stream) => write!(out, "leader {stream}"),
            Self::Any(seed) => write!(out, "any {seed}"),
        }
    }
}

/// Do it, and say what was done.
pub(super) fn obey(site: &mut Site, words: &str) -> Result<String> {
    match words {
        "status" => site.status(),
        "back" => {
            let names = site.back()?;
            Ok(if names.is_empty() { "all brokers run".to_owned() } else { format!("{} is back", names.join(", ")) })
        }
        _ => match words.strip_prefix("kill ").and_then(Which::parse) {
            Some(which) => kill(site, &which),
            None => bail!("`{words}` means nothing here; is the other program of the same version?"),
        },
    }
}

/// One at a time: with two of three down nothing can be delivered, which is another test.
fn kill(site: &mut Site, which: &Which) -> Result<String> {
    if let Some(down) = (0..site.brokers.len()).find(|&broker| site.brokers.pid(broker).is_none()) {
        bail!("{} is down already; `cluster broker back` brings it back", site.brokers.name(down));
    }
    let broker = which.find(site)?;
    site.brokers.kill(broker)?;
    Ok(format!("{} is killed", site.brokers.name(broker)))
}
