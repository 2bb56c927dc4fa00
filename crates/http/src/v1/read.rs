//! `GET /api/v1/mailbox/{name}/{id}`: one message taken apart.

use axum::response::Response;

use super::{json, wire};
use crate::asked::{Asked, mailbox, which};
use crate::problem::{Doing, Problem};
use crate::shared::{Shared, placed};

pub(crate) async fn read(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name, id] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    let stored = shared.mailroom.read(&asked.caller, &mailbox, which(id)?).await;
    let stored = stored.map_err(|error| Problem::of(&error, Doing::Reading))?.ok_or_else(Problem::message_unknown)?;
    let (size, view) = (stored.raw.len(), shared.view);
    let (name, base_url) = (shared.mailroom.spelling(&mailbox).into_owned(), asked.base_url(shared));
    let place = shared.place(size)?;
    let body = shared.work(size, move || wire::message(&name, &stored.summary, &view(&stored.raw), &base_url)).await;
    Ok(json(placed(body, place)))
}
