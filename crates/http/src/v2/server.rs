//! `GET /api/v2`: what this server is, what its engine can, and its limits.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::params::Params;
use super::{About, Answer, Shape, json};
use crate::asked::Asked;
use crate::problem::Problem;
use crate::shared::Shared;

pub(crate) const READ: About = About {
    id: "readServer",
    summary: "What this server is",
    detail: "Its version, who may do what, what its engine promises and can, and the limits of requests.",
    params: &[],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "The server.",
        media_type: "application/json",
        shape: Shape::of::<Server>(
            r#"{"name":"postkeep","version":"0.1.0","mode":"open",
            "engine":{"name":"memory","promise":"until the program ends","wholeView":true},
            "limits":{"bodyMax":1048576,"messageMax":26214400,"jsonDepthMax":32,"bulkMax":1000,
            "pageDefault":50,"pageMax":500,"pageFullMax":20}}"#,
        ),
    }],
    problems: &[],
};

/// This server.
#[derive(Serialize, ToSchema)]
struct Server {
    /// `postkeep`.
    name: &'static str,
    /// Its version.
    version: &'static str,
    /// `access.mode`.
    mode: &'static str,
    /// What keeps the mail.
    engine: Engine,
    /// What a request may be.
    limits: Limits,
}

/// What keeps the mail.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Engine {
    /// `memory`, `disk` or `jetstream`.
    name: &'static str,
    /// What a delivery promises.
    promise: &'static str,
    /// Whether lists over all mailboxes are complete, or only what this node knows.
    whole_view: bool,
}

/// What a request may be.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Limits {
    /// Bytes of a JSON body.
    body_max: u64,
    /// Bytes of a message.
    message_max: u64,
    /// Levels of a JSON body.
    json_depth_max: usize,
    /// Messages that one request may delete.
    bulk_max: usize,
    /// Messages of a page.
    page_default: usize,
    /// Messages of a page at most.
    page_max: usize,
    /// Messages of a page with more than summaries.
    page_full_max: usize,
}

pub(crate) async fn read(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    Params::read(asked, READ.params)?;
    let (abilities, settings) = (shared.mailroom.abilities(), &shared.settings);
    let server = Server {
        name: "postkeep",
        version: env!("CARGO_PKG_VERSION"),
        mode: shared.mailroom.mode(),
        engine: Engine { name: abilities.engine, promise: abilities.promise, whole_view: abilities.whole_view },
        limits: Limits {
            body_max: settings.body_max,
            message_max: settings.message_max,
            json_depth_max: settings.json_depth_max,
            bulk_max: settings.bulk_max,
            page_default: settings.page_default,
            page_max: settings.page_max,
            page_full_max: settings.page_full_max,
        },
    };
    json(shared, StatusCode::OK, &server)
}
