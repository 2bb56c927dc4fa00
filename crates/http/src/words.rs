//! Messages in the words of v2, for others than those who ask over HTTP: webhooks tell what the API would show.

use mail::{Mailbox, MessageId, Summary};
use mailroom::{Caller, Mailroom, Which};
use serde_json::Value;

use crate::v2;
use crate::v2::wire::summary::Summary as Told;

/// A message as lists show it.
pub fn summary(mailroom: &Mailroom, mailbox: &Mailbox, summary: &Summary) -> Value {
    let told = Told::told(mailroom, &Caller::Program, mailbox, summary);
    serde_json::to_value(told).unwrap_or_default()
}

/// A message whole, with links that begin with this; none when it is not there.
///
/// # Errors
/// It cannot be read.
pub async fn message(
    mailroom: &Mailroom,
    base_url: &str,
    mailbox: &Mailbox,
    id: MessageId,
) -> mailroom::Result<Option<Value>> {
    let Some(stored) = mailroom.read(&Caller::Program, mailbox, Which::Id(id)).await? else { return Ok(None) };
    let letter = mailroom.letter(&stored).await;
    let url = v2::page_url_at(base_url, &mailroom.spelling(mailbox), id);
    let told = v2::message::told_to(mailroom, &Caller::Program, url, mailbox, &stored, &letter);
    Ok(Some(serde_json::to_value(told).unwrap_or_default()))
}
