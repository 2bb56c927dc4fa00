//! `/api/v2/webhooks/dead`: events that no receiver took, for those who run the server.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use mailroom::{DeadWebhook, JobId};
use serde::Serialize;
use utoipa::ToSchema;

use super::params::Params;
use super::wire::time;
use super::{About, Answer, Shape, changing, json, reading};
use crate::asked::Asked;
use crate::problem::Problem;
use crate::shared::Shared;

pub(crate) const LIST: About = About {
    id: "listDeadWebhooks",
    summary: "List webhooks that were given up",
    detail: "Events of `[[webhook]]` tables that their targets did not take, the newest first; at most 1000.",
    params: &[],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "The events.",
        media_type: "application/json",
        shape: Shape::of::<DeadWebhookList>(
            r#"{"items":[{"id":"42","target":"shop","event":"deliver","mailbox":"alice","messageId":"1nbmq3r7c0v8h",
            "attempts":40,"reason":"given up after 40 attempts: it answered 500","diedAt":"2026-11-14T09:30:00.000000+00:00"}]}"#,
        ),
    }],
    problems: &["not-in-public-mode"],
};

pub(crate) const REPLAY: About = About {
    id: "replayWebhook",
    summary: "Send a webhook again that was given up",
    detail: "Behind what waits for the same mailbox, under the id that it always had.",
    params: &[],
    bodies: &[],
    answers: &[Answer { status: 202, about: "It waits to be sent.", media_type: "", shape: Shape::Nothing }],
    problems: &["not-in-public-mode", "webhook-unknown", "outcome-unknown", "store-full"],
};

/// All of them.
#[derive(Serialize, ToSchema)]
struct DeadWebhookList {
    /// The newest first.
    items: Vec<DeadWebhookItem>,
}

/// An event that was given up.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeadWebhookItem {
    /// What it goes by.
    id: String,
    /// The name of the table that says who was to be told.
    target: String,
    /// `deliver`, `delete` or `purge`.
    event: &'static str,
    /// Where it happened.
    mailbox: String,
    /// The message that it is about; the first of several; null for a purge.
    message_id: Option<String>,
    /// How often it was tried.
    attempts: u32,
    /// Why it was given up.
    reason: String,
    /// When.
    #[schema(format = DateTime)]
    died_at: String,
}

pub(crate) async fn list(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    Params::read(asked, LIST.params)?;
    let dead = shared.mailroom.dead_webhooks(&asked.caller).await.map_err(reading)?;
    json(shared, StatusCode::OK, &DeadWebhookList { items: dead.into_iter().map(|one| told(shared, one)).collect() })
}

pub(crate) async fn replay(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [_dead, id, _replay] = asked.tail();
    Params::read(asked, REPLAY.params)?;
    // What is no number is the id of none; whether the caller may know that is asked all the same.
    let id = JobId(id.parse().unwrap_or(u64::MAX));
    match shared.mailroom.replay_webhook(&asked.caller, id).await.map_err(changing)? {
        true => Ok(StatusCode::ACCEPTED.into_response()),
        false => Err(Problem::webhook_unknown()),
    }
}

fn told(shared: &Shared, dead: DeadWebhook) -> DeadWebhookItem {
    DeadWebhookItem {
        id: dead.id.0.to_string(),
        target: dead.target,
        event: dead.event.word(),
        mailbox: shared.mailroom.spelling(&dead.mailbox).into_owned(),
        message_id: dead.message.map(|id| id.to_string()),
        attempts: dead.attempts,
        reason: dead.reason,
        died_at: time(dead.died_at),
    }
}
