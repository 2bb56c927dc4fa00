//! REST v1, to the byte: compact JSON and a newline, the fields of the contract in their order and nothing more.

mod delete;
mod list;
mod purge;
mod read;
mod source;
mod wire;

use axum::http::header::{CONTENT_TYPE, EXPIRES};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

pub(crate) use delete::delete;
pub(crate) use list::list;
pub(crate) use purge::purge;
pub(crate) use read::read;
pub(crate) use source::source;

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
const STALE: HeaderValue = HeaderValue::from_static("-1");

/// A successful answer in JSON.
fn json(body: impl Into<Bytes>) -> Response {
    answer(JSON, body)
}

/// What delete and purge say: 5 bytes.
fn ok() -> Response {
    json(Bytes::from_static(b"\"OK\"\n"))
}

/// A successful answer of any type.
fn answer(content_type: HeaderValue, body: impl Into<Bytes>) -> Response {
    let fields: [(HeaderName, HeaderValue); 2] = [(CONTENT_TYPE, content_type), (EXPIRES, STALE)];
    (fields, body.into()).into_response()
}
