//! Inbucket's monitor: a WebSocket that tells of each message, for the clients that were written for it.
//!
//! `GET /api/v1/monitor/messages[/{name}]` and the same under `/api/v2`. The connection leaves HTTP and stays in its task:
//! the handshake is answered here, and when the answer is out the connection is handed to [`Talk`].

mod frame;
mod handshake;
mod talk;

use std::sync::Arc;

use axum::response::Response;
use mail::Mailbox;
use mailroom::Scope;

use super::seat;
use crate::asked::{Asked, mailbox};
use crate::problem::{Doing, Problem};
use crate::shared::Shared;

pub(crate) use talk::Talk;

/// Whose frames are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dialect {
    /// The header of each message that comes.
    V1,
    /// What happened, and the header or the name of the message.
    V2,
}

/// All mailboxes.
pub(crate) async fn all(shared: &Arc<Shared>, asked: &Asked, dialect: Dialect) -> Result<Response, Problem> {
    open(shared, asked, dialect, None).await
}

/// The mailbox that the path names.
pub(crate) async fn one(shared: &Arc<Shared>, asked: &Asked, dialect: Dialect) -> Result<Response, Problem> {
    let [name] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    open(shared, asked, dialect, Some(mailbox)).await
}

/// Who may not watch is told so before the connection leaves HTTP.
async fn open(
    shared: &Arc<Shared>,
    asked: &Asked,
    dialect: Dialect,
    mailbox: Option<Mailbox>,
) -> Result<Response, Problem> {
    if !shared.settings.monitor.enabled {
        return Err(Problem::monitor_off());
    }
    let slot = seat(shared, asked)?;
    let mut response = handshake::answer(asked)?;
    let scope = mailbox.map_or(Scope::All, Scope::Mailbox);
    let watch = shared.mailroom.watch(&asked.caller, scope).await;
    let watch = watch.map_err(|error| Problem::of(&error, Doing::Reading))?;
    let talk = Talk::new(Arc::clone(shared), asked.caller.clone(), dialect, watch, slot);
    response.extensions_mut().insert(talk);
    Ok(response)
}
