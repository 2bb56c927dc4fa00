//! `/api/v2/mailboxes/{name}/messages/{id}`: one message whole, and deleting it.

use axum::http::StatusCode;
use axum::response::Response;
use mail::{Letter, Mailbox, MessageId};
use mailroom::{Caller, Mailroom, Stored, Which};

use super::etag::Tag;
use super::params::Params;
use super::wire::message::{Message, Transport};
use super::wire::summary::Summary;
use super::{About, Answer, Shape, changing, done, json, page_url, reading};
use crate::asked::{Asked, mailbox, which};
use crate::problem::Problem;
use crate::shared::Shared;

pub(crate) const READ: About = About {
    id: "readMessage",
    summary: "Read a message",
    detail: "All of it, taken apart. `latest` for the id is the newest one there.",
    params: &[],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "The message.",
        media_type: "application/json",
        shape: Shape::of::<Message>(include_str!("examples/message.json")),
    }],
    problems: &["bad-mailbox", "message-unknown"],
};

pub(crate) const DELETE: About = About {
    id: "deleteMessage",
    summary: "Delete a message",
    detail: "`latest` for the id is the newest one there.",
    params: &[],
    bodies: &[],
    answers: &[Answer { status: 204, about: "It is gone.", media_type: "", shape: Shape::Nothing }],
    problems: &["bad-mailbox", "message-unknown"],
};

pub(crate) async fn read(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name, _messages, id] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    Params::read(asked, READ.params)?;
    let stored = find(shared, asked, &mailbox, which(id)?).await?;
    let tag = Tag::strong(&format!("{}-m", stored.summary.id));
    if let Some(known) = tag.known(asked) {
        return Ok(known);
    }
    Ok(tag.on(json(shared, StatusCode::OK, &whole(shared, asked, &mailbox, &stored).await)?))
}

pub(crate) async fn delete(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name, _messages, id] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    Params::read(asked, DELETE.params)?;
    match shared.mailroom.delete(&asked.caller, &mailbox, which(id)?).await {
        Ok(true) => Ok(done()),
        Ok(false) => Err(Problem::message_unknown()),
        Err(error) => Err(changing(error)),
    }
}

/// A message as it is stored.
pub(crate) async fn find(shared: &Shared, asked: &Asked, mailbox: &Mailbox, which: Which) -> Result<Stored, Problem> {
    let stored = shared.mailroom.read(&asked.caller, mailbox, which).await.map_err(reading)?;
    stored.ok_or_else(Problem::message_unknown)
}

/// A message whole; none when it is not there.
pub(super) async fn whole_by_id(
    shared: &Shared,
    asked: &Asked,
    mailbox: &Mailbox,
    id: MessageId,
) -> Result<Option<Message>, Problem> {
    let Some(stored) = shared.mailroom.read(&asked.caller, mailbox, Which::Id(id)).await.map_err(reading)? else {
        return Ok(None);
    };
    Ok(Some(whole(shared, asked, mailbox, &stored).await))
}

/// A message whole, as this caller may see it.
pub(crate) async fn whole(shared: &Shared, asked: &Asked, mailbox: &Mailbox, stored: &Stored) -> Message {
    let letter = shared.mailroom.letter(stored).await;
    told(shared, asked, mailbox, stored, &letter)
}

/// A message that was taken apart, as this caller may see it: of the transaction's other recipients only those whose
/// mailboxes it may list, and of the rest their number.
pub(crate) fn told(shared: &Shared, asked: &Asked, mailbox: &Mailbox, stored: &Stored, letter: &Letter) -> Message {
    let url = page_url(shared, asked, &shared.mailroom.spelling(mailbox), stored.summary.id);
    told_to(&shared.mailroom, &asked.caller, url, mailbox, stored, letter)
}

/// The same for whoever it is, with the link to it.
pub(crate) fn told_to(
    mailroom: &Mailroom,
    caller: &Caller,
    url: String,
    mailbox: &Mailbox,
    stored: &Stored,
    letter: &Letter,
) -> Message {
    let name = mailroom.spelling(mailbox);
    let seen = mailroom.seen(caller, mailbox, &stored.envelope);
    let others = seen.others.map(|others| u32::try_from(others).unwrap_or(u32::MAX));
    let mut summary = Summary::of(&name, &stored.summary, others);
    if !stored.envelope.recipients.is_empty() {
        summary.envelope.rcpt_to = seen.rcpt_to.iter().map(ToString::to_string).collect();
    }
    let transport = others.map(|others| Transport::of(stored.summary.transaction, others, &stored.envelope.transport));
    Message::of(summary, transport, letter, url)
}
