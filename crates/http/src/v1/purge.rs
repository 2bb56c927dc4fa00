//! `DELETE /api/v1/mailbox/{name}`: all messages of a mailbox go. One that never got mail is empty already.

use axum::response::Response;

use super::ok;
use crate::asked::{Asked, mailbox};
use crate::problem::{Doing, Problem};
use crate::shared::Shared;

pub(crate) async fn purge(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    match shared.mailroom.purge(&asked.caller, &mailbox).await {
        Ok(_gone) => Ok(ok()),
        Err(error) => Err(Problem::of(&error, Doing::Changing)),
    }
}
