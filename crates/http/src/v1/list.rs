//! `GET /api/v1/mailbox/{name}`: all messages of a mailbox, oldest first.

use axum::response::Response;
use mailroom::{Order, Page, Position};

use super::{json, wire};
use crate::asked::{Asked, mailbox};
use crate::problem::{Doing, Problem};
use crate::shared::{Shared, placed};

/// So many summaries are asked for at once. The contract knows no pages, so they are asked for until all are there.
const PAGE: usize = 10_000;

pub(crate) async fn list(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    let mut items = Vec::new();
    let mut after = None;
    loop {
        let page = Page { after, limit: PAGE, order: Order::Oldest };
        let listing = shared.mailroom.list(&asked.caller, &mailbox, page).await;
        let listing = listing.map_err(|error| Problem::of(&error, Doing::Reading))?;
        let (more, last) = (listing.more, listing.items.last().map(|summary| Position::from(summary.id)));
        if items.is_empty() {
            items = listing.items;
        } else {
            items.extend(listing.items);
        }
        after = match last {
            Some(last) if more => Some(last),
            _ => break,
        };
    }
    let name = shared.mailroom.spelling(&mailbox).into_owned();
    let size = wire::list_size(&name, &items);
    let place = shared.place(size)?;
    let body = shared.work(size, move || wire::list(&name, &items)).await;
    Ok(json(placed(body, place)))
}
