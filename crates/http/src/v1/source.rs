//! `GET /api/v1/mailbox/{name}/{id}/source`: the stored bytes, not one changed and none copied.

use axum::http::HeaderValue;
use axum::response::Response;

use super::answer;
use crate::asked::{Asked, mailbox, which};
use crate::problem::{Doing, Problem};
use crate::shared::{Shared, placed};

/// Without a charset: the bytes may be in any, or in several.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain");

pub(crate) async fn source(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name, id, _source] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    let stored = shared.mailroom.read(&asked.caller, &mailbox, which(id)?).await;
    let stored = stored.map_err(|error| Problem::of(&error, Doing::Reading))?.ok_or_else(Problem::message_unknown)?;
    let place = shared.place(stored.raw.len())?;
    Ok(answer(TEXT, placed(stored.raw, place)))
}
