//! What the engine is told: where the brokers are, how the store is laid out on them, and its bounds.

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;

/// How to reach the brokers, and how the store is laid out. It is not shown as a whole anywhere: it holds passwords.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// The brokers, as `nats://host:port` or `tls://user:password@host:port`. Any of them is enough to find the others.
    pub urls: Vec<String>,
    /// A `.creds` file; none: what the URLs say.
    pub credentials: Option<PathBuf>,
    /// The certificates that a broker's own is checked against; none: those of the system.
    pub tls_ca: Option<PathBuf>,
    /// The certificate shown to brokers.
    pub tls_cert: Option<PathBuf>,
    /// Its key.
    pub tls_key: Option<PathBuf>,
    /// Begins every name this store has on the brokers.
    pub prefix: String,
    /// On how many brokers each message lies.
    pub replicas: usize,
    /// Streams that mailboxes are spread over; fixed when the store is made.
    pub shards: usize,
    /// Streams that bodies are spread over; fixed when the store is made.
    pub body_shards: usize,
    /// Start although not every broker was seen to sync before it acknowledges.
    pub sync_waived: bool,
    /// Bytes of bodies; beyond it the oldest mail goes. None: what the brokers allow.
    pub bytes_max: Option<u64>,
    /// Messages in a mailbox; 0: no bound.
    pub messages_max: usize,
    /// How long mail is kept.
    pub retention: Option<Duration>,
    /// How long a call waits for the brokers.
    pub wait_max: Duration,
    /// Jobs that may wait to be done.
    pub jobs_max: u64,
    /// Jobs that failed for good and are kept to be looked at.
    pub dead_jobs_max: usize,
    /// Bytes of small records.
    pub registry_bytes_max: u64,
    /// Bodies that one search reads, those of the newest messages.
    pub bodies_max: usize,
}

impl Settings {
    /// A store of one broker and one shard without bounds, as small as can be.
    pub fn new(urls: Vec<String>, prefix: impl Into<String>) -> Self {
        Self {
            urls,
            credentials: None,
            tls_ca: None,
            tls_cert: None,
            tls_key: None,
            prefix: prefix.into(),
            replicas: 1,
            shards: 1,
            body_shards: 1,
            sync_waived: false,
            bytes_max: None,
            messages_max: 0,
            retention: None,
            wait_max: Duration::from_secs(20),
            jobs_max: 1_000_000,
            dead_jobs_max: 1_000,
            registry_bytes_max: 16 << 20,
            bodies_max: 50,
        }
    }

    /// The URLs as they may be shown to anybody: without passwords.
    pub(crate) fn shown_urls(&self) -> String {
        self.urls.iter().map(|url| shown(url)).collect::<Vec<_>>().join(", ")
    }

    /// The user that the URLs name, with its password: the same on all brokers, as they are one cluster.
    pub(crate) fn user(&self) -> Option<(String, String)> {
        let said = self.urls.iter().find_map(|url| url.rsplit_once('@').map(|(said, _)| said))?;
        let said = said.split_once("://").map_or(said, |(_, said)| said);
        let (user, password) = said.split_once(':').unwrap_or((said, ""));
        let plain = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
        Some((plain(user), plain(password)))
    }
}

fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("nats", url));
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_used_and_never_shown() {
        let urls = ["nats://one:4222", "tls://ann:s:e@cr%40t@two:4222"].map(str::to_owned).to_vec();
        let settings = Settings::new(urls, "postkeep");
        assert_eq!(settings.user(), Some(("ann".to_owned(), "s:e@cr@t".to_owned())));
        assert_eq!(settings.shown_urls(), "nats://one:4222, tls://two:4222");
        assert_eq!(Settings::new(vec!["nats://one".to_owned()], "postkeep").user(), None);
    }
}
