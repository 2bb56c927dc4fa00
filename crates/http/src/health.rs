//! Whether the process lives, and whether it can do its work. For probes: nothing about mail is told.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use net::Phase;

use crate::problem::{Doing, Problem};
use crate::shared::Shared;

/// A store that takes longer than this to say anything is not ready.
const PATIENCE: Duration = Duration::from_secs(5);

/// `GET /livez`: an answer is the answer.
pub(crate) fn live() -> Response {
    "ok\n".into_response()
}

/// `GET /readyz`: the store answers and no stop is under way.
pub(crate) async fn ready(shared: &Shared) -> Result<Response, Problem> {
    if shared.stop.phase() > Phase::Running {
        return Err(Problem::draining());
    }
    match tokio::time::timeout(PATIENCE, shared.mailroom.ready()).await {
        Ok(Ok(())) => Ok("ready\n".into_response()),
        Ok(Err(error)) => Err(Problem::of(&error, Doing::Reading)),
        Err(_elapsed) => Err(Problem::timed_out(Doing::Reading)),
    }
}
