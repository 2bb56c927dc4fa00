//! Messages for the suite, told in a word or two.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use mail::address::Charset;
use mail::{Address, Author, Digest, Door, Envelope, Mailbox, Recipient, ReversePath, TransactionId, Transport};

use crate::delivery::{Copy, Delivery};
use crate::outbox::NewJob;

/// A message to be appended: its subject is what a check knows it by.
#[derive(Clone, Debug)]
pub struct Letter {
    subject: String,
    /// Its bytes, when it is not made up.
    raw: Option<Bytes>,
    to: Vec<Mailbox>,
    size: usize,
    received_at: Option<Timestamp>,
    expires: Option<Timestamp>,
    jobs: Vec<NewJob>,
}

/// The mailbox of this canonical name.
pub(super) fn mailbox(name: &str) -> Mailbox {
    Mailbox::from_canonical(name)
}

/// A job of a kind, to be done at once.
pub(super) fn job(kind: &str, payload: &'static str) -> NewJob {
    NewJob::new(kind, payload)
}

impl Letter {
    /// A small message with this subject to these mailboxes.
    pub fn new(subject: impl Into<String>, to: &[&str]) -> Self {
        let to = to.iter().map(|name| mailbox(name)).collect();
        let subject = subject.into();
        Self { subject, raw: None, to, size: 0, received_at: None, expires: None, jobs: Vec::new() }
    }

    /// This message to a mailbox.
    pub fn of(raw: &'static str, to: &str) -> Self {
        let digest = Digest::of(raw.as_bytes());
        Self { raw: Some(Bytes::from_static(raw.as_bytes())), ..Self::new(digest.subject, &[to]) }
    }

    /// Of this many bytes, if that is more than it has anyway.
    pub fn size(self, size: usize) -> Self {
        Self { size, ..self }
    }

    /// Received then, not now.
    pub fn received_at(self, at: Timestamp) -> Self {
        Self { received_at: Some(at), ..self }
    }

    /// To go by itself at a time.
    pub fn expires(self, at: Timestamp) -> Self {
        Self { expires: Some(at), ..self }
    }

    /// With a job.
    pub fn job(mut self, job: NewJob) -> Self {
        self.jobs.push(job);
        self
    }

    /// The bytes it is stored as: every value of a byte is among them, and an engine that packs them gains nothing.
    pub fn raw(&self) -> Bytes {
        if let Some(raw) = &self.raw {
            return raw.clone();
        }
        let mut raw = format!("From: Ann <ann@shop.test>\r\nSubject: {}\r\n\r\n", self.subject).into_bytes();
        raw.extend(0..=255u8);
        let least = raw.len();
        let mut state = self.subject.len() as u64 + 1;
        while raw.len() < self.size {
            // xorshift64: as good as chance here, and the same every time.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            raw.extend(state.to_le_bytes());
        }
        raw.truncate(self.size.max(least));
        raw.into()
    }

    /// Its envelope: a recipient for each mailbox, and one that led to the first by another address.
    pub fn envelope(&self) -> Envelope {
        let mut recipients: Vec<_> = self.to.iter().map(|to| recipient(to, &format!("{to}@example.com"))).collect();
        if let Some(first) = self.to.first() {
            recipients.push(recipient(first, &format!("{first}+tag@example.org")));
        }
        Envelope {
            transaction: TransactionId::new(self.subject.len() as u128 + 7),
            reverse_path: ReversePath(Some(address("bounce@shop.test"))),
            recipients,
            transport: Transport {
                door: Door::Esmtp,
                utf8: false,
                helo: "app.shop.test".to_owned(),
                peer: Some([192, 0, 2, 7].into()),
                tls: Some("TLSv1.3".to_owned()),
                auth_user: Some("ann".to_owned()),
            },
        }
    }

    fn digest(&self, raw: &[u8]) -> Digest {
        if self.raw.is_some() {
            return Digest::of(raw);
        }
        let from = Author { name: "Ann".to_owned(), email: "ann@shop.test".to_owned() };
        Digest { from: Some(from), subject: self.subject.clone() }
    }

    /// The delivery, received now unless it says otherwise.
    pub fn delivery(&self, now: Timestamp) -> Delivery {
        let envelope = self.envelope();
        let copy = |to: &Mailbox| {
            let rcpt_to: Vec<_> = envelope
                .recipients
                .iter()
                .filter(|other| other.mailbox == *to)
                .map(|own| own.address.clone())
                .collect();
            let other_recipients = (envelope.recipients.len() - rcpt_to.len()) as u32;
            Copy { mailbox: to.clone(), rcpt_to, other_recipients, expires: self.expires }
        };
        let raw = self.raw();
        Delivery {
            digest: self.digest(&raw),
            raw,
            received_at: self.received_at.unwrap_or(now),
            copies: self.to.iter().map(copy).collect(),
            envelope: Arc::new(envelope),
            tags: vec!["suite".to_owned()],
            jobs: self.jobs.clone(),
        }
    }
}

fn recipient(to: &Mailbox, text: &str) -> Recipient {
    Recipient { address: address(text), mailbox: to.clone() }
}

fn address(text: &str) -> Address {
    Address::parse(text, Charset::Utf8).expect("the suite writes good addresses")
}
