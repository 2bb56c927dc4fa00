//! A message that was sent on to real people, or is to be: what is asked, what is written for the courier, and what is
//! kept of it, with the state for each recipient. How it is sent is the courier's business.

mod text;

use bytes::Bytes;
use jiff::Timestamp;
use mail::{Address, Mailbox, MessageId};
use serde::{Deserialize, Serialize};
use store::Job;

/// The kind of the jobs, and of the records.
pub const KIND: &str = "release";

/// How a release is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReleaseAsk {
    /// To whom.
    pub to: Vec<Address>,
    /// From whom the envelope says it is; none: `relay.from`, or whoever the message came from.
    pub from: Option<Address>,
}

/// What is written for the courier: all that it needs to know, but which message when a delivery carries it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Errand {
    /// Of the record.
    pub id: String,
    /// Where the message lies.
    #[serde(with = "text")]
    pub mailbox: Mailbox,
    /// Which one it is; none: the one that came with the job.
    #[serde(with = "text::perhaps")]
    pub message: Option<MessageId>,
    /// For people, who may look when the message is gone.
    pub subject: String,
    /// Of the envelope; none is the null sender.
    #[serde(with = "text::perhaps")]
    pub sender: Option<Address>,
    /// To whom.
    #[serde(with = "text::list")]
    pub to: Vec<Address>,
    /// When it was asked for.
    #[serde(with = "text")]
    pub created_at: Timestamp,
    /// The token that asked, by its name.
    pub by: Option<String>,
    /// The rule that asked, by its name.
    pub rule: Option<String>,
}

/// What is kept of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Release {
    /// What it goes by; those that were asked for later have greater ones.
    pub id: String,
    /// Where the message lay.
    #[serde(with = "text")]
    pub mailbox: Mailbox,
    /// Which one it was.
    #[serde(with = "text")]
    pub message: MessageId,
    /// Its subject.
    pub subject: String,
    /// The sender of the envelope; none is the null sender.
    #[serde(with = "text::perhaps")]
    pub sender: Option<Address>,
    /// When it was asked for.
    #[serde(with = "text")]
    pub created_at: Timestamp,
    /// The token that asked, by its name.
    pub by: Option<String>,
    /// The rule that asked, by its name.
    pub rule: Option<String>,
    /// Each with a state of its own.
    pub recipients: Vec<Sending>,
}

/// How far it came for one recipient.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sending {
    /// To whom.
    #[serde(with = "text")]
    pub address: Address,
    /// How far.
    pub state: State,
    /// How often it was tried.
    pub attempts: u32,
    /// The last word of the smart host, or why there was none.
    pub reply: Option<String>,
    /// When that was.
    #[serde(with = "text::perhaps")]
    pub at: Option<Timestamp>,
    /// When it is tried again.
    #[serde(with = "text::perhaps")]
    pub next_at: Option<Timestamp>,
}

/// How far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is to be sent.
    Queued,
    /// The smart host has it.
    Sent,
    /// It will not be sent.
    Failed,
}

/// How far all of it came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overall {
    /// Nothing was tried yet.
    Queued,
    /// Something was tried and something is left.
    Sending,
    /// All have it.
    Done,
    /// Nobody has it, and nobody will.
    Failed,
    /// Some have it, and the others will not.
    Partial,
}

impl Errand {
    /// As a job carries it.
    pub(crate) fn write(&self) -> Bytes {
        serde_json::to_vec(self).expect("texts and numbers can be written").into()
    }

    /// The release that a job asks for, before anything was tried; none for a job that nobody here wrote.
    pub fn of(job: &Job) -> Option<Release> {
        let errand: Self = serde_json::from_slice(&job.payload).ok()?;
        let came = || job.messages.iter().find(|filed| filed.mailbox == errand.mailbox).map(|filed| filed.id);
        let message = errand.message.or_else(came)?;
        Some(errand.begin(message))
    }

    /// As it is kept, before anything was tried.
    pub(crate) fn begin(self, message: MessageId) -> Release {
        let queued =
            |address| Sending { address, state: State::Queued, attempts: 0, reply: None, at: None, next_at: None };
        let Self { id, mailbox, subject, sender, to, created_at, by, rule, .. } = self;
        let recipients = to.into_iter().map(queued).collect();
        Release { id, mailbox, message, subject, sender, created_at, by, rule, recipients }
    }
}

impl Release {
    pub(crate) fn write(&self) -> Bytes {
        serde_json::to_vec(self).expect("texts and numbers can be written").into()
    }

    pub(crate) fn read(value: &[u8]) -> Option<Self> {
        serde_json::from_slice(value).ok()
    }

    /// How far all of it came.
    pub fn overall(&self) -> Overall {
        let count = |state| self.recipients.iter().filter(|one| one.state == state).count();
        match (count(State::Queued), count(State::Sent), count(State::Failed)) {
            (0, _, 0) => Overall::Done,
            (0, 0, _) => Overall::Failed,
            (0, _, _) => Overall::Partial,
            _ if self.recipients.iter().all(|one| one.attempts == 0) => Overall::Queued,
            _ => Overall::Sending,
        }
    }

    /// What two who had it in hand know together: who has it has it, whatever the other says.
    pub(crate) fn merge(&mut self, other: &Self) {
        for one in &mut self.recipients {
            let sent = |known: &&Sending| known.address == one.address && known.state == State::Sent;
            if let Some(known) = other.recipients.iter().find(sent).filter(|_| one.state != State::Sent) {
                *one = known.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests;
