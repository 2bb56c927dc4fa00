//! Pages of other origins that may call: an exact list, without cookies (T057). All others hear nothing of it, and their
//! browsers keep the answers from them.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, DELETE");
const FIELDS: HeaderValue =
    HeaderValue::from_static("Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID");
const SHOWN: HeaderValue = HeaderValue::from_static("ETag, Link, Retry-After");
const TEN_MINUTES: HeaderValue = HeaderValue::from_static("600");

/// Whether a browser asks what a page of another origin may.
pub(crate) fn is_preflight(head: &Parts) -> bool {
    head.method == Method::OPTIONS && head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// What a page of an origin on the list may.
pub(crate) fn preflight() -> Response {
    let fields = [
        (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, FIELDS),
        (ACCESS_CONTROL_MAX_AGE, TEN_MINUTES),
    ];
    (StatusCode::NO_CONTENT, fields).into_response()
}

/// Let the page of this origin see the answer.
pub(crate) fn allow(response: &mut Response, origin: HeaderValue) {
    let fields = response.headers_mut();
    fields.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    fields.insert(ACCESS_CONTROL_EXPOSE_HEADERS, SHOWN);
    fields.append(VARY, HeaderValue::from_static("Origin"));
}
