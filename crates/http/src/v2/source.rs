//! `GET /api/v2/mailboxes/{name}/messages/{id}/source`: the stored bytes, not one changed and none copied.

use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::etag::Tag;
use super::params::Params;
use super::{About, Answer, Shape, message};
use crate::asked::{Asked, mailbox, which};
use crate::problem::Problem;
use crate::shared::{Shared, placed};

pub(crate) const READ: About = About {
    id: "readSource",
    summary: "Read the source of a message",
    detail: "The bytes as they were stored, trace fields above them.",
    params: &[],
    bodies: &[],
    answers: &[Answer { status: 200, about: "The bytes.", media_type: "text/plain", shape: Shape::Text }],
    problems: &["bad-mailbox", "message-unknown"],
};

/// Without a charset: the bytes may be in any, or in several.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain");

pub(crate) async fn read(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name, _messages, id, _source] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    Params::read(asked, READ.params)?;
    let stored = message::find(shared, asked, &mailbox, which(id)?).await?;
    let tag = Tag::strong(&format!("{}-s", stored.summary.id));
    if let Some(known) = tag.known(asked) {
        return Ok(known);
    }
    let place = shared.place(stored.raw.len())?;
    Ok(tag.on(([(CONTENT_TYPE, TEXT)], placed(stored.raw, place)).into_response()))
}
