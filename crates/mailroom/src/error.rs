//! How a verb can fail, as every edge must tell it apart.

use std::time::Duration;

/// The result of a verb.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a verb failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller may not do this.
    #[error("{verb} is not allowed here: ask whoever runs this server, access.mode rules it")]
    Denied {
        /// What was asked.
        verb: &'static str,
    },
    /// A limit of the mailroom is met.
    #[error("too many {what} at once: try again later, or raise that limit")]
    TooMany {
        /// Of what, with the key that sets the limit.
        what: &'static str,
    },
    /// A cursor that cannot be gone on from.
    #[error(transparent)]
    Cursor(#[from] crate::cursor::BadCursor),
    /// The engine failed; see its own words for what was changed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    /// When it may be worth asking again, where the engine said so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Store(store::Error::TryLater { after, .. }) => *after,
            _ => None,
        }
    }
}
