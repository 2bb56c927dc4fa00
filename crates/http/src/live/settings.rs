//! The keys of the sections `events` and `monitor`, ready to use.

use std::time::Duration;

/// How streams of events behave. Each field is the key of the same name; how many events wait for a slow reader is the
/// mailroom's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Events {
    /// Mailboxes that one stream follows.
    pub mailboxes_max: usize,
    /// A cursor younger than this is gone on from; with an older one the client lists anew.
    pub resume_window: Duration,
    /// After so much silence a comment is sent.
    pub heartbeat: Duration,
    /// Time for a client to take something of what is sent to it.
    pub write_max: Duration,
    /// Streams at once, WebSockets among them.
    pub streams_max: usize,
    /// Streams at once from one address; 0 is no limit.
    pub per_ip_max: usize,
    /// A stream ends after this long; the client comes back by itself.
    pub life_max: Duration,
    /// Events in a second of a stream over all mailboxes, on an engine of many nodes; the others are counted.
    pub all_rate_max: u32,
}

/// How the monitor behaves. Each field is the key of the same name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Monitor {
    /// Whether there is one.
    pub enabled: bool,
    /// Messages that are told at the beginning.
    pub history_max: usize,
    /// Octets of what a client may send at once.
    pub frame_max: usize,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            mailboxes_max: 16,
            resume_window: Duration::from_secs(100),
            heartbeat: Duration::from_secs(15),
            write_max: Duration::from_secs(10),
            streams_max: 10_000,
            per_ip_max: 0,
            life_max: Duration::from_secs(60 * 60),
            all_rate_max: 200,
        }
    }
}

impl Default for Monitor {
    fn default() -> Self {
        Self { enabled: true, history_max: 30, frame_max: 4 << 10 }
    }
}
