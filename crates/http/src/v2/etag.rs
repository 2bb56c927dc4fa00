//! Whether a client has what it asks for already (RFC 9110 §8.8, §13.1.2).

use axum::http::header::{ETAG, IF_NONE_MATCH};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::asked::Asked;

/// A tag of what is answered.
#[derive(Clone)]
pub(crate) struct Tag(String);

impl Tag {
    /// For what is the same to the byte whenever the tag is the same.
    pub(crate) fn strong(text: &str) -> Self {
        Self(format!("\"{text}\""))
    }

    /// For what means the same.
    pub(crate) fn weak(text: &str) -> Self {
        Self(format!("W/\"{text}\""))
    }

    /// The answer to a client that has it already.
    pub(crate) fn known(&self, asked: &Asked) -> Option<Response> {
        let plain = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let own = plain(&self.0);
        let given = asked.fields().get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        let has_it = given.flat_map(|list| list.split(',')).any(|tag| tag.trim() == "*" || plain(tag) == own);
        has_it.then(|| self.on(StatusCode::NOT_MODIFIED.into_response()))
    }

    /// Put it on an answer.
    pub(crate) fn on(&self, mut response: Response) -> Response {
        if let Ok(value) = HeaderValue::try_from(&*self.0) {
            response.headers_mut().insert(ETAG, value);
        }
        response
    }
}
