//! What is decided about a sender, a recipient or a message. Refusals are values, not errors.

use std::time::Duration;

use crate::refusals::ByFault;

/// A decision, and how it is to be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// What is decided.
    pub decision: Decision,
    /// Wait so long before telling it.
    pub delay: Option<Duration>,
    /// Close the connection: after the reply of a refusal, instead of one otherwise.
    pub hang_up: bool,
    /// Not even a refusal is said: the line is cut, as if a machine had died.
    pub silent: bool,
    /// The content of this transaction is read at so many octets a second.
    pub slow: Option<u64>,
    /// The fault on demand that refuses, where one does: it is no fault of the client's, and is not counted as one.
    pub fault: Option<Box<ByFault>>,
}

/// What is decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Taken.
    Accept,
    /// Taken to all appearances, and thrown away.
    Discard,
    /// Not taken, and the client is told.
    Refuse(Status),
}

/// An SMTP status: reply code, enhanced code (RFC 3463), text. Text is one line without control characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// `4xx` or `5xx`.
    pub code: u16,
    /// Class, subject, detail.
    pub enhanced: (u8, u16, u16),
    /// What a person reads.
    pub text: String,
}

impl Verdict {
    /// Taken, at once.
    pub const ACCEPT: Self = Self::plain(Decision::Accept);
    /// Thrown away, at once.
    pub const DISCARD: Self = Self::plain(Decision::Discard);

    /// Whether it is one.
    pub fn is_refusal(&self) -> bool {
        matches!(self.decision, Decision::Refuse(_))
    }

    /// What a person reads of a refusal; of anything else nothing.
    pub fn text(&self) -> &str {
        match &self.decision {
            Decision::Refuse(status) => &status.text,
            Decision::Accept | Decision::Discard => "",
        }
    }

    /// Refused, at once.
    pub fn refuse(code: u16, enhanced: (u8, u16, u16), text: impl Into<String>) -> Self {
        let status = Status { code, enhanced, text: text.into() };
        Self::plain(Decision::Refuse(status))
    }

    /// This, told at once and no more.
    pub const fn plain(decision: Decision) -> Self {
        Self { decision, delay: None, hang_up: false, silent: false, slow: None, fault: None }
    }
}
