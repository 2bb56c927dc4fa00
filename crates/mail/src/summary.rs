//! What a list shows of a message, made once from its header when it arrives and never from its body.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::address::Address;
use crate::envelope::ReversePath;
use crate::header::{self, Field};
use crate::id::{MessageId, TransactionId};

#[cfg(test)]
mod tests;

/// The recipients that led to a mailbox are kept in the summary up to this many; the envelope has them all.
pub const RCPT_MAX: usize = 4;

/// The first address of the From field, decoded to UTF-8.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Author {
    /// The display name; empty when there is none.
    pub name: String,
    /// The address; empty for the null sender.
    pub email: String,
}

/// What the header says that a list needs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Digest {
    /// The first address of From; none when the field is absent or unreadable.
    pub from: Option<Author>,
    /// Subject, decoded; empty when absent.
    pub subject: String,
}

/// One message in one mailbox, as lists show it. The fields are those of the first stored format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    /// Its name in the mailbox.
    pub id: MessageId,
    /// When it was received, to the microsecond.
    pub received_at: Timestamp,
    /// Length of the stored bytes, trace fields included.
    pub size: u64,
    /// The first address of From, else the envelope's sender.
    pub from: Author,
    /// Subject, decoded; empty when absent.
    pub subject: String,
    /// MAIL FROM.
    pub mail_from: ReversePath,
    /// The recipients that led to this mailbox, at most [`RCPT_MAX`].
    pub rcpt_to: Vec<Address>,
    /// The transaction it came by.
    pub transaction: TransactionId,
    /// How many recipients of the transaction are not in `rcpt_to`.
    pub other_recipients: u32,
    /// When it goes by itself, earlier than retention would have it.
    pub expires: Option<Timestamp>,
    /// Words put on it by policy or scripts.
    pub tags: Vec<String>,
}

impl Author {
    /// As REST v1 shows it: `Name <user@host>`, or the address alone.
    pub fn display(&self) -> String {
        if self.name.is_empty() { self.email.clone() } else { format!("{} <{}>", self.name, self.email) }
    }
}

impl Digest {
    /// Read the header of a message, as far as a list needs it: linear, bounded, total.
    ///
    /// Of a field that stands twice the first counts. The texts hold no control character, whatever was encoded.
    pub fn of(raw: &[u8]) -> Self {
        let (mut from, mut subject) = (None, None);
        for field in header::fields(raw) {
            if from.is_none() && field.is("From") {
                from = Some(field);
            } else if subject.is_none() && field.is("Subject") {
                subject = Some(field);
            }
            if from.is_some() && subject.is_some() {
                break;
            }
        }
        Self { from: from.and_then(author), subject: subject.map(text).unwrap_or_default() }
    }
}

pub(crate) fn author(field: Field<'_>) -> Option<Author> {
    header::first_author(&String::from_utf8_lossy(&header::unfold(field.value)))
}

/// The decoded text of a field. Printable ASCII without encoded words, which most are, is copied and no more.
pub(crate) fn text(field: Field<'_>) -> String {
    let is_plain = field.value.iter().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain && memchr::memmem::find(field.value, b"=?").is_none() {
        return String::from_utf8_lossy(field.value).into_owned();
    }
    match header::unfold(field.value) {
        Cow::Borrowed(flat) => clean(header::decode_words(flat)),
        Cow::Owned(flat) => clean(header::decode_words(&flat)),
    }
}

/// Control characters become spaces, and white space around the text goes.
pub(crate) fn clean(mut text: String) -> String {
    if text.contains(char::is_control) {
        text = text.replace(char::is_control, " ");
    }
    let trimmed = text.trim();
    if trimmed.len() == text.len() { text } else { trimmed.to_owned() }
}
