//! Where others have a say: what is asked before mail is taken, and what is told afterwards.
//!
//! The mailroom knows neither who answers nor how: a script, or a test. Whoever does is asked behind `access`, and can
//! neither give a caller more than that gives, nor touch what was stored.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;
use mail::{Address, Author, Digest, Envelope, Mailbox, Recipient, ReversePath, Summary};

use crate::caller::Caller;
use crate::verdict::Verdict;

/// When somebody may have a say, so that nothing is made ready where nobody listens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// A sender is named.
    MailFrom,
    /// A recipient is named.
    RcptTo,
    /// A message is there whole, and not kept yet.
    Message,
    /// A message is kept.
    Delivered,
    /// A message was deleted.
    Deleted,
}

/// A transaction as far as it has come.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// Who brings it.
    pub caller: &'a Caller,
    /// What the client calls itself, where it does.
    pub helo: Option<&'a str>,
    /// Its sender.
    pub sender: &'a ReversePath,
    /// The recipients that were taken so far.
    pub accepted: &'a [Recipient],
}

impl<'a> Visit<'a> {
    /// Of somebody who has said no more than this.
    pub fn of(caller: &'a Caller, sender: &'a ReversePath) -> Self {
        Self { caller, helo: None, sender, accepted: &[] }
    }
}

/// What is thought of a sender or a recipient.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Opinion {
    /// None: policy decides.
    Defer,
    /// It is taken, whatever policy says of its domain.
    Allow,
    /// This.
    Judge(Verdict),
}

/// A message that is there whole, and where it would go.
#[derive(Clone, Debug)]
pub struct Arriving {
    /// Its bytes, trace fields on top.
    pub raw: Bytes,
    /// What SMTP said.
    pub envelope: Arc<Envelope>,
    /// What its header says.
    pub digest: Digest,
    /// When it was received.
    pub received_at: Timestamp,
    /// The mailboxes that it would go to; none when all of it would be thrown away.
    pub mailboxes: Vec<Mailbox>,
}

/// What is to be done with a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handling {
    /// Whether it is taken. To discard it is to keep it nowhere.
    pub verdict: Verdict,
    /// Where it goes instead; the same mailbox twice is once.
    pub mailboxes: Option<Vec<Mailbox>>,
    /// Words that are put on it.
    pub tags: Vec<String>,
    /// Whom lists show as its author, instead of what the header says.
    pub from: Option<Author>,
    /// What lists show as its subject, instead of what the header says.
    pub subject: Option<String>,
}

impl Handling {
    /// As it would be without anybody's say.
    pub const USUAL: Self =
        Self { verdict: Verdict::ACCEPT, mailboxes: None, tags: Vec::new(), from: None, subject: None };

    /// Nothing but this verdict.
    pub fn judged(verdict: Verdict) -> Self {
        Self { verdict, ..Self::USUAL }
    }
}

/// Something that has happened.
#[derive(Clone, Debug)]
pub enum After {
    /// A message is kept in a mailbox.
    Delivered(Mailbox, Arc<Summary>),
    /// A message was deleted from a mailbox.
    Deleted(Mailbox, Arc<Summary>),
}

/// Somebody who has a say.
#[async_trait]
pub trait Hooks: Send + Sync + 'static {
    /// Whether there is anything to say or to hear at such a moment.
    fn wants(&self, moment: Moment) -> bool;

    /// Of a sender.
    async fn mail_from(&self, visit: &Visit<'_>) -> Opinion;

    /// Of a recipient, who is not among the accepted ones yet.
    async fn rcpt_to(&self, visit: &Visit<'_>, recipient: &Address) -> Opinion;

    /// Of a message.
    async fn message(&self, arriving: Arriving) -> Handling;

    /// Told what this node did. It is not waited for: whoever hears it must take it down at once, and may lose it.
    fn after(&self, after: After);
}

#[cfg(test)]
mod tests;
