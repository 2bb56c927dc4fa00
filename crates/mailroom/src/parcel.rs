//! A message on its way in, and how it is sorted into mailboxes. Pure: it asks nobody and stores nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use mail::summary::RCPT_MAX;
use mail::{Digest, Envelope, Mailbox, Recipient};
use store::{Copy, Delivery, Filed};

/// A message as an edge hands it in: complete, trace fields on top, header not yet read.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// The bytes to store.
    pub raw: Bytes,
    /// The envelope: only recipients that were accepted or discarded, each with its mailbox.
    pub envelope: Arc<Envelope>,
    /// The recipients of `envelope`, by index, whose verdict was to discard.
    pub discarded: Vec<usize>,
    /// When it was received.
    pub received_at: Timestamp,
}

/// What became of a parcel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivered {
    /// Where it was put; empty when all of it was discarded.
    pub filed: Vec<Filed>,
    /// Wait so long before telling it.
    pub delay: Option<Duration>,
}

impl Parcel {
    /// What the engine is to append; without a copy when all of it was discarded.
    pub(crate) fn sort(mut self) -> Delivery {
        self.discarded.sort_unstable();
        let copies = copies(&self.envelope.recipients, &self.discarded);
        Delivery {
            digest: Digest::of(&self.raw),
            raw: self.raw,
            envelope: self.envelope,
            received_at: self.received_at,
            copies,
            tags: Vec::new(),
            jobs: Vec::new(),
        }
    }
}

/// One copy for each mailbox, however many recipients lead to it, in the order in which the mailboxes were first named.
fn copies(recipients: &[Recipient], discarded: &[usize]) -> Vec<Copy> {
    let mut copies: Vec<Copy> = Vec::new();
    let mut places: HashMap<&Mailbox, usize> = HashMap::new();
    for (index, recipient) in recipients.iter().enumerate() {
        if discarded.binary_search(&index).is_ok() {
            continue;
        }
        // Nearly all mail has one recipient: no table for that.
        let place = match recipients.len() {
            1 => 0,
            _ => *places.entry(&recipient.mailbox).or_insert(copies.len()),
        };
        if place == copies.len() {
            copies.push(empty(&recipient.mailbox));
        }
        let led_here = &mut copies[place].rcpt_to;
        if led_here.len() < RCPT_MAX {
            led_here.push(recipient.address.clone());
        }
    }
    for copy in &mut copies {
        copy.other_recipients = u32::try_from(recipients.len() - copy.rcpt_to.len()).unwrap_or(u32::MAX);
    }
    copies
}

/// A copy that every recipient leads to.
pub(crate) fn copy_for_all(mailbox: Mailbox, recipients: &[Recipient]) -> Copy {
    let rcpt_to: Vec<_> = recipients.iter().take(RCPT_MAX).map(|recipient| recipient.address.clone()).collect();
    let other_recipients = u32::try_from(recipients.len() - rcpt_to.len()).unwrap_or(u32::MAX);
    Copy { mailbox, rcpt_to, other_recipients, expires: None }
}

fn empty(mailbox: &Mailbox) -> Copy {
    Copy { mailbox: mailbox.clone(), rcpt_to: Vec::with_capacity(1), other_recipients: 0, expires: None }
}

#[cfg(test)]
mod tests;
