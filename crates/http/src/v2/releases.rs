//! `/api/v2/mailboxes/{name}/messages/{id}/release` and `/api/v2/releases`: a message sent on to real people, and what
//! became of it.

use std::net::Ipv4Addr;

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use mail::Address;
use mail::address::Charset;
use mailroom::Caller;
use mailroom::outgoing::release::{self, Overall, ReleaseAsk, State};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::params::{self, Params};
use super::wire::time;
use super::{About, Answer, Kind, Param, Shape, body, changing, json, reading};
use crate::asked::{Asked, mailbox, which};
use crate::problem::Problem;
use crate::shared::Shared;

const EXAMPLE: &str = r#"{"id":"019a83d2c1f07b3e8a4411d0c9e2b7aa","mailbox":"alice","messageId":"00000000000g5",
    "subject":"Welcome","from":"app@example.com","createdAt":"2026-11-14T09:30:00.000000+00:00","by":"ci","rule":null,
    "state":"done","recipients":[{"address":"alice@real.example","state":"sent","attempts":1,
    "reply":"250 2.0.0 Ok: queued as 4D2E9","at":"2026-11-14T09:30:01.000000+00:00","nextAt":null}]}"#;

pub(crate) const RELEASE: About = About {
    id: "releaseMessage",
    summary: "Release a message to real people",
    detail: "It is sent on through the smart host of the configuration, its bytes as they are, to recipients that relay.allow \
             names. The answer comes when that is sure to be tried; what became of it is told by `readRelease`. In open mode \
             only the server's own machine may ask, or whoever shows a token that is good for `release`; in public mode only \
             an admin. `latest` for the id is the newest message there.",
    params: &[],
    bodies: &[("application/json", Shape::of::<ReleaseRequest>(r#"{"to":["alice@real.example"],"from":null}"#))],
    answers: &[Answer {
        status: 202,
        about: "It is on its way.",
        media_type: "application/json",
        shape: Shape::of::<Release>(EXAMPLE),
    }],
    problems: &[
        "bad-mailbox",
        "inbox-secret-required",
        "not-in-public-mode",
        "release-needs-token",
        "recipient-not-allowed",
        "message-unknown",
        "relay-not-configured",
        "inbox-expired",
        "media-type",
        "outcome-unknown",
        "store-full",
    ],
};

pub(crate) const LIST: About = About {
    id: "listReleases",
    summary: "List releases",
    detail: "Those of the last days (relay.kept) that the caller may ask for, by people and by rules, newest first.",
    params: &[
        Param { name: "mailbox", kind: Kind::Text, about: "Only those of messages of this mailbox." },
        Param { name: "limit", kind: Kind::Number, about: "So many at most; http.page_default when it is left out." },
    ],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "The releases.",
        media_type: "application/json",
        shape: Shape::of::<ReleaseList>(r#"{"items":[]}"#),
    }],
    problems: &["bad-mailbox", "inbox-secret-required", "not-in-public-mode", "inbox-expired"],
};

pub(crate) const READ: About = About {
    id: "readRelease",
    summary: "What became of a release",
    detail: "For each recipient the last word of the smart host, and when it is tried again.",
    params: &[],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "The release.",
        media_type: "application/json",
        shape: Shape::of::<Release>(EXAMPLE),
    }],
    problems: &["not-in-public-mode", "release-unknown"],
};

/// How a release is asked for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReleaseRequest {
    /// To whom: plain addresses, each of which relay.allow names.
    #[schema(min_items = 1)]
    to: Vec<String>,
    /// The sender of the envelope; relay.from or the message's own when it is left out.
    from: Option<String>,
}

/// What became of a release.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Release {
    /// What it goes by.
    id: String,
    /// The mailbox of the message.
    mailbox: String,
    /// The message, which may be gone by now.
    message_id: String,
    /// Its subject.
    subject: String,
    /// The sender of the envelope; empty for the null sender.
    from: String,
    /// When it was asked for.
    #[schema(format = DateTime)]
    created_at: String,
    /// The token that asked.
    by: Option<String>,
    /// The rule that asked.
    rule: Option<String>,
    /// `queued`, `sending`, `done`, `failed` or `partial`.
    state: &'static str,
    /// Each with a state of its own.
    recipients: Vec<Sending>,
}

/// How far it came for one recipient.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReleaseRecipient)]
struct Sending {
    /// To whom.
    address: String,
    /// `queued`, `sent` or `failed`.
    state: &'static str,
    /// How often it was tried.
    attempts: u32,
    /// The last word of the smart host, or why there was none.
    reply: Option<String>,
    /// When that was.
    #[schema(format = DateTime)]
    at: Option<String>,
    /// When it is tried again.
    #[schema(format = DateTime)]
    next_at: Option<String>,
}

/// Some of them.
#[derive(Serialize, ToSchema)]
struct ReleaseList {
    /// Newest first.
    items: Vec<Release>,
}

pub(crate) async fn release(shared: &Shared, asked: &Asked, body: Bytes) -> Result<Response, Problem> {
    let [name, _messages, id, _release] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    Params::read(asked, RELEASE.params)?;
    let which = which(id)?;
    let ReleaseRequest { to, from } = body::read(shared, asked, &body)?;
    let to = to.iter().map(|text| address("to", text)).collect::<Result<_, _>>()?;
    let ask = ReleaseAsk { to, from: from.as_deref().map(|text| address("from", text)).transpose()? };
    let released = shared.mailroom.release(&caller(asked), &mailbox, which, ask).await.map_err(changing)?;
    json(shared, StatusCode::ACCEPTED, &told(shared, &released.ok_or_else(Problem::message_unknown)?))
}

pub(crate) async fn list(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let params = Params::read(asked, LIST.params)?;
    let named = params.exact("mailbox").map(|name| shared.mailroom.named(&name).map_err(Problem::bad_mailbox));
    let (named, settings) = (named.transpose()?, &shared.settings);
    let limit = match params.number("limit")? {
        None => settings.page_default,
        Some(limit) if (1..=settings.page_max as u64).contains(&limit) => limit as usize,
        Some(_) => return Err(params::refuse("limit", format!("limit is 1 to {} here.", settings.page_max))),
    };
    let releases = shared.mailroom.releases(&asked.caller, named.as_ref(), limit).await.map_err(reading)?;
    json(shared, StatusCode::OK, &ReleaseList { items: releases.iter().map(|one| told(shared, one)).collect() })
}

pub(crate) async fn read(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [id] = asked.tail();
    Params::read(asked, READ.params)?;
    // What can be no id names no release, and is no key of a record either.
    let is_id = id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let id = if is_id { id } else { "0" };
    let release = shared.mailroom.read_release(&asked.caller, id).await.map_err(reading)?;
    json(shared, StatusCode::OK, &told(shared, &release.ok_or_else(Problem::release_unknown)?))
}

/// Whoever comes through a proxy is not at this machine, whatever address the proxy has (T075).
fn caller(asked: &Asked) -> Caller {
    match &asked.caller {
        Caller::Anonymous { .. } if asked.is_forwarded() => {
            Caller::Anonymous { peer: Some(Ipv4Addr::UNSPECIFIED.into()) }
        }
        known => known.clone(),
    }
}

/// An address as SMTP has it: whatever is more than that, as a line of its own, is none (T076).
fn address(member: &str, text: &str) -> Result<Address, Problem> {
    let wrong =
        |_| body::refuse(member, "It is an address such as alice@example.com, without a name and without brackets.");
    Address::parse(text, Charset::Utf8).map_err(wrong)
}

fn told(shared: &Shared, release: &release::Release) -> Release {
    Release {
        id: release.id.clone(),
        mailbox: shared.mailroom.spelling(&release.mailbox).into_owned(),
        message_id: release.message.to_string(),
        subject: release.subject.clone(),
        from: release.sender.as_ref().map(ToString::to_string).unwrap_or_default(),
        created_at: time(release.created_at),
        by: release.by.clone(),
        rule: release.rule.clone(),
        state: match release.overall() {
            Overall::Queued => "queued",
            Overall::Sending => "sending",
            Overall::Done => "done",
            Overall::Failed => "failed",
            Overall::Partial => "partial",
        },
        recipients: release.recipients.iter().map(sending).collect(),
    }
}

fn sending(one: &release::Sending) -> Sending {
    Sending {
        address: one.address.to_string(),
        state: match one.state {
            State::Queued => "queued",
            State::Sent => "sent",
            State::Failed => "failed",
        },
        attempts: one.attempts,
        reply: one.reply.clone(),
        at: one.at.map(time),
        next_at: one.next_at.map(time),
    }
}
