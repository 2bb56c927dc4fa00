//! The handshake of RFC 6455 §4.2: what the request must say, and the answer that it is given. No extension is agreed on,
//! compression neither (T063), and no subprotocol.

use axum::body::Body;
use axum::http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha1::{Digest as _, Sha1};

use crate::asked::Asked;
use crate::problem::Problem;

/// RFC 6455 §1.3.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const VERSION: &str = "13";

/// The answer to a request that is a handshake.
pub(super) fn answer(asked: &Asked) -> Result<Response, Problem> {
    let key = key(asked.method(), asked.fields()).ok_or_else(Problem::no_websocket)?;
    let accepted = accept(key);
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let fields = response.headers_mut();
    fields.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    fields.insert(UPGRADE, HeaderValue::from_static("websocket"));
    fields.insert(SEC_WEBSOCKET_ACCEPT, accepted);
    Ok(response)
}

/// The key, if the rest is as it must be.
fn key<'a>(method: &Method, fields: &'a HeaderMap) -> Option<&'a [u8]> {
    let asks = method == Method::GET && says(fields, CONNECTION, "upgrade") && says(fields, UPGRADE, "websocket");
    let key = fields.get(SEC_WEBSOCKET_KEY)?.as_bytes();
    let is_key = BASE64_STANDARD.decode(key).is_ok_and(|nonce| nonce.len() == 16);
    (asks && fields.get(SEC_WEBSOCKET_VERSION)? == VERSION && is_key).then_some(key)
}

/// Whether a list of words, in one field or several, has this one.
fn says(fields: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let mut values = fields.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.any(|value| value.split(',').any(|one| one.trim().eq_ignore_ascii_case(word)))
}

fn accept(key: &[u8]) -> HeaderValue {
    let digest = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    let text = BASE64_STANDARD.encode(digest);
    HeaderValue::from_str(&text).expect("base64 is a field's value")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    const GOOD: [(&str, &str); 4] = [
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "WebSocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];

    #[test]
    fn the_example_of_the_standard_is_answered_as_it_says() {
        let good = fields(&GOOD);
        let key = key(&Method::GET, &good).unwrap();
        assert_eq!(accept(key), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn what_is_no_handshake_is_none() {
        assert_eq!(key(&Method::HEAD, &fields(&GOOD)), None);
        for (missing, _) in GOOD {
            let mut rest = fields(&GOOD);
            rest.remove(missing);
            assert_eq!(key(&Method::GET, &rest), None, "without {missing}");
        }
        let wrong = [
            ("connection", "upgraded"),
            ("upgrade", "h2c"),
            ("sec-websocket-version", "8"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25j"),
            ("sec-websocket-key", "\u{21}\u{21}\u{21}\u{21}"),
        ];
        for (name, value) in wrong {
            let mut bad = fields(&GOOD);
            bad.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
            assert_eq!(key(&Method::GET, &bad), None, "{name}: {value}");
        }
    }
}
