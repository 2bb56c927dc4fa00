//! A message as the memory engine holds it, and what it is charged for.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use mail::{Address, Envelope, Mailbox, Summary};

use crate::delivery::{Delivery, Sorted};
use crate::outbox::NewJob;

use super::settings::Settings;

// What is charged beside the bytes themselves, measured so that a store full of the smallest messages takes what it says.

/// Charged for each mailbox that holds mail.
pub(super) const FOLDER_WEIGHT: u64 = 768;
/// Charged for each copy beside its texts: the summary and its entries in the indexes.
const COPY_WEIGHT: u64 = 1024;
/// Charged for each message beside its bytes and recipients.
const PARCEL_WEIGHT: u64 = 256;

/// A time of the clock in microseconds; [`NEVER`] is later than all of them.
pub(super) type Micros = i64;

/// No deadline.
pub(super) const NEVER: Micros = Micros::MAX;

/// What all copies of a message share. Held once, and by the copies alone: readers hold its two parts.
pub(super) struct Parcel {
    pub(super) raw: Bytes,
    pub(super) envelope: Arc<Envelope>,
    pub(super) weight: u64,
}

/// One copy in its mailbox.
pub(super) struct Kept {
    pub(super) summary: Arc<Summary>,
    pub(super) parcel: Arc<Parcel>,
    /// Charged for this copy alone, without the parcel.
    pub(super) weight: u64,
    /// From here on it is not there any more.
    pub(super) deadline: Micros,
}

impl Kept {
    /// What its mailbox is charged: a shared parcel counts whole in each.
    pub(super) fn charge(&self) -> u64 {
        self.parcel.weight + self.weight
    }

    pub(super) fn is_live(&self, now: Micros) -> bool {
        now < self.deadline
    }
}

/// A delivery with everything allocated that can be before the lock is taken; only the ids are missing.
pub(super) struct Draft {
    pub(super) copies: Vec<(Mailbox, Kept)>,
    pub(super) jobs: Vec<NewJob>,
    /// What the store is charged, without its mailboxes.
    pub(super) weight: u64,
}

impl Draft {
    /// What it takes by itself in an empty store.
    pub(super) fn weight_alone(&self) -> u64 {
        self.weight + FOLDER_WEIGHT * self.copies.len() as u64
    }

    pub(super) fn of(delivery: Delivery, settings: &Settings) -> Self {
        let received_at = delivery.received_at;
        let Sorted { raw, envelope, copies, jobs } = delivery.sort();
        let weight = PARCEL_WEIGHT + raw.len() as u64 + weight_of(&envelope);
        let parcel = Arc::new(Parcel { raw, envelope, weight });
        let aged = settings.retention.map_or(NEVER, |age| {
            received_at.as_microsecond().saturating_add(Micros::try_from(age.as_micros()).unwrap_or(NEVER))
        });
        let keep = |(mailbox, summary): (Mailbox, Summary)| {
            let weight = COPY_WEIGHT + texts_of(&summary, &mailbox);
            let deadline = summary.expires.map_or(NEVER, Timestamp::as_microsecond).min(aged);
            (mailbox, Kept { summary: Arc::new(summary), parcel: Arc::clone(&parcel), weight, deadline })
        };
        let copies: Vec<_> = copies.into_iter().map(keep).collect();
        let weight = weight + copies.iter().map(|(_, kept)| kept.weight).sum::<u64>();
        Self { copies, jobs, weight }
    }
}

fn weight_of(envelope: &Envelope) -> u64 {
    let transport = &envelope.transport;
    let texts = [Some(&transport.helo), transport.tls.as_ref(), transport.auth_user.as_ref()];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    let recipients: u64 = envelope
        .recipients
        .iter()
        .map(|recipient| {
            (size_of_val(recipient) + recipient.mailbox.as_str().len()) as u64 + text_of(&recipient.address)
        })
        .sum();
    texts as u64 + recipients
}

fn texts_of(summary: &Summary, mailbox: &Mailbox) -> u64 {
    let words: usize = summary.tags.iter().map(|tag| size_of_val(tag) + tag.len()).sum();
    let texts = summary.subject.len() + summary.from.name.len() + summary.from.email.len() + mailbox.as_str().len();
    let addresses = summary.mail_from.0.iter().chain(&summary.rcpt_to).map(text_of).sum::<u64>();
    (words + texts) as u64 + addresses
}

fn text_of(address: &Address) -> u64 {
    (size_of_val(address) + address.local().len() + address.domain().len()) as u64
}
