//! `POST /api/v2/mailboxes/{name}/messages/delete`: some messages go, all in one step.

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use mail::MessageId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::params::Params;
use super::{About, Answer, Shape, body, changing, json};
use crate::asked::{Asked, mailbox};
use crate::problem::Problem;
use crate::shared::Shared;

pub(crate) const DELETE: About = About {
    id: "deleteMessages",
    summary: "Delete some messages",
    detail: "1 to http.bulk_max ids. No ids is a mistake and never means all.",
    params: &[],
    bodies: &[("application/json", Shape::of::<DeleteRequest>(r#"{"ids":["1nbmq3r7c0v8h","1nbmq3r7c0v8j"]}"#))],
    answers: &[Answer {
        status: 200,
        about: "Which were there.",
        media_type: "application/json",
        shape: Shape::of::<DeleteAnswer>(r#"{"deleted":["1nbmq3r7c0v8h"],"missing":["1nbmq3r7c0v8j"]}"#),
    }],
    problems: &["bad-mailbox", "outcome-unknown"],
};

/// Which messages.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct DeleteRequest {
    /// Their ids.
    #[schema(min_items = 1)]
    ids: Vec<String>,
}

/// What became of them.
#[derive(Serialize, ToSchema)]
struct DeleteAnswer {
    /// Those that were there, and are gone.
    deleted: Vec<String>,
    /// Those that were not there.
    missing: Vec<String>,
}

pub(crate) async fn delete(shared: &Shared, asked: &Asked, body: Bytes) -> Result<Response, Problem> {
    let [name, _messages, _delete] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    Params::read(asked, DELETE.params)?;
    let DeleteRequest { ids } = body::read(shared, asked, &body)?;
    let max = shared.settings.bulk_max;
    if ids.is_empty() || ids.len() > max {
        return Err(body::refuse("ids", format!("1 to {max} ids go in one request (http.bulk_max). Name some.")));
    }
    // What can be no id names no message, and is missing like one that is gone.
    let known: Vec<MessageId> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    let gone = shared.mailroom.delete_all(&asked.caller, &mailbox, &known).await.map_err(changing)?;
    let deleted: Vec<String> = gone.iter().map(ToString::to_string).collect();
    let missing = ids.into_iter().filter(|id| !deleted.contains(id)).collect();
    json(shared, StatusCode::OK, &DeleteAnswer { deleted, missing })
}
