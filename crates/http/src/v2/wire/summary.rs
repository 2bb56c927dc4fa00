//! A message as lists show it.

use mail::{Author, Mailbox, Summary as Stored};
use mailroom::{Caller, Mailroom};
use serde::Serialize;
use utoipa::ToSchema;

use super::time;

/// A message as lists show it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    /// Its name in the mailbox; later ones are greater.
    #[schema(example = "1nbmq3r7c0v8h")]
    pub(crate) id: String,
    /// Where it lies.
    #[schema(example = "alice")]
    pub(crate) mailbox: String,
    /// When it was received.
    #[schema(format = DateTime)]
    pub(crate) received_at: String,
    /// Bytes of its source.
    pub(crate) size: u64,
    /// What SMTP said.
    pub(crate) envelope: Envelope,
    /// The first address of From, else the envelope's sender.
    pub(crate) from: Person,
    /// Decoded; empty when there is none.
    pub(crate) subject: String,
    /// Words put on it by policy or scripts.
    pub(crate) tags: Vec<String>,
    /// The same in every mailbox it went to; null where the caller may not know how it came.
    pub(crate) transaction: Option<String>,
    /// Recipients of the transaction that are not in `envelope`; null likewise.
    pub(crate) other_recipients: Option<u32>,
}

/// What SMTP said, which the header may contradict.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Envelope {
    /// MAIL FROM; null for the null sender.
    pub(crate) mail_from: Option<String>,
    /// The recipients that led here, and others of the transaction whose mailboxes the caller may list.
    pub(crate) rcpt_to: Vec<String>,
}

/// Somebody by name and address.
#[derive(Serialize, ToSchema)]
pub(crate) struct Person {
    /// The display name.
    pub(crate) name: Option<String>,
    /// The address; empty for the null sender.
    pub(crate) email: String,
}

impl Summary {
    /// A stored summary, as this caller may see it.
    pub(crate) fn told(mailroom: &Mailroom, caller: &Caller, mailbox: &Mailbox, stored: &Stored) -> Self {
        let others = mailroom.sees_transport(caller, mailbox).then_some(stored.other_recipients);
        Self::of(&mailroom.spelling(mailbox), stored, others)
    }

    /// A stored summary; the mailbox as it is spelled outside, and how many others got it where that is told.
    pub(crate) fn of(mailbox: &str, stored: &Stored, others: Option<u32>) -> Self {
        Self {
            id: stored.id.to_string(),
            mailbox: mailbox.to_owned(),
            received_at: time(stored.received_at),
            size: stored.size,
            envelope: Envelope {
                mail_from: stored.mail_from.0.as_ref().map(ToString::to_string),
                rcpt_to: stored.rcpt_to.iter().map(ToString::to_string).collect(),
            },
            from: Person::of(&stored.from),
            subject: stored.subject.clone(),
            tags: stored.tags.clone(),
            transaction: others.map(|_| stored.transaction.to_string()),
            other_recipients: others,
        }
    }
}

impl Person {
    pub(crate) fn of(author: &Author) -> Self {
        let name = (!author.name.is_empty()).then(|| author.name.clone());
        Self { name, email: author.email.clone() }
    }

    pub(crate) fn all(authors: &[Author]) -> Vec<Self> {
        authors.iter().map(Self::of).collect()
    }
}
