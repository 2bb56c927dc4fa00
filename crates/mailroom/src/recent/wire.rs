//! What nodes say to each other: questions and answers as octets. Nodes of two versions may be there at once: what one does
//! not understand it answers with nothing, and it counts as not answering.

use bytes::Bytes;
use jiff::Timestamp;
use mail::address::Charset;
use mail::{Address, Author, Mailbox, MessageId, ReversePath, Summary, TransactionId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use store::Item;

use crate::refusals::{ByFault, Refusal, Stage};
use crate::verdict::Status;

/// Of everything that is said here.
const FORM: u8 = 2;

/// Which of its recent mail a node is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct RecentQuestion {
    /// Only what came before this time, in microseconds, and under an earlier id at that time.
    pub(super) before: Option<(i64, u64)>,
    pub(super) limit: u32,
    /// Only what this finds, by its summary.
    pub(super) query: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct RecentAnswer {
    pub(super) items: Vec<Line>,
    pub(super) scanned: u64,
    pub(super) undecided: u64,
}

/// Which mailboxes a node is asked for: those it delivered to lately.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct NamesQuestion {
    pub(super) prefix: String,
    pub(super) after: Option<String>,
    /// Only names like this one.
    pub(super) like: Option<String>,
    pub(super) limit: u32,
}

/// Of which mailbox refusals are asked for, or of all.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct RefusalsQuestion {
    pub(super) mailbox: Option<String>,
    pub(super) limit: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct RefusalsAnswer {
    pub(super) items: Vec<Refused>,
    pub(super) forgotten: u64,
}

/// One message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    mailbox: String,
    id: u64,
    received_at: i64,
    size: u64,
    from: (String, String),
    subject: String,
    mail_from: Option<String>,
    rcpt_to: Vec<String>,
    transaction: u128,
    other_recipients: u32,
    expires: Option<i64>,
    tags: Vec<String>,
}

/// One refusal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Refused {
    at: i64,
    stage: u8,
    mail_from: Option<Option<String>>,
    rcpt_to: Vec<String>,
    mailboxes: Vec<String>,
    code: u16,
    enhanced: (u8, u16, u16),
    text: String,
    fault: Option<ByFault>,
}

const STAGES: [Stage; 3] = [Stage::Mail, Stage::Rcpt, Stage::Data];

pub(super) fn write<T: Serialize>(said: &T) -> Bytes {
    // What is said here are plain structures: writing them cannot fail.
    postcard::to_allocvec(&(FORM, said)).map(Bytes::from).unwrap_or_default()
}

pub(super) fn read<T: DeserializeOwned>(octets: &[u8]) -> Option<T> {
    let (form, said) = postcard::from_bytes::<(u8, T)>(octets).ok()?;
    (form == FORM).then_some(said)
}

impl Line {
    pub(crate) fn of(item: &Item) -> Self {
        let summary = &item.summary;
        Self {
            mailbox: item.mailbox.as_str().to_owned(),
            id: summary.id.number(),
            received_at: summary.received_at.as_microsecond(),
            size: summary.size,
            from: (summary.from.name.clone(), summary.from.email.clone()),
            subject: summary.subject.clone(),
            mail_from: summary.mail_from.0.as_ref().map(ToString::to_string),
            rcpt_to: summary.rcpt_to.iter().map(ToString::to_string).collect(),
            transaction: summary.transaction.number(),
            other_recipients: summary.other_recipients,
            expires: summary.expires.map(Timestamp::as_microsecond),
            tags: summary.tags.clone(),
        }
    }

    pub(crate) fn item(self) -> Option<Item> {
        let summary = Summary {
            id: MessageId::new(self.id),
            received_at: Timestamp::from_microsecond(self.received_at).ok()?,
            size: self.size,
            from: Author { name: self.from.0, email: self.from.1 },
            subject: self.subject,
            mail_from: ReversePath(self.mail_from.as_deref().map(address).transpose()?),
            rcpt_to: self.rcpt_to.iter().map(|text| address(text)).collect::<Option<_>>()?,
            transaction: TransactionId::new(self.transaction),
            other_recipients: self.other_recipients,
            expires: self.expires.map(Timestamp::from_microsecond).transpose().ok()?,
            tags: self.tags,
        };
        Some(Item { mailbox: Mailbox::from_canonical(&self.mailbox), summary: summary.into() })
    }
}

impl Refused {
    pub(super) fn of(refusal: &Refusal) -> Self {
        let mail_from = refusal.mail_from.as_ref().map(|path| path.0.as_ref().map(ToString::to_string));
        Self {
            at: refusal.at.as_microsecond(),
            stage: STAGES.iter().position(|stage| *stage == refusal.stage).unwrap_or_default() as u8,
            mail_from,
            rcpt_to: refusal.rcpt_to.iter().map(ToString::to_string).collect(),
            mailboxes: refusal.mailboxes.iter().map(ToString::to_string).collect(),
            code: refusal.reply.code,
            enhanced: refusal.reply.enhanced,
            text: refusal.reply.text.clone(),
            fault: refusal.fault.clone(),
        }
    }

    pub(super) fn refusal(self) -> Option<Refusal> {
        let mail_from = match self.mail_from {
            None => None,
            Some(path) => Some(ReversePath(path.as_deref().map(address).transpose()?)),
        };
        Some(Refusal {
            at: Timestamp::from_microsecond(self.at).ok()?,
            stage: *STAGES.get(usize::from(self.stage))?,
            mail_from,
            rcpt_to: self.rcpt_to.iter().map(|text| address(text)).collect::<Option<_>>()?,
            mailboxes: self.mailboxes.iter().map(|name| Mailbox::from_canonical(name)).collect(),
            // The node that it happened on tells these to those who follow it there.
            helo: None,
            peer: None,
            reply: Status { code: self.code, enhanced: self.enhanced, text: self.text },
            fault: self.fault,
        })
    }
}

/// A transposed `Option`, as a bad address spoils all of what it stands in.
trait Transpose<T> {
    fn transpose(self) -> Option<Option<T>>;
}

impl<T> Transpose<T> for Option<Option<T>> {
    fn transpose(self) -> Option<Option<T>> {
        match self {
            None => Some(None),
            Some(inner) => inner.map(Some),
        }
    }
}

fn address(text: &str) -> Option<Address> {
    Address::parse(text, Charset::Utf8).ok()
}
