//! Why the engine does not open. Each says what to do about it.

use std::io;
use std::path::PathBuf;

use crate::wire::Failure;

/// Why the engine did not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No broker answered.
    #[error(
        "no broker can be reached at {urls}: {why}; start the brokers (one is enough to try it out: `nats-server -js`), or \
         change store.jetstream.urls"
    )]
    Unreachable {
        /// Those that were tried, without passwords.
        urls: String,
        /// What the last attempt met.
        why: String,
    },
    /// The credentials cannot be read.
    #[error("store.jetstream.credentials: cannot read {}: {source}", path.display())]
    Credentials {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A broker is of a version that this engine does not work with.
    #[error("the broker {server} is nats-server {version}, and {least} or later is needed: upgrade it")]
    TooOld {
        /// Its name.
        server: String,
        /// What it is.
        version: String,
        /// What it should be.
        least: &'static str,
    },
    /// It was not seen that every broker syncs before it acknowledges.
    #[error(
        "{why}; without `sync_interval: always` a power cut can lose acknowledged mail and leave the cluster stuck. Set it in the \
         jetstream block of every broker, and let this account ask (see deploy/nats/accounts.conf), or set \
         store.jetstream.sync_waived = true to start all the same"
    )]
    NotSynced {
        /// What was missing.
        why: String,
    },
    /// The store on the brokers was made otherwise than the settings say.
    #[error(
        "the store {prefix:?} on the brokers was made with {key} = {there}, and the configuration says {here}; this cannot be \
         changed later: set store.jetstream.{key} = {there}, or take another store.jetstream.prefix for a new store"
    )]
    OtherLayout {
        /// Which store.
        prefix: String,
        /// Which key.
        key: &'static str,
        /// What it was made with.
        there: String,
        /// What the configuration says.
        here: String,
    },
    /// A broker refused something that the store needs.
    #[error("the brokers do not let the store be opened: {what}: {why}")]
    Refused {
        /// What was tried.
        what: String,
        /// What they said.
        why: String,
    },
}

impl OpenError {
    pub(crate) fn refused(what: impl Into<String>, failure: &Failure) -> Self {
        Self::Refused { what: what.into(), why: failure.to_string() }
    }
}
