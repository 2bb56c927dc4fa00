//! `GET /metrics`: the program's counters, as Prometheus reads them. What is counted is each room's own business, and how
//! it is written the program's.

use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;
use crate::shared::Shared;

/// The text format of Prometheus.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Writes all counters as they are now.
pub type Render = Box<dyn Fn() -> String + Send + Sync>;

/// The counters; nothing is there when they are not to be told.
pub(crate) fn counters(shared: &Shared) -> Result<Response, Problem> {
    let render = shared.counters.as_ref().ok_or_else(Problem::route_unknown)?;
    Ok(([(CONTENT_TYPE, TEXT)], render()).into_response())
}
