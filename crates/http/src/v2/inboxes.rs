//! `/api/v2/inboxes`: mailboxes for one test, with an address, a secret and an end.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use mail::Mailbox;
use mailroom::{Inbox as Known, NewInbox, Position, Scope};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::params::{Params, duration};
use super::wire::time;
use super::{About, Answer, Shape, body, changing, done, json, reading};
use crate::asked::{Asked, mailbox};
use crate::attachment::encoded;
use crate::problem::Problem;
use crate::shared::Shared;

pub(crate) const OPEN: About = About {
    id: "openInbox",
    summary: "Open an inbox",
    detail: "Nothing is stored by it, so there may be as many as one likes. Where tokens are asked for, any token opens one; \
             the inbox is read with its own secret.",
    params: &[],
    bodies: &[("application/json", Shape::of::<InboxRequest>(r#"{"label":"signup","ttl":"30m"}"#))],
    answers: &[Answer {
        status: 201,
        about: "The inbox. Its secret is told only here.",
        media_type: "application/json",
        shape: Shape::of::<OpenedInbox>(
            r#"{"mailbox":"signup-0dq4f2q7m9xw4t3zb8v5nhd2c","address":"signup-0dq4f2q7m9xw4t3zb8v5nhd2c@inbox.example.com",
            "expiresAt":"2026-11-14T10:00:00.000000+00:00","url":"http://localhost:8025/m/signup-0dq4f2q7m9xw4t3zb8v5nhd2c",
            "secret":"pki_signup-0dq4f2q7m9xw4t3zb8v5nhd2c_7h2k9m4n8p3q6r1s5t0v7w2x9y4z8abc","cursor":"AQAB"}"#,
        ),
    }],
    problems: &["not-in-public-mode"],
};

pub(crate) const READ: About = About {
    id: "readInbox",
    summary: "What an inbox is",
    detail: "Its address, in inbox.domain, and its end.",
    params: &[],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "The inbox.",
        media_type: "application/json",
        shape: Shape::of::<Inbox>(
            r#"{"mailbox":"signup-0dq4f2q7m9xw4t3zb8v5nhd2c","address":"signup-0dq4f2q7m9xw4t3zb8v5nhd2c@inbox.example.com",
            "expiresAt":"2026-11-14T10:00:00.000000+00:00","url":"http://localhost:8025/m/signup-0dq4f2q7m9xw4t3zb8v5nhd2c"}"#,
        ),
    }],
    problems: &["bad-mailbox", "inbox-secret-required", "not-in-public-mode", "inbox-unknown", "inbox-expired"],
};

pub(crate) const CLOSE: About = About {
    id: "closeInbox",
    summary: "Close an inbox",
    detail: "What lies there goes. Its address lives on until it expires.",
    params: &[],
    bodies: &[],
    answers: &[Answer { status: 204, about: "It is empty.", media_type: "", shape: Shape::Nothing }],
    problems: &[
        "bad-mailbox",
        "inbox-secret-required",
        "not-in-public-mode",
        "inbox-unknown",
        "inbox-expired",
        "outcome-unknown",
    ],
};

/// How an inbox is asked for; all of it may be left out.
#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields)]
struct InboxRequest {
    /// What its name begins with: up to 20 of `a-z0-9-`.
    label: Option<String>,
    /// How long it lives, as `30m`.
    ttl: Option<String>,
    /// The domain of its address.
    domain: Option<String>,
}

/// An inbox.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Inbox {
    /// The name of its mailbox.
    mailbox: String,
    /// Where to write to.
    address: String,
    /// Until when it lives.
    #[schema(format = DateTime)]
    expires_at: String,
    /// Where people see it.
    url: String,
}

/// An inbox that was opened.
#[derive(Serialize, ToSchema)]
struct OpenedInbox {
    #[serde(flatten)]
    inbox: Inbox,
    /// What it is read with, as a token.
    secret: String,
    /// Its start: everything behind it is new.
    cursor: String,
}

pub(crate) async fn open(shared: &Shared, asked: &Asked, body: Bytes) -> Result<Response, Problem> {
    Params::read(asked, OPEN.params)?;
    let InboxRequest { label, ttl, domain } =
        if body.is_empty() { InboxRequest::default() } else { body::read(shared, asked, &body)? };
    let ttl: Option<Duration> = match ttl {
        Some(text) => Some(duration(&text).ok_or_else(|| body::refuse("ttl", "It is a duration such as 30m or 2h."))?),
        None => None,
    };
    let new = NewInbox { label, ttl, domain };
    let opened = shared.mailroom.open_inbox(&asked.caller, &new, asked.client).map_err(changing)?;
    let cursor = shared.mailroom.cursor(&Scope::Mailbox(opened.inbox.mailbox.clone()), Position::START);
    let inbox = told(shared, asked, &opened.inbox);
    json(shared, StatusCode::CREATED, &OpenedInbox { inbox, secret: opened.secret, cursor })
}

pub(crate) async fn read(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let mailbox = named(shared, asked)?;
    Params::read(asked, READ.params)?;
    let known = shared.mailroom.read_inbox(&asked.caller, &mailbox).map_err(reading)?;
    json(shared, StatusCode::OK, &told(shared, asked, &known.ok_or_else(Problem::inbox_unknown)?))
}

pub(crate) async fn close(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let mailbox = named(shared, asked)?;
    Params::read(asked, CLOSE.params)?;
    let closed = shared.mailroom.close_inbox(&asked.caller, &mailbox).await.map_err(changing)?;
    closed.map(|_| done()).ok_or_else(Problem::inbox_unknown)
}

fn named(shared: &Shared, asked: &Asked) -> Result<Mailbox, Problem> {
    let [name] = asked.tail();
    mailbox(shared, name)
}

fn told(shared: &Shared, asked: &Asked, inbox: &Known) -> Inbox {
    let mailbox = shared.mailroom.spelling(&inbox.mailbox).into_owned();
    let url = format!("{}/m/{}", asked.base_url(shared), encoded(&mailbox));
    Inbox { mailbox, address: inbox.address.to_string(), expires_at: time(inbox.expires), url }
}
