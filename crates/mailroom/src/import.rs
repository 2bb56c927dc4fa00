//! A message that was received before, here or elsewhere, on its way into one mailbox. Pure: it asks nobody and stores
//! nothing.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use mail::address::{Charset, Path, path};
use mail::summary::RCPT_MAX;
use mail::{
    Address, Digest, Door, Envelope, Mailbox, Naming, Recipient, ReversePath, TransactionId, Transport, header,
};
use store::{Copy, Delivery};

/// A message as it is imported: nothing is written above it, no policy is asked, no hook is run.
#[derive(Clone, Debug)]
pub struct Import {
    /// Where it goes.
    pub mailbox: Mailbox,
    /// The bytes, which are kept as they are.
    pub raw: Bytes,
    /// When it was received. What lies in the future is taken for now.
    pub received_at: Timestamp,
    /// MAIL FROM; none: what its Return-Path field says.
    pub mail_from: Option<ReversePath>,
    /// RCPT TO, as far as it is known.
    pub rcpt_to: Vec<Address>,
}

impl Import {
    /// What the engine is to append.
    pub(crate) fn sort(self, transaction: TransactionId, naming: Naming, now: Timestamp) -> Delivery {
        let leads_to = |address: Address| Some(Recipient { mailbox: naming.mailbox(&address).ok()?, address });
        let recipients: Vec<Recipient> = self.rcpt_to.into_iter().filter_map(leads_to).collect();
        let led_here = recipients.iter().filter(|recipient| recipient.mailbox == self.mailbox);
        let rcpt_to: Vec<Address> = led_here.map(|recipient| recipient.address.clone()).take(RCPT_MAX).collect();
        let copy = Copy {
            other_recipients: u32::try_from(recipients.len() - rcpt_to.len()).unwrap_or(u32::MAX),
            mailbox: self.mailbox,
            rcpt_to,
            expires: None,
        };
        let envelope = Envelope {
            transaction,
            reverse_path: self.mail_from.unwrap_or_else(|| return_path(&self.raw)),
            recipients,
            transport: Transport {
                door: Door::Import,
                utf8: false,
                helo: String::new(),
                peer: None,
                tls: None,
                auth_user: None,
            },
        };
        Delivery {
            digest: Digest::of(&self.raw),
            raw: self.raw,
            envelope: Arc::new(envelope),
            received_at: self.received_at.min(now),
            copies: vec![copy],
            tags: Vec::new(),
            jobs: Vec::new(),
        }
    }
}

/// The sender as the last server on the way wrote it down (RFC 5321 §4.4); nobody when it did not.
fn return_path(raw: &[u8]) -> ReversePath {
    let field = header::fields(raw).find(|field| field.is("Return-Path"));
    match field.map(|field| path(field.value, Charset::Utf8)) {
        Some(Ok((Path::Address(address), _))) => ReversePath(Some(address)),
        _ => ReversePath(None),
    }
}

#[cfg(test)]
mod tests;
