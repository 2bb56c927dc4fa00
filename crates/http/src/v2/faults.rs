//! `/api/v2/faults`: plans by which mail misbehaves as a test wants it, for as long as they last.

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use mailroom::faults::Count;

use super::params::Params;
use super::wire::fault::{FaultPlan, FaultPlans, FaultRequest};
use super::{About, Answer, Shape, body, changing, done, json, reading};
use crate::asked::Asked;
use crate::problem::Problem;
use crate::shared::Shared;

const EXAMPLE: &str = r#"{"id":"7h2k9m4n","mailbox":"alice","sender":null,"stage":"rcpt",
    "reply":{"code":451,"enhanced":"4.7.1","text":"As the fault plan 7h2k9m4n has it"},"first":2,"nth":null,
    "percent":null,"seed":null,"per":"plan","delay":null,"drop":false,"slow":null,"note":"greylisting",
    "createdAt":"2026-11-14T09:30:00.000000+00:00","expiresAt":"2026-11-14T09:40:00.000000+00:00","attempts":0,"fired":0}"#;

pub(crate) const LIST: About = About {
    id: "listFaults",
    summary: "List fault plans",
    detail: "Those in force that the caller may change, in the order in which they are asked, with the attempts that they \
             met on all nodes.",
    params: &[],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "The plans.",
        media_type: "application/json",
        shape: Shape::of::<FaultPlans>(
            r#"{"items":[{"id":"7h2k9m4n","mailbox":"alice","sender":null,"stage":"rcpt",
            "reply":{"code":451,"enhanced":"4.7.1","text":"As the fault plan 7h2k9m4n has it"},"first":2,"nth":null,
            "percent":null,"seed":null,"per":"plan","delay":null,"drop":false,"slow":null,"note":"greylisting",
            "createdAt":"2026-11-14T09:30:00.000000+00:00","expiresAt":"2026-11-14T09:40:00.000000+00:00","attempts":3,
            "fired":2}]}"#,
        ),
    }],
    problems: &["not-in-public-mode"],
};

pub(crate) const PLAN: About = About {
    id: "planFault",
    summary: "Plan a fault",
    detail: "Mail for a mailbox, from a sender, or all mail is refused, held back, dropped or read slowly: at each attempt, at \
             the first ones, at the nth, or at a percentage drawn from a seed. In force at once, on other nodes within \
             moments, until it expires or is removed. Several plans are asked in the order in which they were made.",
    params: &[],
    bodies: &[(
        "application/json",
        Shape::of::<FaultRequest>(
            r#"{"mailbox":"alice","reply":{"code":451,"enhanced":"4.7.1"},"first":2,"ttl":"10m","note":"greylisting"}"#,
        ),
    )],
    answers: &[Answer {
        status: 201,
        about: "The plan.",
        media_type: "application/json",
        shape: Shape::of::<FaultPlan>(EXAMPLE),
    }],
    problems: &["bad-mailbox", "not-in-public-mode", "too-many-faults", "outcome-unknown", "store-full"],
};

pub(crate) const REMOVE: About = About {
    id: "removeFault",
    summary: "Remove a fault plan",
    detail: "Mail is as it was, on every node within moments.",
    params: &[],
    bodies: &[],
    answers: &[Answer { status: 204, about: "It does nothing any more.", media_type: "", shape: Shape::Nothing }],
    problems: &["not-in-public-mode", "fault-unknown", "outcome-unknown"],
};

pub(crate) async fn list(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    Params::read(asked, LIST.params)?;
    let plans = shared.mailroom.fault_plans(&asked.caller).await.map_err(reading)?;
    let items = plans.iter().map(|(plan, count)| FaultPlan::of(&shared.mailroom, plan, *count)).collect();
    json(shared, StatusCode::OK, &FaultPlans { items })
}

pub(crate) async fn plan(shared: &Shared, asked: &Asked, body: Bytes) -> Result<Response, Problem> {
    Params::read(asked, PLAN.params)?;
    let request: FaultRequest = body::read(shared, asked, &body)?;
    let new = request.understood(&shared.mailroom)?;
    let plan = shared.mailroom.plan_fault(&asked.caller, new).await.map_err(changing)?;
    json(shared, StatusCode::CREATED, &FaultPlan::of(&shared.mailroom, &plan, Count::default()))
}

pub(crate) async fn remove(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [id] = asked.tail();
    Params::read(asked, REMOVE.params)?;
    let id = percent_encoding::percent_decode_str(id).decode_utf8_lossy();
    match shared.mailroom.remove_fault(&asked.caller, &id).await.map_err(changing)? {
        true => Ok(done()),
        false => Err(Problem::fault_unknown()),
    }
}
