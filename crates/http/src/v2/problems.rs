//! Every problem that v2 knows, by its slug, as the API's description tells it.

use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::Mistake;

/// What went wrong and what to do next (RFC 9457). Some kinds have members of their own.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)]
pub(crate) struct ProblemDetails {
    /// `urn:postkeep:problem:<slug>`.
    r#type: String,
    /// The kind in some words.
    title: String,
    /// The status of the answer.
    status: u16,
    /// What happened, and what to do next.
    detail: String,
    /// Names this request in the server's log.
    request_id: String,
    /// Of `bad-request`: what was not understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<Vec<Mistake>>,
}

/// A kind of problem.
pub(crate) struct ProblemKind {
    pub(crate) slug: &'static str,
    pub(crate) status: u16,
    pub(crate) title: &'static str,
    /// One sentence.
    pub(crate) about: &'static str,
}

/// What every operation may answer.
pub(crate) const EVERYWHERE: &[&str] = &[
    "bad-request",
    "unauthorized",
    "forbidden",
    "request-timeout",
    "length-required",
    "body-too-large",
    "host-refused",
    "rate-limited",
    "internal",
    "engine-limit",
    "store-unavailable",
    "overloaded",
    "draining",
];

const fn kind(slug: &'static str, status: u16, title: &'static str, about: &'static str) -> ProblemKind {
    ProblemKind { slug, status, title, about }
}

/// All of them.
pub(crate) const KINDS: &[ProblemKind] = &[
    kind("bad-request", 400, "Bad request", "Something is not understood; `errors` says what, and the nearest known."),
    kind("bad-mailbox", 400, "Not a mailbox name", "No mailbox can have this name."),
    kind("bad-cursor", 400, "Cursor not usable", "Nothing can be gone on from this cursor; take a new one."),
    kind("bad-query", 400, "Query not understood", "The query cannot be read."),
    kind("timeout-too-long", 400, "Timeout too long", "So long is not waited; repeat the request to wait longer."),
    kind("unauthorized", 401, "Not signed in", "A token is needed, or the one that came is not good."),
    kind("forbidden", 403, "Not allowed", "The caller may not do this; `needs` names what it lacks."),
    kind("inbox-secret-required", 403, "Secret required", "This inbox is read with its own secret."),
    kind("not-in-public-mode", 403, "Not in public mode", "A public server does not offer this."),
    kind("not-in-open-mode", 403, "Not in open mode", "A server without access control does not offer this."),
    kind(
        "release-needs-token",
        403,
        "Token needed",
        "In open mode others than this machine release with a token only.",
    ),
    kind("recipient-not-allowed", 403, "Not to these", "relay.allow does not name the `recipients`."),
    kind("origin-refused", 403, "Foreign origin", "A page of another site may not change mail here."),
    kind("route-unknown", 404, "No such route", "There is nothing at this path."),
    kind("message-unknown", 404, "No such message", "The mailbox holds no such message."),
    kind("part-unknown", 404, "No such part", "The message has no such part."),
    kind("inbox-unknown", 404, "No such inbox", "This mailbox is no inbox; its name may be mistyped."),
    kind("fault-unknown", 404, "No such fault plan", "There is no such plan, or its time is over."),
    kind("token-unknown", 404, "No such token", "There is no such token."),
    kind("release-unknown", 404, "No such release", "There is no such release, or it was forgotten."),
    kind("webhook-unknown", 404, "No such webhook", "No webhook of this id was given up."),
    kind("method-not-allowed", 405, "Method not allowed", "The Allow field names the methods of this path."),
    kind("request-timeout", 408, "Request too slow", "The body did not arrive in time."),
    kind("wait-timeout", 409, "No mail matched in time", "Nothing that matches arrived; the members tell why."),
    kind("unexpected-message", 409, "A mail matched", "A mail came that should not have come."),
    kind("too-many-faults", 409, "No more fault plans", "So many plans are in force, or none are taken here."),
    kind("idempotency-conflict", 409, "Key used already", "This key came with another message."),
    kind("token-in-file", 409, "Token of the configuration", "This token ends when it is taken out of the file."),
    kind("relay-not-configured", 409, "Nothing leaves here", "No smart host is configured (relay.host)."),
    kind("inbox-expired", 410, "Inbox expired", "This inbox is over; open another."),
    kind("length-required", 411, "Length required", "A body needs a Content-Length."),
    kind("body-too-large", 413, "Body too large", "The body is larger than is taken."),
    kind("media-type", 415, "Other type of body", "The body is of another type than is taken."),
    kind("no-message", 415, "Not a message", "The body is not of the type message/rfc822."),
    kind("host-refused", 421, "Host name refused", "This server does not answer for this host name."),
    kind("refused", 422, "Mail refused", "Policy said no, as it would over SMTP; `smtp` holds its words."),
    kind("rate-limited", 429, "Too many requests", "Too much came from one place; see Retry-After."),
    kind("internal", 500, "Internal error", "Something went wrong here; the log tells more."),
    kind("outcome-unknown", 500, "Outcome unknown", "It is unknown whether this was done."),
    kind("message-damaged", 500, "Message damaged", "The message is damaged where it is kept."),
    kind("engine-limit", 501, "Not possible with this engine", "`what` the engine cannot, and what to do `instead`."),
    kind("store-unavailable", 503, "Store unavailable", "The store cannot answer now; nothing was changed."),
    kind("overloaded", 503, "Overloaded", "Too much is under way at once."),
    kind("draining", 503, "Stopping", "This server is stopping."),
    kind("store-full", 507, "Store full", "The store has no room for this."),
];
