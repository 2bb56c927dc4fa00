//! REST v2: one file for each resource. What an operation takes and answers is told once, by its [`About`] and by the
//! types in `wire`; the API's description is made from both.

#![allow(dead_code, reason = "what the resources to come need lies here already")]

mod about;
pub(crate) mod body;
pub(crate) mod delete_messages;
mod etag;
mod fields;
pub(crate) mod inboxes;
pub(crate) mod login;
pub(crate) mod message;
pub(crate) mod messages;
pub(crate) mod openapi;
pub(crate) mod params;
pub(crate) mod problems;
pub(crate) mod server;
pub(crate) mod source;
pub(crate) mod tokens;
pub(crate) mod wait;
pub(crate) mod wire;

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::asked::Asked;
use crate::problem::{Doing, Problem};
use crate::shared::{Shared, placed};

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
    format!("{}/m/{}/{id}", asked.base_url(shared), crate::attachment::encoded(mailbox))
}
