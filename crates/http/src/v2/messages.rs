//! `/api/v2/mailboxes/{name}/messages`: what a mailbox holds, page by page, and emptying it.

use std::borrow::Cow;

use axum::http::header::LINK;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use mail::{Mailbox, MessageId, Query};
use mailroom::search::Told;
use mailroom::{Item, Listing, Order, Page, Position, Scope, Search};

use super::fields::Fields;
use super::params::{Params, refuse};
use super::search::{Q, query};
use super::wire::list::{MessageItem, MessageList};
use super::wire::summary::Summary;
use super::{About, Answer, Kind, Param, Shape, changing, done, json, list_tag, message, next_link, reading};
use crate::asked::{Asked, mailbox};
use crate::problem::Problem;
use crate::shared::Shared;

pub(crate) const LIST: About = About {
    id: "listMessages",
    summary: "List a mailbox",
    detail: "Summaries, newest first. A mailbox that never got mail is an empty one. The weak ETag changes with the \
             mailbox, and each minute.",
    params: &[
        Q,
        Param::new("order", Kind::Word(&["newest", "oldest"]), "Which end comes first; newest unless said."),
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
        shape: Shape::of::<MessageList>(include_str!("examples/list.json")),
    }],
    problems: &["bad-mailbox", "bad-cursor", "bad-query"],
};

const IDS: &str = "Only these messages, in the list's order; unknown ones are left out. Up to http.page_full_max of them, and \
                   nothing else that chooses.";

pub(crate) const PURGE: About = About {
    id: "purgeMailbox",
    summary: "Empty a mailbox",
    detail: "Everything that is there goes; what arrives meanwhile stays. An empty mailbox is empty already.",
    params: &[Param::new("until", Kind::Text, "A cursor of this mailbox: what came behind it stays.")],
    bodies: &[],
    answers: &[Answer { status: 204, about: "It is empty.", media_type: "", shape: Shape::Nothing }],
    problems: &["bad-mailbox", "bad-cursor"],
};

/// Which page is asked for.
struct Asks {
    order: Order,
    after: Option<Position>,
    limit: usize,
    fields: Fields,
}

pub(crate) async fn list(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name, _messages] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    let params = Params::read(asked, LIST.params)?;
    let asks = Asks::read(shared, &params)?;
    let scope = Scope::Mailbox(mailbox.clone());
    let since = match params.exact("since") {
        Some(text) => Some(shared.mailroom.since(&asked.caller, &scope, &text).await.map_err(reading)?.position),
        None => None,
    };
    let query = query(&params)?;
    let ids = ids(shared, &params)?;
    let position = shared.mailroom.position(&asked.caller, &mailbox).await.map_err(reading)?;
    let tag = list_tag(shared, asked, position);
    if let Some(known) = tag.known(asked) {
        return Ok(known);
    }
    let listed = match query {
        Some(query) => found(shared, asked, query, &scope, &asks, since, position).await?,
        None if !ids.is_empty() => {
            let ids: Vec<MessageId> = ids.iter().filter_map(|id| id.parse().ok()).collect();
            let found = shared.mailroom.find(&asked.caller, &mailbox, &ids, asks.order).await.map_err(reading)?;
            listed(&mailbox, found, &asks, None)
        }
        None => listed(&mailbox, page(shared, asked, &mailbox, &asks, since).await?, &asks, since),
    };
    let list = MessageList {
        items: items(shared, asked, &listed.items, &asks.fields).await?,
        total: listed.total,
        next: listed.next,
        cursor: shared.mailroom.cursor(&scope, listed.position),
        search: listed.told.map(Into::into),
    };
    let response = linked(shared, asked, list.next.as_deref(), json(shared, StatusCode::OK, &list)?);
    // What a search left out for want of time it may find when it is asked again.
    Ok(if listed.told.is_none_or(|told| told.complete) { tag.on(response) } else { response })
}

/// A page as it was found.
struct Listed {
    items: Vec<Item>,
    total: Option<u64>,
    next: Option<String>,
    position: Position,
    told: Option<Told>,
}

fn listed(mailbox: &Mailbox, listing: Listing, asks: &Asks, since: Option<Position>) -> Listed {
    let next = listing.items.last().filter(|_| listing.more).map(|last| spelled(asks.order, last.id));
    let item = |summary| Item { mailbox: mailbox.clone(), summary };
    let total = listing.total.filter(|_| since.is_none());
    let items = listing.items.into_iter().map(item).collect();
    Listed { items, total, next, position: listing.position, told: None }
}

async fn found(
    shared: &Shared,
    asked: &Asked,
    query: Query,
    scope: &Scope,
    asks: &Asks,
    since: Option<Position>,
    position: Position,
) -> Result<Listed, Problem> {
    let search = Search {
        query,
        scope: scope.clone(),
        order: asks.order,
        since: since.unwrap_or(Position::START),
        behind: asks.after,
        limit: asks.limit,
    };
    let found = shared.mailroom.search(&asked.caller, search).await.map_err(reading)?;
    let next = found.next.map(|Position(last)| spelled(asks.order, MessageId::new(last)));
    Ok(Listed { items: found.items, total: None, next, position, told: Some(found.told) })
}

/// An answer with the link to the next page, if there is one.
pub(super) fn linked(shared: &Shared, asked: &Asked, next: Option<&str>, mut response: Response) -> Response {
    let link = next.map(|next| next_link(shared, asked, next));
    if let Some(link) = link.and_then(|link| HeaderValue::try_from(link).ok()) {
        response.headers_mut().insert(LINK, link);
    }
    response
}

pub(crate) async fn purge(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name, _messages] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    let params = Params::read(asked, PURGE.params)?;
    let purged = match params.exact("until") {
        Some(until) => shared.mailroom.purge_until(&asked.caller, &mailbox, &until).await,
        None => shared.mailroom.purge(&asked.caller, &mailbox).await,
    };
    purged.map_err(changing)?;
    Ok(done())
}

impl Asks {
    fn read(shared: &Shared, params: &Params<'_>) -> Result<Self, Problem> {
        let fields = Fields::read(params)?;
        let page = params.exact("page").map(|text| read_page(&text)).transpose()?;
        let order = params.word("order", &["newest", "oldest"])?;
        let order = order.map(|word| if word == 0 { Order::Newest } else { Order::Oldest });
        if let (Some((paged, _)), Some(order)) = (page, order)
            && paged != order
        {
            return Err(refuse("page", "It is of a list in the other order. Begin anew, or leave order out."));
        }
        let order = page.map(|(order, _)| order).or(order).unwrap_or(Order::Newest);
        let limit = limit(shared, params.number("limit")?, fields.is_full())?;
        Ok(Self { order, after: page.map(|(_, after)| after), limit, fields })
    }
}

/// The messages that are asked for by name. Whatever else would choose among them is refused, since it would not be heard.
pub(super) fn ids<'a>(shared: &Shared, params: &Params<'a>) -> Result<Vec<Cow<'a, str>>, Problem> {
    let ids: Vec<Cow<'_, str>> = params.exacts("ids").collect();
    let others = ["q", "since", "page", "limit"].into_iter();
    if let Some(other) = others.filter(|_| !ids.is_empty()).find(|other| params.exact(other).is_some()) {
        return Err(refuse(other, format!("ids names the messages already. Leave {other} out, or ids.")));
    }
    let max = shared.settings.page_full_max;
    if ids.len() > max {
        return Err(refuse(
            "ids",
            format!("Up to {max} messages are told at once (http.page_full_max). Ask for fewer."),
        ));
    }
    Ok(ids)
}

/// How many a page has. More than is allowed is refused, not cut in silence.
pub(super) fn limit(shared: &Shared, asked: Option<u64>, is_full: bool) -> Result<usize, Problem> {
    let settings = &shared.settings;
    let (max, key) = match is_full {
        true => (settings.page_full_max, "http.page_full_max, since bodies are read for these fields"),
        false => (settings.page_max, "http.page_max"),
    };
    match asked {
        None => Ok(settings.page_default.min(max)),
        Some(limit) if limit >= 1 && limit <= max as u64 => Ok(limit as usize),
        Some(_) => {
            Err(refuse("limit", format!("A page has 1 to {max} items ({key}). Ask for less, and then for the next.")))
        }
    }
}

async fn page(
    shared: &Shared,
    asked: &Asked,
    mailbox: &Mailbox,
    asks: &Asks,
    since: Option<Position>,
) -> Result<Listing, Problem> {
    let after = match asks.order {
        Order::Oldest => asks.after.max(since),
        Order::Newest => asks.after,
    };
    let page = Page { after, limit: asks.limit, order: asks.order };
    let mut listing = shared.mailroom.list(&asked.caller, mailbox, page).await.map_err(reading)?;
    if let (Order::Newest, Some(since)) = (asks.order, since) {
        let there = listing.items.len();
        listing.items.retain(|summary| Position::from(summary.id) > since);
        listing.more &= listing.items.len() == there;
    }
    Ok(listing)
}

/// Messages as they are shown.
pub(super) async fn items(
    shared: &Shared,
    asked: &Asked,
    listed: &[Item],
    fields: &Fields,
) -> Result<Vec<MessageItem>, Problem> {
    let mut items = Vec::with_capacity(listed.len());
    for Item { mailbox, summary } in listed {
        let item = match fields.is_full() {
            false => Some(MessageItem::Summary(Summary::told(&shared.mailroom, &asked.caller, mailbox, summary))),
            true => {
                message::whole_by_id(shared, asked, mailbox, summary.id).await?.map(Box::new).map(MessageItem::Whole)
            }
        };
        // One that went meanwhile is left out.
        items.extend(item.map(|item| fields.pick(item)));
    }
    Ok(items)
}

/// A page is named by the order and the last message of the one before, so arrivals shift nothing.
fn spelled(order: Order, last: MessageId) -> String {
    let order = if order == Order::Newest { 'n' } else { 'o' };
    format!("{order}{last}")
}

fn read_page(text: &str) -> Result<(Order, Position), Problem> {
    let bad = || refuse("page", "It is none that this server gave out. Take the `next` of a list.");
    let order = match text.as_bytes().first() {
        Some(b'n') => Order::Newest,
        Some(b'o') => Order::Oldest,
        _ => return Err(bad()),
    };
    let id: MessageId = text[1..].parse().map_err(|_| bad())?;
    Ok((order, Position::from(id)))
}
