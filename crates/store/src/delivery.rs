//! What goes into an engine and comes back out of it.

use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use mail::{Address, Author, Digest, Envelope, Mailbox, MessageId, Summary};

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

/// A delivery taken apart, each copy with its summary; only the ids are missing, which are 0.
#[derive(Clone, Debug)]
pub struct Sorted {
    /// The bytes.
    pub raw: Bytes,
    /// What SMTP said.
    pub envelope: Arc<Envelope>,
    /// What a list shows of each copy.
    pub copies: Vec<(Mailbox, Summary)>,
    /// To be written with them.
    pub jobs: Vec<NewJob>,
}

impl Delivery {
    /// Everything an engine can know before it draws ids.
    pub fn sort(self) -> Sorted {
        let Self { raw, envelope, digest, received_at, copies, mut tags, jobs } = self;
        let size = raw.len() as u64;
        let (mut from, mut subject) = (digest.from.unwrap_or_else(|| author_of(&envelope)), digest.subject);
        let mut left = copies.len();
        let summary = |Copy { mailbox, rcpt_to, other_recipients, expires }| {
            left -= 1;
            let summary = Summary {
                id: MessageId::new(0),
                received_at,
                size,
                from: pass(&mut from, left),
                subject: pass(&mut subject, left),
                mail_from: envelope.reverse_path.clone(),
                rcpt_to,
                transaction: envelope.transaction,
                other_recipients,
                expires,
                tags: pass(&mut tags, left),
            };
            (mailbox, summary)
        };
        let copies = copies.into_iter().map(summary).collect();
        Sorted { raw, envelope, copies, jobs }
    }
}

/// The last copy takes what the others cloned: most messages have one.
fn pass<T: Clone + Default>(value: &mut T, left: usize) -> T {
    if left == 0 { mem::take(value) } else { value.clone() }
}

/// What a list shows as the author when the header names none.
fn author_of(envelope: &Envelope) -> Author {
    let email = envelope.reverse_path.0.as_ref().map(ToString::to_string).unwrap_or_default();
    Author { name: String::new(), email }
}
