//! What the client may do, and how much of it.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// The client's settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Whether strangers' URLs are asked at all.
    pub strangers: Strangers,
    /// Addresses that strangers' URLs may lead to besides the open network, each range from its first to its last.
    pub allow: Vec<RangeInclusive<IpAddr>>,
    /// The largest body that is read, in octets.
    pub body_max: usize,
    /// For one request with all its redirections, from the first question to the last octet. A stranger's request may
    /// ask for less, a configured one for more.
    pub timeout: Duration,
    /// How often one request is sent on elsewhere.
    pub redirects_max: usize,
    /// Requests under way at a time: so many of strangers, and as many configured ones.
    pub requests_max: usize,
    /// Who vouches for hosts of https.
    pub roots: Roots,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strangers: Strangers::Asked,
            allow: Vec::new(),
            body_max: 5 << 20,
            timeout: Duration::from_secs(10),
            redirects_max: 3,
            requests_max: 100,
            roots: Roots::Machine,
        }
    }
}

/// Whether URLs out of scripts, the API or mail are asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strangers {
    /// Within the rules.
    Asked,
    /// Not at all: what a public server does.
    Refused,
}

/// Certificates that vouch for others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Roots {
    /// Those of this machine.
    Machine,
    /// Those of a PEM file, and no others.
    File(PathBuf),
}
