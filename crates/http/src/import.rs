//! `POST /api/v2/import?mailbox=…&receivedAt=…&mailFrom=…&rcptTo=…`: a message that was received before, as it is. The
//! body is the message, `message/rfc822`; `postkeep store import --server` is the usual caller.
//!
//! Only `mailbox` must be there. `receivedAt` is a time of RFC 3339, now when it is left out; `mailFrom` is an address or
//! empty, else what the Return-Path field says; `rcptTo` may be repeated. A plus sign stands for itself.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use jiff::Timestamp;
use mail::address::Charset;
use mail::{Address, ReversePath};
use mailroom::Import;
use percent_encoding::percent_decode_str;
use utoipa::ToSchema;

use crate::asked::Asked;
use crate::json::Json;
use crate::problem::{Doing, Problem};
use crate::shared::Shared;
use crate::v2::{About, Answer, Kind, Param, Shape};

pub(crate) const ABOUT: About = About {
    id: "importMessage",
    summary: "Import a message",
    detail: "Put a message that was received before into one mailbox, as it is: nothing is written above it and no policy \
             is asked.",
    params: &[
        Param::new("mailbox", Kind::Text, "Where it goes; must be there."),
        Param::new("receivedAt", Kind::Text, "When it was received, as RFC 3339; now unless said."),
        Param::new("mailFrom", Kind::Text, "The sender of the envelope, or empty; else what Return-Path says."),
        Param::new("rcptTo", Kind::Texts, "The recipients of the envelope."),
    ],
    bodies: &[("message/rfc822", Shape::Bytes)],
    answers: &[Answer {
        status: 201,
        about: "Where it is.",
        media_type: "application/json",
        shape: Shape::of::<Imported>(r#"{"mailbox":"alice","id":"1nbmq3r7c0v8h"}"#),
    }],
    problems: &["bad-query", "bad-mailbox", "no-message", "length-required", "body-too-large", "store-full"],
};

/// Where a message is.
#[derive(ToSchema)]
#[allow(dead_code)]
struct Imported {
    /// The mailbox.
    mailbox: String,
    /// Its id there.
    id: String,
}

/// What the query says.
#[derive(Default)]
struct Query {
    mailbox: Option<String>,
    received_at: Option<Timestamp>,
    mail_from: Option<ReversePath>,
    rcpt_to: Vec<Address>,
}

pub(crate) async fn import(shared: &Shared, asked: &Asked, raw: Bytes) -> Result<Response, Problem> {
    let fields = asked.fields();
    let Some(length) = fields.get(CONTENT_LENGTH) else { return Err(Problem::length_required()) };
    // A body that was dropped on the way here must not become an empty message.
    if length.to_str().ok().and_then(|text| text.parse().ok()) != Some(raw.len()) {
        return Err(Problem::internal());
    }
    let media_type = fields.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !media_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("message/rfc822") {
        return Err(Problem::no_message());
    }
    let query = Query::read(asked.query())?;
    let name = query.mailbox.ok_or_else(|| Problem::bad_query("mailbox is missing"))?;
    let mailbox = shared.mailroom.named(&name).map_err(Problem::bad_mailbox)?;
    let received_at = query.received_at.unwrap_or_else(|| shared.mailroom.now());
    let import = Import { mailbox, raw, received_at, mail_from: query.mail_from, rcpt_to: query.rcpt_to };
    let filed = shared.mailroom.import(&asked.caller, import).await;
    let filed = filed.map_err(|error| Problem::of(&error, Doing::Adding))?;
    let mut json = Json::with_capacity(96);
    json.raw(r#"{"mailbox":"#).string(&shared.mailroom.spelling(&filed.mailbox));
    json.raw(r#","id":""#).plain(&filed.id.digits()).raw("\"}");
    Ok((StatusCode::CREATED, [(CONTENT_TYPE, "application/json; charset=utf-8")], json.finish()).into_response())
}

impl Query {
    /// Every word of it is known and makes sense, or the request is refused: a misspelt one would lose what it says.
    fn read(query: &str) -> Result<Self, Problem> {
        let mut read = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decode_str(value).decode_utf8().map_err(|_| Problem::bad_query("it is not UTF-8"))?;
            match key {
                "mailbox" => once(&mut read.mailbox, value.into_owned())?,
                "receivedAt" => once(&mut read.received_at, time(&value)?)?,
                "mailFrom" if value.is_empty() => once(&mut read.mail_from, ReversePath(None))?,
                "mailFrom" => once(&mut read.mail_from, ReversePath(Some(address(&value)?)))?,
                "rcptTo" => read.rcpt_to.push(address(&value)?),
                _ => return Err(Problem::bad_query("it has another word than these")),
            }
        }
        Ok(read)
    }
}

fn once<T>(place: &mut Option<T>, value: T) -> Result<(), Problem> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Problem::bad_query("only rcptTo may be repeated")),
    }
}

/// To the microsecond, as every time in a store.
fn time(text: &str) -> Result<Timestamp, Problem> {
    let at: Option<Timestamp> = text.parse().ok();
    let at = at.and_then(|at| Timestamp::from_microsecond(at.as_microsecond()).ok());
    at.ok_or_else(|| Problem::bad_query("receivedAt is a time as 2026-11-15T07:10:58.123456Z"))
}

fn address(text: &str) -> Result<Address, Problem> {
    Address::parse(text, Charset::Utf8).map_err(|_| Problem::bad_query("mailFrom and rcptTo are addresses"))
}
