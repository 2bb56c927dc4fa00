//! `/api/v2/mailboxes`: which mailboxes hold mail, and what one holds.

use axum::http::header::LINK;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use mail::Mailbox;
use mailroom::{MailboxOrder, MailboxPage, MailboxState, Nodes, Scope};
use serde::Serialize;
use utoipa::ToSchema;

use super::etag::Tag;
use super::params::{Params, refuse};
use super::wire::list::Reach;
use super::wire::time;
use super::{About, Answer, Kind, Param, Shape, json, list_tag, next_link, reading};
use crate::asked::{Asked, mailbox};
use crate::problem::Problem;
use crate::shared::Shared;

pub(crate) const LIST: About = About {
    id: "listMailboxes",
    summary: "List the mailboxes that hold mail",
    detail: "By name, or the one with the newest mail first. Where mail is kept on brokers, each node remembers to whom it \
             delivered lately, `scope` tells how many of them were asked and answered, and there is no order by newest mail.",
    params: &[
        Param::new("prefix", Kind::Text, "Only names that begin so."),
        Param::new("order", Kind::Word(&["name", "newest"]), "By name unless said."),
        Param::new("limit", Kind::Number, "Mailboxes of a page; http.page_default unless said, http.page_max at most."),
        Param::new("page", Kind::Text, "The `next` of the page before."),
    ],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "A page.",
        media_type: "application/json",
        shape: Shape::of::<MailboxList>(
            r#"{"items":[{"mailbox":"alice","messages":2,"bytes":9120,"cursor":"AQAAAAAAAAAAcxGxTgAAAAAAAAACAGkXbXA",
            "newestAt":"2026-11-14T09:30:00.123456+00:00"}],"next":null,
            "scope":{"complete":true,"nodesAsked":1,"nodesAnswered":1}}"#,
        ),
    }],
    problems: &["not-in-public-mode"],
};

pub(crate) const READ: About = About {
    id: "readMailbox",
    summary: "What a mailbox holds",
    detail: "Its cursor is the place to wait or list from: take it, act, and what arrives from then on is new. A mailbox \
             that never got mail has one too.",
    params: &[],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "The mailbox.",
        media_type: "application/json",
        shape: Shape::of::<MailboxAnswer>(
            r#"{"mailbox":"alice","messages":2,"bytes":9120,"cursor":"AQAAAAAAAAAAcxGxTgAAAAAAAAACAGkXbXA"}"#,
        ),
    }],
    problems: &["bad-mailbox", "inbox-secret-required", "inbox-expired"],
};

/// A page of mailboxes.
#[derive(Serialize, ToSchema)]
struct MailboxList {
    /// The mailboxes.
    items: Vec<MailboxItem>,
    /// The next page, for `page`; null when this is the last.
    next: Option<String>,
    /// Who told it.
    scope: Reach,
}

/// A mailbox in a list.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MailboxItem {
    #[serde(flatten)]
    mailbox: MailboxAnswer,
    /// When its newest message came.
    #[schema(format = DateTime)]
    newest_at: String,
}

/// What a mailbox holds.
#[derive(Serialize, ToSchema)]
struct MailboxAnswer {
    /// Its name.
    mailbox: String,
    /// How many messages; null where counting would take too long.
    messages: Option<u64>,
    /// How many bytes, likewise.
    bytes: Option<u64>,
    /// The place behind all that is there now.
    cursor: String,
}

pub(crate) async fn list(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let params = Params::read(asked, LIST.params)?;
    let prefix = params.exact("prefix").unwrap_or_default().to_lowercase();
    let page = params.exact("page");
    let place = page.as_deref().map(Place::read).transpose()?;
    let by_newest = match &place {
        Some(place) => matches!(place, Place::Before(_)),
        None => params.word("order", &["name", "newest"])? == Some(1),
    };
    let order = match &place {
        Some(Place::After(name)) => MailboxOrder::Name { after: Some(name) },
        Some(Place::Before(id)) => MailboxOrder::Newest { before: Some(*id) },
        None if by_newest => MailboxOrder::Newest { before: None },
        None => MailboxOrder::default(),
    };
    let limit = super::messages::limit(shared, params.number("limit")?, false)?;
    let (states, next, nodes) = match order {
        MailboxOrder::Name { after } => {
            let page = shared.mailroom.list_mailboxes(&asked.caller, &prefix, after, limit).await.map_err(reading)?;
            (page.items, page.next.map(|last| format!("a{last}")), page.nodes)
        }
        MailboxOrder::Newest { .. } => {
            let page = MailboxPage { prefix: &prefix, order, limit };
            let states = shared.mailroom.mailboxes(&asked.caller, page).await.map_err(reading)?;
            let last = states.last().filter(|_| states.len() == limit).map(|last| format!("n{}", last.newest));
            (states, last, Nodes::ALONE)
        }
    };
    let link = next.as_deref().map(|next| next_link(shared, asked, next));
    let items = states.iter().map(|state| item(shared, state)).collect();
    let mut response = json(shared, StatusCode::OK, &MailboxList { items, next, scope: nodes.into() })?;
    if let Some(link) = link.and_then(|link| HeaderValue::try_from(link).ok()) {
        response.headers_mut().insert(LINK, link);
    }
    Ok(response)
}

pub(crate) async fn read(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    Params::read(asked, READ.params)?;
    let held = shared.mailroom.held(&asked.caller, &mailbox).await.map_err(reading)?;
    let tag: Tag = list_tag(shared, asked, held.position);
    if let Some(known) = tag.known(asked) {
        return Ok(known);
    }
    let answer = MailboxAnswer {
        mailbox: shared.mailroom.spelling(&mailbox).into_owned(),
        messages: held.messages,
        bytes: held.bytes,
        cursor: shared.mailroom.cursor(&Scope::Mailbox(mailbox), held.position),
    };
    Ok(tag.on(json(shared, StatusCode::OK, &answer)?))
}

fn item(shared: &Shared, state: &MailboxState) -> MailboxItem {
    let mailbox = MailboxAnswer {
        mailbox: shared.mailroom.spelling(&state.mailbox).into_owned(),
        messages: Some(state.messages),
        bytes: Some(state.bytes),
        cursor: shared.mailroom.cursor(&Scope::Mailbox(state.mailbox.clone()), state.position),
    };
    MailboxItem { mailbox, newest_at: time(state.newest_at) }
}

/// Where a page begins.
enum Place {
    After(Mailbox),
    Before(mail::MessageId),
}

impl Place {
    fn read(text: &str) -> Result<Self, Problem> {
        let bad = || refuse("page", "It is none that this server gave out. Take the `next` of a list.");
        match text.split_at_checked(1) {
            Some(("a", name)) if !name.is_empty() => Ok(Self::After(Mailbox::from_canonical(name))),
            Some(("n", id)) => id.parse().map(Self::Before).map_err(|_| bad()),
            _ => Err(bad()),
        }
    }
}
