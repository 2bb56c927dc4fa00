//! REST v2: one file for each resource. What an operation takes and answers is told once, by its [`About`] and by the
//! types in `wire`; the API's description is made from both.

mod about;
pub(crate) mod body;
pub(crate) mod compose;
pub(crate) mod delete_messages;
pub(crate) mod deliver;
pub(crate) mod etag;
pub(crate) mod export;
pub(crate) mod faults;
mod fields;
pub(crate) mod html;
pub(crate) mod inboxes;
pub(crate) mod login;
pub(crate) mod mailboxes;
pub(crate) mod message;
pub(crate) mod messages;
pub(crate) mod openapi;
pub(crate) mod params;
pub(crate) mod parts;
pub(crate) mod problems;
pub(crate) mod purge_all;
pub(crate) mod recent;
pub(crate) mod releases;
pub(crate) mod search;
pub(crate) mod server;
pub(crate) mod source;
pub(crate) mod tokens;
pub(crate) mod wait;
pub(crate) mod webhooks;
pub(crate) mod wire;
mod zip;

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use mailroom::Position;
use serde::Serialize;

use crate::asked::Asked;
use crate::problem::{Doing, Problem};
use crate::shared::{Shared, placed};

use etag::Tag;

pub(crate) use about::{About, Answer, Kind, Param, Shape};

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// An answer in JSON.
pub(crate) fn json(shared: &Shared, status: StatusCode, value: &impl Serialize) -> Result<Response, Problem> {
    let mut body = serde_json::to_vec(value).map_err(|error| {
        tracing::error!(%error, "an answer could not be written");
        Problem::internal()
    })?;
    body.push(b'\n');
    let place = shared.place(body.len())?;
    Ok((status, [(CONTENT_TYPE, JSON)], placed(body, place)).into_response())
}

/// Done, and nothing to tell.
pub(crate) fn done() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// The problem of an error while reading.
pub(crate) fn reading(error: mailroom::Error) -> Problem {
    Problem::of(&error, Doing::Reading)
}

/// The problem of an error while changing.
pub(crate) fn changing(error: mailroom::Error) -> Problem {
    Problem::of(&error, Doing::Changing)
}

/// The link to a message on the page.
pub(crate) fn page_url(shared: &Shared, asked: &Asked, mailbox: &str, id: mail::MessageId) -> String {
    page_url_at(&asked.base_url(shared), mailbox, id)
}

/// The same, where the page is known to be at this URL.
pub(crate) fn page_url_at(base_url: &str, mailbox: &str, id: mail::MessageId) -> String {
    format!("{base_url}/m/{}/{id}", crate::attachment::encoded(mailbox))
}

/// The Link field that leads to the next page.
pub(crate) fn next_link(shared: &Shared, asked: &Asked, next: &str) -> String {
    let rest = asked.query().split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("page="));
    let query: String = rest.map(|pair| format!("{pair}&")).collect();
    let (prefix, path) = (shared.guard.prefix(), asked.path_below(shared));
    format!("<{prefix}{path}?{query}page={}>; rel=\"next\"", crate::attachment::encoded(next))
}

/// The tag of a list: where the mailbox stands, the minute, and what was asked. Ageing moves no position, so the minute
/// lets it show.
pub(crate) fn list_tag(shared: &Shared, asked: &Asked, position: Position) -> Tag {
    let minute = shared.mailroom.now().as_second() / 60;
    let epoch = shared.mailroom.abilities().epoch;
    let asked = sum(asked.path_below(shared)) ^ sum(asked.query()).rotate_left(7) ^ (epoch ^ epoch >> 32) as u32;
    Tag::weak(&format!("{:x}-{minute:x}-{asked:x}", position.0))
}

/// A short sum: FNV-1a. It tells what one client asks for apart, no more.
fn sum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
