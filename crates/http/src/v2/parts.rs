//! `GET /api/v2/mailboxes/{name}/messages/{id}/parts/{partId}`: a part as a file, decoded. The bytes come from strangers,
//! so what goes with them is what goes with the attachments of v1 (T040, T042).

use axum::response::{IntoResponse, Response};
use mail::Letter;

use super::etag::Tag;
use super::params::Params;
use super::{About, Answer, Kind, Param, Shape, message};
use crate::asked::{Asked, mailbox, which};
use crate::attachment::{file_fields, passive};
use crate::problem::Problem;
use crate::shared::{Shared, placed};

pub(crate) const READ: About = About {
    id: "readPart",
    summary: "Read a part of a message",
    detail: "Its bytes, transfer encoding undone, to be saved. With view=true a type that no browser runs is named, so \
             that it can be shown; all others are bytes still.",
    params: &[Param::new("view", Kind::Flag, "Show it if that is safe.")],
    bodies: &[],
    answers: &[
        Answer { status: 200, about: "The bytes.", media_type: "application/octet-stream", shape: Shape::Bytes },
        Answer { status: 200, about: "The bytes.", media_type: "text/plain", shape: Shape::Bytes },
        Answer { status: 200, about: "The bytes.", media_type: "image/*", shape: Shape::Bytes },
        Answer { status: 200, about: "The bytes.", media_type: "audio/*", shape: Shape::Bytes },
        Answer { status: 200, about: "The bytes.", media_type: "video/*", shape: Shape::Bytes },
    ],
    problems: &["bad-mailbox", "message-unknown", "part-unknown"],
};

pub(crate) async fn read(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name, _messages, id, _parts, part_id] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    let is_viewed = Params::read(asked, READ.params)?.flag("view")?.unwrap_or(false);
    let stored = message::find(shared, asked, &mailbox, which(id)?).await?;
    let (raw, part_id, id) = (stored.raw, part_id.to_owned(), stored.summary.id);
    let tag = Tag::strong(&format!("{id}-p{}{}", sum(&part_id), if is_viewed { "v" } else { "" }));
    let place = shared.place(raw.len())?;
    let part = shared.work(raw.len(), move || Letter::part(&raw, &part_id)).await;
    let part = part.ok_or_else(Problem::part_unknown)?;
    if let Some(known) = tag.known(asked) {
        return Ok(known);
    }
    let shown_as = if is_viewed { passive(&part.content_type) } else { None };
    Ok(tag.on((file_fields(shown_as, &part.name), placed(part.content, place)).into_response()))
}

/// The name of a part that exists has digits and dots alone.
fn sum(part_id: &str) -> &str {
    let is_plain = !part_id.is_empty() && part_id.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_plain { part_id } else { "0" }
}
