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
    "default-src 'none'; style-src 'sha256-PHbHKX/wV2pkEW0vanbj3ZnsqYyPtxD6ctQRW4qxRYM='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// `GET /`. The base has no character that means anything in HTML: the guard and the settings let none through.
pub(crate) fn page(shared: &Shared, asked: &Asked) -> Response {
    let fields: [(HeaderName, HeaderValue); 2] = [(CONTENT_TYPE, HTML), (CONTENT_SECURITY_POLICY, POLICY)];
    (fields, PAGE.replace("{base}", &asked.base_url(shared))).into_response()
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for three in bytes.chunks(3) {
            let word = three.iter().chain([0; 2].iter()).take(3).fold(0, |word, byte| word << 8 | usize::from(*byte));
            text.extend((0..=three.len()).map(|place| char::from(DIGITS[word >> (18 - 6 * place) & 63])));
            text.extend((three.len()..3).map(|_| '='));
        }
        text
    }

    #[test]
    fn the_policy_lets_in_the_style_sheet_of_the_page() {
        let (_, rest) = PAGE.split_once("<style>").unwrap();
        let (style, rest) = rest.split_once("</style>").unwrap();
        assert!(!rest.contains("<style"), "there is one");
        let hash = format!("'sha256-{}'", base64(&Sha256::digest(style)));
        assert!(POLICY.to_str().unwrap().contains(&hash), "put {hash} into the policy");
    }

    #[test]
    fn the_page_loads_nothing_and_runs_nothing() {
        for word in
            ["<script", "<link", "<img", "<iframe", "src=", "href=", "url(", "@import", "style=\"", "javascript:"]
        {
            assert!(!PAGE.contains(word), "{word}");
        }
    }
}
