//! What goes into an engine and comes back out of it.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use mail::{Address, Digest, Envelope, Mailbox, Summary};

use crate::outbox::NewJob;

/// One message on its way into a store: bytes, and what was made from its header alone.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The stored bytes, trace fields included. They are the truth and are never changed.
    pub raw: Bytes,
    /// Kept whole beside the bytes.
    pub envelope: Arc<Envelope>,
    /// What the header says.
    pub digest: Digest,
    /// When it was received, to the microsecond.
    pub received_at: Timestamp,
    /// One for each mailbox, each mailbox once; at least one.
    pub copies: Vec<Copy>,
    /// Words put on it by policy or scripts.
    pub tags: Vec<String>,
    /// Durable with the append.
    pub jobs: Vec<NewJob>,
}

/// The message's place in one mailbox.
#[derive(Clone, Debug)]
pub struct Copy {
    /// Where it goes.
    pub mailbox: Mailbox,
    /// The recipients that led there, at most [`mail::summary::RCPT_MAX`].
    pub rcpt_to: Vec<Address>,
    /// How many recipients of the transaction are not in `rcpt_to`.
    pub other_recipients: u32,
    /// When it goes by itself.
    pub expires: Option<Timestamp>,
}

/// One message whole.
#[derive(Clone, Debug)]
pub struct Stored {
    /// As the list shows it.
    pub summary: Arc<Summary>,
    /// What SMTP said.
    pub envelope: Arc<Envelope>,
    /// The bytes, exactly.
    pub raw: Bytes,
}
