//! How a verb can fail, as every edge must tell it apart.

use std::time::Duration;

use crate::access::Denial;
use crate::access::token::NoChance;
use crate::faults::BadPlan;
use crate::sign_in::SignInError;
use crate::verdict::Verdict;

/// The result of a verb.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a verb failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller may not do this.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// Whoever asks is not who they say.
    #[error(transparent)]
    SignIn(#[from] SignInError),
    /// No such inbox can be opened: why, and what to do.
    #[error("no inbox was opened: {0}")]
    BadInbox(String),
    /// No such token can be issued: why, and what to do.
    #[error("no token was issued: {0}")]
    BadToken(String),
    /// A fault plan that makes no sense: what is wrong with it.
    #[error(transparent)]
    BadPlan(#[from] BadPlan),
    /// No more fault plans are taken: why, and what to do.
    #[error("no fault was planned: {0}")]
    NoPlan(String),
    /// Somebody asks too often.
    #[error("too many {what}: wait and try again")]
    TooOften {
        /// For what, with the key that sets the rate.
        what: &'static str,
        /// When it may be worth asking again.
        wait: Duration,
    },
    /// A limit of the mailroom is met.
    #[error("too many {what} at once: try again later, or raise that limit")]
    TooMany {
        /// Of what, with the key that sets the limit.
        what: &'static str,
    },
    /// A message is not taken, as somebody decided who has a say.
    #[error("the message is refused: {}", .0.text())]
    Refused(Box<Verdict>),
    /// No such release can be made: why, and what to do.
    #[error("nothing was released: {0}")]
    BadRelease(String),
    /// There is no smart host.
    #[error("nothing leaves this server: set relay.host to the smart host that sends mail on, and relay.allow to whom")]
    NoRelay,
    /// To these nobody may send mail from here.
    #[error("mail may not be sent from here to {}: add them to relay.allow, or leave them out", .recipients.join(", "))]
    NotAllowed {
        /// Which of those that were named.
        recipients: Vec<String>,
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
            Self::TooOften { wait, .. } => Some(*wait),
            _ => None,
        }
    }
}

impl From<NoChance> for Error {
    fn from(none: NoChance) -> Self {
        store::Error::try_later(none.to_string()).into()
    }
}
