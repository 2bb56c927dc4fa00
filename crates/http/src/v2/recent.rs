//! `/api/v2/messages`: the newest mail of all mailboxes, or what a search finds in it.

use std::borrow::Cow;

use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use mail::MessageId;
use mailroom::{Mark, Nodes, Position, RecentAsk, Scope, StoreError};

use super::fields::Fields;
use super::messages::{ids, items, limit, linked};
use super::params::{Params, refuse};
use super::search::{Q, query};
use super::wire::list::RecentList;
use super::{About, Answer, Kind, Param, Shape, json, reading};
use crate::asked::Asked;
use crate::problem::Problem;
use crate::shared::Shared;

pub(crate) const LIST: About = About {
    id: "listRecent",
    summary: "List all mailboxes",
    detail: "The newest mail of all mailboxes that the caller may list. Where mail is kept on brokers, each node remembers \
             what it delivered lately, and `scope` tells how many of them were asked and answered.",
    params: &[
        Q,
        Param::new("limit", Kind::Number, "Messages of a page; http.page_default unless said, http.page_max at most."),
        Param::new("page", Kind::Text, "The `next` of the page before."),
        Param::new("since", Kind::Text, "Only what came behind this cursor."),
        Param::new("fields", Kind::Text, "Members to show with commas between, or * for all."),
        Param::new("ids", Kind::Texts, IDS),
    ],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "A page.",
        media_type: "application/json",
        shape: Shape::of::<RecentList>(include_str!("examples/recent.json")),
    }],
    problems: &["bad-cursor", "bad-query", "engine-limit"],
};

const IDS: &str = "Only these messages, each as MAILBOX/ID, newest first; unknown ones, and those of mailboxes that may not be \
                   listed, are left out. Up to http.page_full_max of them, and nothing else that chooses.";

pub(crate) async fn list(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let params = Params::read(asked, LIST.params)?;
    let fields = Fields::read(&params)?;
    let ids = ids(shared, &params)?;
    if !ids.is_empty() {
        return these(shared, asked, &ids, &fields).await;
    }
    let ask = RecentAsk {
        query: query(&params)?,
        since: since(shared, asked, &params).await?,
        behind: params.exact("page").map(|text| mark(&text)).transpose()?,
        limit: limit(shared, params.number("limit")?, fields.is_full())?,
    };
    let recent = shared.mailroom.list_recent(&asked.caller, ask).await.map_err(reading)?;
    let list = RecentList {
        items: items(shared, asked, &recent.items, &fields).await?,
        total: recent.total,
        next: recent.next.map(spelled),
        cursor: recent.position.map(|position| shared.mailroom.cursor(&Scope::All, position)),
        scope: recent.nodes.into(),
        search: recent.search.map(Into::into),
    };
    Ok(linked(shared, asked, list.next.as_deref(), json(shared, StatusCode::OK, &list)?))
}

/// The messages of these names.
async fn these(shared: &Shared, asked: &Asked, ids: &[Cow<'_, str>], fields: &Fields) -> Result<Response, Problem> {
    let mut named = Vec::with_capacity(ids.len());
    for text in ids {
        let unslashed = || refuse("ids", "Each is a mailbox, a slash and the id of a message, as alice/1nbmq3r7c0v8h.");
        let (name, id) = text.rsplit_once('/').ok_or_else(unslashed)?;
        // What can be no name or no id names no message, and is left out like one that is gone.
        named.extend(shared.mailroom.named(name).ok().zip(id.parse::<MessageId>().ok()));
    }
    let found = shared.mailroom.find_everywhere(&asked.caller, &named).await.map_err(reading)?;
    let items = items(shared, asked, &found, fields).await?;
    let list = RecentList { items, total: None, next: None, cursor: None, scope: Nodes::ALONE.into(), search: None };
    json(shared, StatusCode::OK, &list)
}

/// Where nobody sees all mailboxes there is no place among all mail to go on from.
async fn since(shared: &Shared, asked: &Asked, params: &Params<'_>) -> Result<Option<Position>, Problem> {
    let Some(text) = params.exact("since") else { return Ok(None) };
    if !shared.mailroom.abilities().whole_view {
        let (what, instead) = ("go on from a place among all mail", "list one mailbox with since");
        return Err(reading(StoreError::Unsupported { what, instead }.into()));
    }
    let since = shared.mailroom.since(&asked.caller, &Scope::All, &text).await.map_err(reading)?;
    Ok(Some(since.position))
}

/// A page is named by the last message of the one before: when it came, and its id.
fn spelled(mark: Mark) -> String {
    format!("{:x}-{}", mark.at.as_microsecond(), mark.id)
}

fn mark(text: &str) -> Result<Mark, Problem> {
    let read = |text: &str| {
        let (at, id) = text.split_once('-')?;
        let at = Timestamp::from_microsecond(i64::from_str_radix(at, 16).ok()?).ok()?;
        Some(Mark { at, id: id.parse::<MessageId>().ok()? })
    };
    read(text).ok_or_else(|| refuse("page", "It is none that this server gave out. Take the `next` of a list."))
}
