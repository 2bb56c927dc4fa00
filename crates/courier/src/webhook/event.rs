//! An event as it is posted: `{"type": …, "timestamp": …, "data": {…}}`. The same bytes at every attempt, as long as the
//! message is there.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use mail::{Mailbox, MessageId, Summary};
use mailroom::Job;
use mailroom::outgoing::webhook::{Event, Note};
use serde_json::{Value, json};

use super::Detail;

/// Puts messages into the words of the API, as whoever asks there is shown them.
#[async_trait]
pub trait Words: Send + Sync + 'static {
    /// A mailbox's name, as it is spelled outside.
    fn mailbox(&self, mailbox: &Mailbox) -> String;

    /// A message as lists show it.
    fn summary(&self, mailbox: &Mailbox, summary: &Summary) -> Value;

    /// A message whole; none when it has gone.
    ///
    /// # Errors
    /// It could not be read for now.
    async fn message(&self, mailbox: &Mailbox, id: MessageId) -> mailroom::Result<Option<Value>>;
}

/// The kind of an event, for its receiver.
fn kind(event: Event) -> &'static str {
    match event {
        Event::Deliver => "message.delivered",
        Event::Delete => "message.deleted",
        Event::Purge => "mailbox.purged",
    }
}

/// The body that tells a note; none when there is nothing to tell, as all that was to be deleted had gone before.
pub(super) async fn body(words: &dyn Words, note: &Note, job: &Job, detail: Detail) -> mailroom::Result<Option<Bytes>> {
    let mailbox = words.mailbox(&note.mailbox);
    let ids = job.messages.iter().filter(|filed| filed.mailbox == note.mailbox).map(|filed| filed.id);
    let data = match (note.event, &note.summary) {
        (Event::Purge, _) => json!({ "mailbox": mailbox }),
        (Event::Delete, _) => {
            let ids: Vec<_> = ids.map(|id| id.to_string()).collect();
            if ids.is_empty() {
                return Ok(None);
            }
            json!({ "mailbox": mailbox, "ids": ids })
        }
        (Event::Deliver, summary) => {
            let mut ids = ids;
            let (Some(id), Some(summary)) = (ids.next(), summary) else { return Ok(None) };
            let whole = match detail {
                Detail::Message => words.message(&note.mailbox, id).await?,
                Detail::Summary => None,
            };
            let message = whole.unwrap_or_else(|| {
                let mut summary = Arc::clone(summary);
                Arc::make_mut(&mut summary).id = id;
                words.summary(&note.mailbox, &summary)
            });
            json!({ "mailbox": mailbox, "id": id.to_string(), "message": message })
        }
    };
    Ok(Some(written(kind(note.event), &note.at.to_string(), data)))
}

/// An event that says nothing but that it arrived.
pub(super) fn trial(name: &str, at: jiff::Timestamp) -> Bytes {
    written("webhook.tried", &at.to_string(), json!({ "target": name }))
}

fn written(kind: &str, at: &str, data: Value) -> Bytes {
    json!({ "type": kind, "timestamp": at, "data": data }).to_string().into()
}
