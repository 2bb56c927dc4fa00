//! What a letter takes from the header: people, date, names. Of a field that stands twice the first counts, as in lists.

use super::defects;
use super::sent_at::SentAt;
use super::unsubscribe::Unsubscribe;
use crate::header::{self, Field};
use crate::summary::{self, Author};

/// Addresses that are read of one field.
pub const PEOPLE_MAX: usize = 1000;

/// Fields that a header may have once (RFC 5322 §3.6), of those that are read.
const SINGLE: [&str; 8] = ["From", "To", "Cc", "Bcc", "Reply-To", "Subject", "Date", "Message-ID"];

/// The header, read.
pub(super) struct Head {
    pub(super) from: Option<Author>,
    pub(super) to: Vec<Author>,
    pub(super) cc: Vec<Author>,
    pub(super) bcc: Vec<Author>,
    pub(super) reply_to: Vec<Author>,
    pub(super) subject: String,
    pub(super) message_id: Option<String>,
    pub(super) sent_at: Option<SentAt>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) unsubscribe: Option<Unsubscribe>,
    pub(super) defects: Vec<String>,
}

/// Read the header of a message.
pub(super) fn read(raw: &[u8]) -> Head {
    let fields: Vec<Field<'_>> = header::fields(raw).collect();
    let first = |name: &str| fields.iter().find(|field| field.is(name)).copied();
    let people = |name: &str| first(name).map(people).unwrap_or_default();
    let mut head = Head {
        from: first("From").and_then(summary::author),
        to: people("To"),
        cc: people("Cc"),
        bcc: people("Bcc"),
        reply_to: people("Reply-To"),
        subject: first("Subject").map(summary::text).unwrap_or_default(),
        message_id: first("Message-ID").and_then(message_id),
        sent_at: first("Date").and_then(|field| SentAt::read(&field.text())),
        headers: fields.iter().map(|field| (field.name.to_owned(), summary::text(*field))).collect(),
        unsubscribe: Unsubscribe::read(first("List-Unsubscribe"), first("List-Unsubscribe-Post")),
        defects: Vec::new(),
    };
    head.defects = broken(raw, &fields, &head);
    head
}

fn people(field: Field<'_>) -> Vec<Author> {
    header::authors(&field.text()).take(PEOPLE_MAX).collect()
}

/// `<id>`, or what stands there without brackets.
fn message_id(field: Field<'_>) -> Option<String> {
    let text = summary::text(field);
    let id = text.split_once('<').map_or(&*text, |(_, id)| id);
    let id = id.split('>').next()?.trim();
    (!id.is_empty()).then(|| id.to_owned())
}

fn broken(raw: &[u8], fields: &[Field<'_>], head: &Head) -> Vec<String> {
    let count = |name: &str| fields.iter().filter(|field| field.is(name)).count();
    let mut found: Vec<String> = SINGLE
        .iter()
        .map(|name| (name, count(name)))
        .filter(|(_, times)| *times > 1)
        .map(|(name, times)| defects::twice(name, times))
        .collect();
    if head.from.is_none() && count("From") > 0 {
        found.push(defects::unreadable("From", "an address such as Jane <jane@example.com>"));
    }
    if head.sent_at.is_none() && count("Date") > 0 {
        found.push(defects::unreadable("Date", "a date such as Sat, 14 Nov 2026 09:30:00 +0000"));
    }
    found.extend(defects::header_end(raw));
    found
}
