//! A message outside of a store, as the formats carry it. Which of its parts a format has a place for is the format's.

use jiff::Timestamp;
use mail::{Address, ReversePath};

/// One message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Letter {
    /// When it was received; none: the format does not say.
    pub(super) received_at: Option<Timestamp>,
    /// MAIL FROM; none: the format does not say.
    pub(super) mail_from: Option<ReversePath>,
    /// RCPT TO, as far as the format says.
    pub(super) rcpt_to: Vec<Address>,
    /// The bytes, exactly.
    pub(super) raw: Vec<u8>,
}

/// What a reader came upon.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// A message, with the name of its mailbox where the format says it.
    Letter(Option<String>, Letter),
    /// Something that is passed over: where, and why.
    Passed(String, &'static str),
}

/// A message larger than this import takes.
pub(super) const TOO_LARGE: &str = "it is larger than smtp.message_max; raise that to take it";
