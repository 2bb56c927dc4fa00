//! The shapes of REST v1 as bytes. Nothing is looked up here: what goes in comes out, in the order of the contract.
//! A mailbox comes in as it is spelled outside.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use mail::{Attachment, Summary, View};
use md5::{Digest, Md5};

use crate::attachment::{Link, link};
use crate::json::Json;

/// Keys, id, date and size of a summary; the rest of its bytes are its texts.
const SUMMARY_SIZE: usize = 144;

/// About how long the list will be.
pub(super) fn list_size(mailbox: &str, items: &[Arc<Summary>]) -> usize {
    2 + items.iter().map(|summary| summary_size(mailbox, summary)).sum::<usize>()
}

/// An array of summaries of one mailbox.
pub(super) fn list(mailbox: &str, items: &[Arc<Summary>]) -> Vec<u8> {
    let start = start(mailbox);
    let mut json = Json::with_capacity(list_size(mailbox, items));
    json.raw("[");
    json.list(items, |json, item| {
        summary(json.plain(&start), item);
        json.raw("}");
    });
    json.raw("]");
    json.finish()
}

/// A message: its summary, then what it holds.
pub(super) fn message(mailbox: &str, head: &Summary, view: &View, base_url: &str) -> Vec<u8> {
    let mut json = Json::with_capacity(message_size(mailbox, head, view));
    summary(json.plain(&start(mailbox)), head);
    json.raw(r#","body":{"text":"#).string(&view.text).raw(r#","html":"#).string(&view.html);
    json.raw(r#"},"header":{"#);
    json.list(by_name(&view.header), |json, (name, values)| {
        json.string(name).raw(":[");
        json.list(values, |json, value| _ = json.string(value));
        json.raw("]");
    });
    json.raw(r#"},"attachments":["#);
    json.list(view.attachments.iter().enumerate(), |json, (index, entry)| {
        attachment(json, entry, &Link { base_url, mailbox, id: head.id, index });
    });
    json.raw("]}");
    json.finish()
}

/// How each summary of a mailbox begins.
fn start(mailbox: &str) -> Vec<u8> {
    let mut json = Json::with_capacity(24 + mailbox.len());
    json.raw(r#"{"mailbox":"#).string(mailbox).raw(r#","id":""#);
    json.into_bytes()
}

/// The other fields of a summary, in an object that is left open. In few long pieces: a list has hundreds.
fn summary(json: &mut Json, summary: &Summary) {
    let mut id = *br#"0123456789abc","from":""#;
    id[..13].copy_from_slice(&summary.id.digits());
    json.plain(&id);
    // `Name <user@host>`, or the address alone.
    if summary.from.name.is_empty() {
        json.escaped(&summary.from.email).raw(r#"","subject":""#);
    } else {
        json.escaped(&summary.from.name).raw(" <").escaped(&summary.from.email).raw(r#">","subject":""#);
    }
    let mut date = *br#"","date":"2026-11-14T09:30:00.123456+00:00","size":"#;
    date[10..42].copy_from_slice(&mail::time::rfc3339(summary.received_at));
    json.escaped(&summary.subject).plain(&date).number(summary.size);
}

fn attachment(json: &mut Json, attachment: &Attachment, at: &Link<'_>) {
    json.raw(r#"{"filename":"#).string(&attachment.filename);
    json.raw(r#","content-type":"#).string(&attachment.content_type);
    json.raw(r#","download-link":"#).string(&link(at, "dattach", &attachment.filename));
    json.raw(r#","view-link":"#).string(&link(at, "vattach", &attachment.filename));
    json.raw(r#","md5":""#).plain(&hex(&Md5::digest(&attachment.content))).raw("\"}");
}

fn hex(digest: &[u8]) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    digest.iter().flat_map(|byte| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]).collect()
}

/// Names in order of first occurrence, each with its values in order. Linear, however many names there are.
fn by_name(header: &[(String, String)]) -> Vec<(&str, Vec<&str>)> {
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(header.len());
    let mut fields: Vec<(&str, Vec<&str>)> = Vec::with_capacity(header.len());
    for (name, value) in header {
        match places.entry(name) {
            Entry::Occupied(place) => fields[*place.get()].1.push(value),
            Entry::Vacant(place) => {
                place.insert(fields.len());
                fields.push((name, vec![value]));
            }
        }
    }
    fields
}

fn summary_size(mailbox: &str, summary: &Summary) -> usize {
    SUMMARY_SIZE + mailbox.len() + summary.from.name.len() + summary.from.email.len() + summary.subject.len()
}

/// Enough for nearly every message, so that the buffer grows at most once: each line end takes a byte more.
fn message_size(mailbox: &str, head: &Summary, view: &View) -> usize {
    let texts = view.text.len() + view.html.len();
    let header: usize = view.header.iter().map(|(name, value)| name.len() + value.len() + 10).sum();
    let attachments: usize = view.attachments.iter().map(|entry| 300 + 9 * entry.filename.len()).sum();
    summary_size(mailbox, head) + 64 + texts + texts / 16 + header + attachments
}
