//! A transaction: from an accepted MAIL to the end of its message.

use jiff::Timestamp;
use mail::{Address, Envelope, Mailbox, Recipient, ReversePath};
use mailroom::{Decision, Parcel, Refusal, Stage, Verdict};
use std::sync::Arc;

use super::intake::Intake;
use crate::reply::Reply;

/// So many recipients are named in a refusal.
const REFUSAL_RCPT_MAX: usize = 10;

/// What is known of a message before it is complete.
#[derive(Debug)]
pub(super) struct Transaction {
    pub(super) envelope: Envelope,
    /// The recipients, by index, whose mail is thrown away.
    discarded: Vec<usize>,
    /// The sender's verdict: everything is thrown away.
    discard_all: bool,
    /// Whether a recipient was refused: it decides what DATA without recipients is told.
    pub(super) refused: bool,
    pub(super) announced: Option<u64>,
    /// The message, from DATA or the first chunk on.
    pub(super) intake: Option<Intake>,
    /// So many octets of content are read in a second.
    pub(super) slow: Option<u64>,
    /// A chunk failed: nothing more is taken until RSET.
    pub(super) chunk_failed: bool,
}

impl Transaction {
    pub(super) fn new(envelope: Envelope, announced: Option<u64>, verdict: &Verdict) -> Self {
        Self {
            envelope,
            discarded: Vec::new(),
            discard_all: verdict.decision == Decision::Discard,
            refused: false,
            announced,
            intake: None,
            slow: verdict.slow,
            chunk_failed: false,
        }
    }

    pub(super) fn add(&mut self, address: Address, mailbox: Mailbox, verdict: &Verdict) {
        // The slowest recipient sets the pace.
        self.slow = self.slow.into_iter().chain(verdict.slow).min();
        if verdict.decision == Decision::Discard || self.discard_all {
            self.discarded.push(self.envelope.recipients.len());
        }
        self.envelope.recipients.push(Recipient { address, mailbox });
    }

    /// Whether content has begun to come, by chunks: then nothing else may, until it is complete or RSET.
    pub(super) fn in_content(&self) -> bool {
        self.intake.is_some() || self.chunk_failed
    }

    /// A chunk is not taken: what came before it is worth nothing.
    pub(super) fn fail_chunks(&mut self) {
        self.chunk_failed = true;
        self.intake = None;
    }

    pub(super) fn recipients(&self) -> usize {
        self.envelope.recipients.len()
    }

    /// The message as the mailroom takes it, and its envelope for whatever is said of it.
    pub(super) fn into_parcel(self, raw: bytes::Bytes, received_at: Timestamp) -> (Parcel, Arc<Envelope>) {
        let envelope = Arc::new(self.envelope);
        (Parcel { raw, envelope: Arc::clone(&envelope), discarded: self.discarded, received_at }, envelope)
    }
}

/// A refusal, with the envelope as far as it is known; the refused recipient comes last.
pub(super) fn refusal(
    at: Timestamp,
    stage: Stage,
    mail_from: Option<&ReversePath>,
    recipients: &[Recipient],
    refused: Option<(&Address, Option<&Mailbox>)>,
    reply: &Reply,
) -> Box<Refusal> {
    let named = || recipients.iter().take(REFUSAL_RCPT_MAX);
    let addresses = named().map(|recipient| &recipient.address).chain(refused.map(|(address, _)| address));
    let mailboxes = named().map(|recipient| &recipient.mailbox).chain(refused.and_then(|(_, mailbox)| mailbox));
    Box::new(Refusal {
        at,
        stage,
        mail_from: mail_from.cloned(),
        rcpt_to: addresses.cloned().collect(),
        mailboxes: mailboxes.cloned().collect(),
        // Who the client is, whoever speaks with it knows.
        helo: None,
        peer: None,
        reply: reply.status(),
        fault: None,
    })
}
