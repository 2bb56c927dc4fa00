//! `DELETE /api/v1/mailbox/{name}/{id}`: one message goes.

use axum::response::Response;

use super::ok;
use crate::asked::{Asked, mailbox, which};
use crate::problem::{Doing, Problem};
use crate::shared::Shared;

pub(crate) async fn delete(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name, id] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    match shared.mailroom.delete(&asked.caller, &mailbox, which(id)?).await {
        Ok(true) => Ok(ok()),
        Ok(false) => Err(Problem::message_unknown()),
        Err(error) => Err(Problem::of(&error, Doing::Changing)),
    }
}
