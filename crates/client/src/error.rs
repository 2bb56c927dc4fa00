//! How a call can fail, in words that help whoever reads the log of a failed test.

use std::fmt;

use crate::problem::Problem;
use crate::report::{Timeout, Unexpected};

/// Why there is no answer, or not the one that was hoped for.
///
/// `Debug` writes what `Display` writes: a test fails by `unwrap`, `expect` or `?`, all of which print `Debug`, and should
/// say why by itself.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked for makes no sense: a bad URL, a variable that is not set.
    #[error("{0}")]
    Misuse(String),
    /// No server answered.
    #[error("cannot reach {server}: {why}; is the server running there? POSTKEEP_URL names another")]
    Unreachable {
        /// The one that was asked last.
        server: String,
        /// How it failed.
        why: String,
    },
    /// No mail matched in time; prints what came instead.
    #[error("{0}")]
    Timeout(Box<Timeout>),
    /// A mail matched where none was expected.
    #[error("{0}")]
    Unexpected(Box<Unexpected>),
    /// The message has no such thing: no code, no link, no attachment.
    #[error("{0}")]
    Missing(String),
    /// The message has several codes or links that may be meant.
    #[error("which {what} is meant is not clear: {}; look at `{what}s` of the message and choose", .candidates.join(", "))]
    Ambiguous {
        /// `code` or `link`.
        what: &'static str,
        /// All of them, best first.
        candidates: Vec<String>,
    },
    /// The server said no, and why.
    #[error("{0}")]
    Problem(Box<Problem>),
    /// What answered is no Postkeep server, or another version of it.
    #[error("{server} gave an answer that is not understood: {why}; does POSTKEEP_URL name a Postkeep server?")]
    Strange {
        /// Which one.
        server: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Error {
    pub(crate) fn misuse(what: impl Into<String>) -> Self {
        Self::Misuse(what.into())
    }

    /// The status of the answer, if there was one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Problem(problem) => Some(problem.status),
            Self::Timeout(_) | Self::Unexpected(_) => Some(409),
            _ => None,
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}
