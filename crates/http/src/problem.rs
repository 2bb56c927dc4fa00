//! Errors as clients see them: RFC 9457 problems, calm and without a word about the inside.
//!
//! One function turns each error of the mailroom into one; its whole chain goes to the log and nowhere else.

use std::borrow::Cow;
use std::error::Error as _;
use std::time::Duration;

use axum::http::header::{ALLOW, CONNECTION, CONTENT_TYPE, LINK, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use mailroom::access::Denial;
use mailroom::{SignInError, StoreError};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::json::Json;

mod asked;

/// When nobody said how long to wait.
const RETRY: Duration = Duration::from_secs(2);

/// What went wrong and what to do next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// Names the kind for programs: `urn:postkeep:problem:<slug>`.
    pub(crate) slug: &'static str,
    title: &'static str,
    detail: Cow<'static, str>,
    retry_after: Option<Duration>,
    connection: Connection,
    /// What few have, aside so that a result stays small.
    more: Option<Box<More>>,
}

/// What few problems have.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct More {
    /// The Allow field.
    allow: Option<String>,
    /// What v2 tells beside the rest.
    members: Vec<(Cow<'static, str>, Value)>,
}

/// One thing in a request that is not understood.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub(crate) struct Mistake {
    /// `query`, `body`, `header` or `path`.
    #[serde(rename = "in")]
    pub(crate) place: &'static str,
    /// What it is called there.
    pub(crate) name: String,
    /// What is wrong, and what would be right.
    pub(crate) detail: String,
    /// What was probably meant.
    pub(crate) nearest: Option<String>,
}

/// Whether the connection can carry another request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Connection {
    Kept,
    Closed,
}

/// What the request was about to do: an error means another thing when it may have changed something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Doing {
    Reading,
    Changing,
    /// A change that would happen twice when asked for twice.
    Adding,
}

impl Problem {
    fn new(status: StatusCode, slug: &'static str, title: &'static str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { status, slug, title, detail: detail.into(), retry_after: None, connection: Connection::Kept, more: None }
    }

    /// Any problem, for those who know more of it than this file.
    pub(crate) fn named(
        status: StatusCode,
        slug: &'static str,
        title: &'static str,
        detail: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(status, slug, title, detail)
    }

    /// With a member of its own, which v2 tells and v1 does not.
    pub(crate) fn with(mut self, name: &'static str, value: impl Serialize) -> Self {
        let members = &mut self.more.get_or_insert_default().members;
        members.push((Cow::Borrowed(name), serde_json::to_value(value).unwrap_or_default()));
        self
    }

    /// With all members of an object.
    pub(crate) fn with_all(mut self, object: impl Serialize) -> Self {
        if let Ok(Value::Object(members)) = serde_json::to_value(object) {
            let members = members.into_iter().map(|(name, value)| (Cow::Owned(name), value));
            self.more.get_or_insert_default().members.extend(members);
        }
        self
    }

    /// What the engine of this server cannot do.
    pub(crate) fn engine_limit(what: &str, instead: &str) -> Self {
        let detail = format!("The engine of this server cannot {what}. Instead: {instead}.");
        let problem = Self::new(StatusCode::NOT_IMPLEMENTED, "engine-limit", "Not possible with this engine", detail);
        problem.with("what", what).with("instead", instead)
    }

    fn later(self, after: Option<Duration>) -> Self {
        Self { retry_after: Some(after.unwrap_or(RETRY)), ..self }
    }

    /// The rest of what the client sends is not read.
    pub(crate) fn last(self) -> Self {
        Self { connection: Connection::Closed, ..self }
    }

    pub(crate) fn internal() -> Self {
        let detail = "Something went wrong here. The log tells more; the source of a message can still be read.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Internal error", detail)
    }

    pub(crate) fn overloaded() -> Self {
        let detail = "Too much is under way at once. Try again shortly.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", "Overloaded", detail).later(None)
    }

    pub(crate) fn draining() -> Self {
        let detail = "This server is stopping. Try again when it is back, or ask another node.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "draining", "Stopping", detail).later(None)
    }

    /// No answer in time.
    pub(crate) fn timed_out(doing: Doing) -> Self {
        tracing::warn!(?doing, "a request was given up: it took longer than http.request_timeout");
        Self::unknown_outcome(doing)
    }

    /// Reading again is always right; a change may or may not have happened, and neither may be claimed.
    fn unknown_outcome(doing: Doing) -> Self {
        match doing {
            Doing::Reading => Self::unavailable(None),
            Doing::Changing => {
                let detail = "It is unknown whether this was done. List the mailbox to see; asking again is safe.";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "outcome-unknown", "Outcome unknown", detail)
            }
            Doing::Adding => {
                let detail = "It is unknown whether this was done. List the mailbox to see before you ask again: the \
                              message may be there already.";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "outcome-unknown", "Outcome unknown", detail)
            }
        }
    }

    fn unavailable(after: Option<Duration>) -> Self {
        let detail = "The store cannot answer now. Nothing was changed; try again shortly.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "store-unavailable", "Store unavailable", detail).later(after)
    }

    /// An error of the mailroom, told to the log whole and to the client calmly.
    pub(crate) fn of(error: &mailroom::Error, doing: Doing) -> Self {
        match error {
            mailroom::Error::Denied { .. } | mailroom::Error::Cursor(_) | mailroom::Error::SignIn(_) => {
                tracing::debug!(?doing, %error, "a request was denied")
            }
            _ => tracing::warn!(?doing, error = ?chain(error), "a request failed"),
        }
        match error {
            mailroom::Error::Denied(denial) => Self::denied(denial),
            mailroom::Error::SignIn(error) => Self::not_signed_in(*error),
            mailroom::Error::BadInbox(_) | mailroom::Error::BadToken(_) => {
                Self::new(StatusCode::BAD_REQUEST, "bad-request", "Bad request", sentence(error))
            }
            mailroom::Error::BadPlan(bad) => {
                let (name, detail) = (bad.member.to_owned(), bad.detail.clone());
                Self::mistakes(&[Mistake { place: "body", name, detail, nearest: None }])
            }
            mailroom::Error::NoPlan(_) => {
                Self::new(StatusCode::CONFLICT, "too-many-faults", "No more fault plans", sentence(error))
            }
            mailroom::Error::TooOften { wait, .. } => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "rate-limited", "Too often", sentence(error))
                    .later(Some(*wait))
            }
            mailroom::Error::TooMany { .. } => Self::overloaded(),
            mailroom::Error::BadRelease(_) => {
                Self::new(StatusCode::BAD_REQUEST, "bad-request", "Bad request", sentence(error))
            }
            mailroom::Error::NoRelay => {
                Self::new(StatusCode::CONFLICT, "relay-not-configured", "Nothing leaves here", sentence(error))
            }
            mailroom::Error::NotAllowed { recipients } => {
                Self::new(StatusCode::FORBIDDEN, "recipient-not-allowed", "Not to these", sentence(error))
                    .with("recipients", recipients)
            }
            mailroom::Error::Cursor(bad) => {
                let detail = format!("Nothing can be gone on from here: {bad}.");
                Self::new(StatusCode::BAD_REQUEST, "bad-cursor", "Cursor not usable", detail)
            }
            // Said by whoever delivers, in the words of SMTP.
            mailroom::Error::Refused(_) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "refused", "Mail refused", sentence(error))
            }
            mailroom::Error::Store(error) => Self::of_store(error, doing),
        }
    }

    /// Why access said no. Who has shown nothing hears that something must be shown, and no more.
    fn denied(denial: &Denial) -> Self {
        let (status, slug, title) = match denial {
            Denial::Nobody | Denial::Unauthorized(_) => (StatusCode::UNAUTHORIZED, "unauthorized", "Credential needed"),
            Denial::Forbidden(_) => (StatusCode::FORBIDDEN, "forbidden", "Not allowed"),
            Denial::SecretRequired => (StatusCode::FORBIDDEN, "inbox-secret-required", "Secret of the inbox needed"),
            Denial::NotInPublicMode(_) => (StatusCode::FORBIDDEN, "not-in-public-mode", "Not for everybody"),
            Denial::NotInOpenMode { .. } => (StatusCode::FORBIDDEN, "not-in-open-mode", "Not in open mode"),
            Denial::ReleaseNeedsToken => (StatusCode::FORBIDDEN, "release-needs-token", "Token needed"),
            Denial::InboxExpired { .. } => (StatusCode::GONE, "inbox-expired", "Inbox expired"),
            Denial::NoInbox => (StatusCode::NOT_FOUND, "inbox-unknown", "No such inbox"),
        };
        let problem = Self::new(status, slug, title, sentence(denial));
        match denial.needs() {
            Some(needs) => problem.with("needs", needs),
            None => problem,
        }
    }

    /// Who was not believed.
    pub(crate) fn not_signed_in(error: SignInError) -> Self {
        match error {
            SignInError::Wrong | SignInError::Off => {
                let detail = "What was shown is no token, no secret and no login that is good here. Check that it is whole, \
                              not revoked and not expired.";
                Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "Not known", detail)
            }
            SignInError::TooMany => {
                let detail =
                    "Too much that was wrong came from this address (access.failures_per_ip). Wait and try again.";
                let wait = Some(Duration::from_secs(60));
                Self::new(StatusCode::TOO_MANY_REQUESTS, "rate-limited", "Too often", detail).later(wait)
            }
            SignInError::Unavailable => Self::unavailable(None),
        }
    }

    fn of_store(error: &StoreError, doing: Doing) -> Self {
        match error {
            StoreError::TryLater { after, .. } => Self::unavailable(*after),
            StoreError::Full { .. } => {
                let detail = "The store has no room for this. Delete or purge messages, or have its limits raised.";
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "store-full", "Store full", detail)
            }
            StoreError::UnknownOutcome { .. } => Self::unknown_outcome(doing),
            StoreError::Unsupported { what, instead } => Self::engine_limit(what, instead),
            StoreError::Damaged { .. } => {
                let detail = "This message is damaged where it is kept. Delete it, and restore it from where it came.";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "message-damaged", "Message damaged", detail)
            }
        }
    }

    /// As v2 tells it: with its own members and the name of the request, and where help is.
    pub(crate) fn with_request(self, request_id: &str, prefix: &str) -> Response {
        let problem = self.with("requestId", request_id);
        let body = problem.json(problem.members());
        let mut response = problem.respond(body);
        let help = format!("<{prefix}/api/v2/openapi.json>; rel=\"help\"");
        if let Ok(help) = HeaderValue::try_from(help) {
            response.headers_mut().insert(LINK, help);
        }
        response
    }

    /// Its own members, by name.
    pub(crate) fn members(&self) -> &[(Cow<'static, str>, Value)] {
        self.more.as_ref().map_or(&[], |more| &more.members)
    }

    fn json(&self, members: &[(Cow<'static, str>, Value)]) -> Vec<u8> {
        let mut json = Json::with_capacity(160 + self.detail.len());
        json.raw(r#"{"type":"urn:postkeep:problem:"#).raw(self.slug);
        json.raw(r#"","title":"#).string(self.title);
        json.raw(r#","status":"#).number(self.status.as_u16().into());
        json.raw(r#","detail":"#).string(&self.detail);
        for (name, value) in members {
            json.raw(",").string(name).raw(":").raw(&value.to_string());
        }
        json.raw("}");
        json.finish()
    }

    fn respond(self, body: Vec<u8>) -> Response {
        let mut response = (self.status, body).into_response();
        let fields = response.headers_mut();
        fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(after) = self.retry_after {
            fields.insert(RETRY_AFTER, HeaderValue::from(after.as_secs().max(1)));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            fields.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"postkeep\""));
        }
        if let Some(allow) = self.more.and_then(|more| HeaderValue::try_from(more.allow?).ok()) {
            fields.insert(ALLOW, allow);
        }
        if self.connection == Connection::Closed {
            fields.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// A reason as a sentence.
fn sentence(reason: &dyn std::fmt::Display) -> String {
    let text = reason.to_string();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).chain(['.']).collect()).unwrap_or_default()
}

impl IntoResponse for Problem {
    /// As v1 tells it.
    fn into_response(self) -> Response {
        let body = self.json(&[]);
        self.respond(body)
    }
}

/// An error and all that it stems from. It may hold words of a client: log it escaped.
fn chain(error: &mailroom::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests;
