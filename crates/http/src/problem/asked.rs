//! What was wrong with what a client asked: a problem each, and what to do.

use std::time::Duration;

use axum::http::StatusCode;

use super::{Mistake, Problem};

impl Problem {
    pub(crate) fn bad_request(detail: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", "Bad request", detail).last()
    }

    pub(crate) fn bad_mailbox(why: impl std::fmt::Display) -> Self {
        let detail = format!("No mailbox has this name: {why}. Percent-encode what does not fit into a path.");
        Self::new(StatusCode::BAD_REQUEST, "bad-mailbox", "Not a mailbox name", detail)
    }

    pub(crate) fn origin_refused() -> Self {
        let detail = "This page may not change mail here. Call from a page of this server or from a program that sends no \
                      Origin, or set http.public_url to the address that people use.";
        Self::new(StatusCode::FORBIDDEN, "origin-refused", "Foreign origin", detail)
    }

    pub(crate) fn route_unknown() -> Self {
        let detail = "There is nothing at this path. /api/v2/openapi.json tells what there is; a trailing slash makes another path.";
        Self::new(StatusCode::NOT_FOUND, "route-unknown", "No such route", detail)
    }

    pub(crate) fn message_unknown() -> Self {
        let detail = "The mailbox holds no such message. List the mailbox for the ids it holds.";
        Self::new(StatusCode::NOT_FOUND, "message-unknown", "No such message", detail)
    }

    pub(crate) fn part_unknown() -> Self {
        let detail = "The message has no such attachment. Read the message for the links to those it has.";
        Self::new(StatusCode::NOT_FOUND, "part-unknown", "No such attachment", detail)
    }

    pub(crate) fn inbox_unknown() -> Self {
        let detail = "This mailbox is no inbox. Compare its name with the one that was told when it was opened.";
        Self::new(StatusCode::NOT_FOUND, "inbox-unknown", "No such inbox", detail)
    }

    pub(crate) fn token_unknown() -> Self {
        let detail = "There is no such token. List the tokens for their ids.";
        Self::new(StatusCode::NOT_FOUND, "token-unknown", "No such token", detail)
    }

    pub(crate) fn release_unknown() -> Self {
        let detail = "There is no such release. List the releases for their ids; old ones are forgotten (relay.kept).";
        Self::new(StatusCode::NOT_FOUND, "release-unknown", "No such release", detail)
    }

    pub(crate) fn webhook_unknown() -> Self {
        let detail = "No webhook of this id was given up. List those that were for their ids.";
        Self::new(StatusCode::NOT_FOUND, "webhook-unknown", "No such webhook", detail)
    }

    pub(crate) fn fault_unknown() -> Self {
        let detail = "There is no such fault plan, or its time is over. List the faults for their ids.";
        Self::new(StatusCode::NOT_FOUND, "fault-unknown", "No such fault plan", detail)
    }

    pub(crate) fn token_in_file() -> Self {
        let detail =
            "This token stands in the configuration. Take its lines out of the file and start the server again.";
        Self::new(StatusCode::CONFLICT, "token-in-file", "Token of the configuration", detail)
    }

    pub(crate) fn too_often(wait: Duration) -> Self {
        let detail = "Too many requests come from this address (http.rate_per_ip). Wait and try again.";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate-limited", "Too often", detail).later(Some(wait))
    }

    pub(crate) fn no_html() -> Self {
        let detail = "The message has no HTML. Read the message for its text.";
        Self::new(StatusCode::NOT_FOUND, "part-unknown", "No HTML", detail)
    }

    pub(crate) fn method_not_allowed(allowed: &str) -> Self {
        let detail = "This path does not take this method. The Allow field names those it takes.";
        let mut problem = Self::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "Method not allowed", detail);
        problem.more.get_or_insert_default().allow = Some(allowed.to_owned());
        problem
    }

    /// Something in the request that is not understood; each mistake says what would be.
    pub(crate) fn mistakes(mistakes: &[Mistake]) -> Self {
        let first = mistakes.first().map_or("", |mistake| &*mistake.detail);
        let more = match mistakes.len() {
            0 | 1 => String::new(),
            many => format!(" There are {} more in errors.", many - 1),
        };
        let detail = format!("{first}{more}");
        Self::new(StatusCode::BAD_REQUEST, "bad-request", "Bad request", detail).with("errors", mistakes)
    }

    pub(crate) fn media_type(expected: &'static str) -> Self {
        let detail = format!("The body is of another type than this takes. Send it with Content-Type: {expected}.");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type", "Other type of body", detail)
    }

    pub(crate) fn json_too_large(max: u64) -> Self {
        let detail = format!("A body of JSON may have {max} bytes here. Send less, or raise http.body_max.");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", "Body too large", detail).last()
    }

    pub(crate) fn body_slow() -> Self {
        let detail = "The body did not arrive in time. Send the whole request at once.";
        Self::new(StatusCode::REQUEST_TIMEOUT, "request-timeout", "Request too slow", detail).last()
    }

    pub(crate) fn length_required() -> Self {
        let detail = "A body needs a Content-Length here. Send the length, or no body: only an import takes one.";
        Self::new(StatusCode::LENGTH_REQUIRED, "length-required", "Length required", detail).last()
    }

    pub(crate) fn body_too_large(max: u64) -> Self {
        let detail = format!("A body may have {max} bytes here (http.body_max). Only an import takes one.");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", "Body too large", detail).last()
    }

    pub(crate) fn message_too_large(max: u64) -> Self {
        let detail = format!("A message may have {max} bytes here. Raise smtp.message_max to take this one.");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", "Message too large", detail).last()
    }

    pub(crate) fn no_message() -> Self {
        let detail = "Only a message can be imported. Send it as it is, with Content-Type: message/rfc822.";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "no-message", "Not a message", detail)
    }

    /// A search that cannot be read.
    pub(crate) fn bad_search(detail: String) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-query", "Query not understood", detail)
    }

    pub(crate) fn bad_query(why: &'static str) -> Self {
        let detail = format!(
            "The query cannot be read: {why}. It takes mailbox, receivedAt, mailFrom and rcptTo, percent-encoded."
        );
        Self::new(StatusCode::BAD_REQUEST, "bad-query", "Query not understood", detail)
    }

    pub(crate) fn no_websocket() -> Self {
        let detail = "Here only WebSockets are spoken, of version 13. Connect with ws:// or wss://, or follow mail with \
                      GET /api/v2/events.";
        Self::new(StatusCode::BAD_REQUEST, "bad-request", "Not a WebSocket", detail)
    }

    pub(crate) fn monitor_off() -> Self {
        let detail = "The monitor is switched off here (monitor.enabled). Follow mail with GET /api/v2/events.";
        Self::new(StatusCode::NOT_FOUND, "route-unknown", "No monitor", detail)
    }

    pub(crate) fn too_many_streams() -> Self {
        let detail = "Too many streams are open. Close one, or have events.streams_max or events.per_ip_max raised.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", "Too many streams", detail).later(None)
    }

    pub(crate) fn host_refused() -> Self {
        let detail = "This server does not answer for this host name. Use its address or localhost, or add the name to \
                      http.allowed_hosts.";
        Self::new(StatusCode::MISDIRECTED_REQUEST, "host-refused", "Host name refused", detail)
    }
}
