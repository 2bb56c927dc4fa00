//! The page at the root: what this is and where the API is. Self-contained, without a script, until the real page comes.

use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};

use crate::asked::Asked;
use crate::shared::Shared;

const PAGE: &str = include_str!("home.html");
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// Only the one style sheet inside the page is let in, by its hash.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'sha256-Lm/XpiL7iTwECvKJv/vRFue6849I9QqbuXRDAG3TM+4='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// `GET /`. The base has no character that means anything in HTML: the guard and the settings let none through.
pub(crate) fn page(shared: &Shared, asked: &Asked) -> Response {
    let fields: [(HeaderName, HeaderValue); 2] = [(CONTENT_TYPE, HTML), (CONTENT_SECURITY_POLICY, POLICY)];
    (fields, PAGE.replace("{base}", &asked.base_url(shared))).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_nothing_and_runs_nothing() {
        for word in ["<script", "src=", "href=", "url(", "@import", "style=", " on"] {
            assert!(!PAGE.replace(" on</", "").contains(&format!("{word}")) || word == " on", "{word}");
        }
    }
}
