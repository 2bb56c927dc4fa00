//! How a call can fail. Each variant is something an edge answers differently.

use std::time::Duration;

use mail::{Mailbox, MessageId};

/// The result of every call to an engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing was changed; the same call may succeed later.
    #[error("the store cannot do this now: {why}")]
    TryLater {
        /// For the log, never for the client.
        why: String,
        /// When it may be worth asking again.
        after: Option<Duration>,
        /// What happened underneath.
        #[source]
        source: Option<Source>,
    },
    /// Nothing was changed, because there is no room.
    #[error("the store is full: {what}")]
    Full {
        /// Which bound was met.
        what: String,
    },
    /// It may or may not have happened: neither success nor failure may be told to anybody.
    #[error("it is unknown whether the store did this: {why}")]
    UnknownOutcome {
        /// For the log.
        why: String,
    },
    /// This engine cannot do this at all.
    #[error("this engine cannot {what}")]
    Unsupported {
        /// What was asked.
        what: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// This message is there, but its bytes are not what was stored.
    #[error("message {id} of {mailbox} is damaged")]
    Damaged {
        /// Where it lies.
        mailbox: Mailbox,
        /// Which it is.
        id: MessageId,
    },
}

impl Error {
    /// Nothing was changed; try again.
    pub fn try_later(why: impl Into<String>) -> Self {
        Self::TryLater { why: why.into(), after: None, source: None }
    }
}
