//! `/api/v2/mailboxes/{name}/wait` and `/api/v2/messages/wait`: one call that returns when the mail is there, or says why
//! it is not.

mod ask;

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use mailroom::wait::{Ending, Match, Outcome};
use mailroom::{Scope, wait};
use net::Phase;

use super::wire::message::Message;
use super::wire::wait::{Asked as Wanted, Diagnosis, Waited, seconds};
use super::{About, Answer, Kind, Param, Shape, json, message, reading};
use crate::asked::{Asked, mailbox};
use crate::problem::Problem;
use crate::shared::Shared;

const ANSWERS: &[Answer] = &[Answer {
    status: 200,
    about: "The mail is there; or none was expected, and none came.",
    media_type: "application/json",
    shape: Shape::of::<Waited>(include_str!("examples/waited.json")),
}];
const PROBLEMS: &[&str] =
    &["bad-mailbox", "bad-cursor", "timeout-too-long", "wait-timeout", "unexpected-message", "overloaded", "draining"];

const PARAMS: &[Param] = &[
    Param::new("from", Kind::Text, "The author's address, or @host for all of a domain."),
    Param::new("to", Kind::Text, "An envelope recipient that led here, or @host."),
    Param::new("subject", Kind::Text, "Somewhere in the subject, whatever the case."),
    Param::new("subject.is", Kind::Text, "The whole subject, whatever the case."),
    Param::new("subject.contains", Kind::Text, "The same as subject."),
    Param::new("subject.regex", Kind::Text, "An expression that the subject matches."),
    Param::new("body", Kind::Text, "Somewhere in the text or the visible HTML, whatever the case."),
    Param::new("body.is", Kind::Text, "The whole text, whatever the case."),
    Param::new("body.contains", Kind::Text, "The same as body."),
    Param::new("body.regex", Kind::Text, "An expression that the text matches."),
    Param::new("header", Kind::Texts, "A header field with its value, as X-Test-Run=42; may be repeated."),
    Param::new("has", Kind::Texts, "code, link, link:reset, attachment; several with commas, or repeated."),
    Param::new("since", Kind::Text, "Only what came behind this cursor; unless said, what lies there counts too."),
    Param::new("timeout", Kind::Duration, "How long to wait; wait.timeout_default unless said. 0s looks once."),
    Param::new("count", Kind::Number, "How many mails; 1 unless said."),
    Param::new("exclude", Kind::Texts, "Ids that were seen already; several with commas, or repeated."),
    Param::new("order", Kind::Word(&["newest", "oldest"]), "Which of several; oldest with since, else newest."),
    Param::new("expect", Kind::Word(&["mail", "none"]), "none: it is well when nothing comes until the time is over."),
];

pub(crate) const WAIT: About = About {
    id: "wait",
    summary: "Wait for mail",
    detail: "All matchers must hold. With `since` the first match behind it is meant, without it the newest there, else \
             the first to come. What is not met in time is 409, with what is known about why.",
    params: PARAMS,
    bodies: &[],
    answers: ANSWERS,
    problems: PROBLEMS,
};

pub(crate) const WAIT_MATCHING: About = About {
    id: "waitMatching",
    summary: "Wait for mail that is described in a body",
    detail: "The same as `wait`, for matchers that do not fit into a query. It changes nothing.",
    params: &[],
    bodies: &[("application/json", Shape::of::<Wanted>(include_str!("examples/wait.json")))],
    answers: ANSWERS,
    problems: PROBLEMS,
};

pub(crate) const WAIT_ANYWHERE: About = About {
    id: "waitAnywhere",
    summary: "Wait for mail in any mailbox",
    detail: "The same as `wait`, over all mailboxes. An engine without a view of all of them answers 501.",
    params: PARAMS,
    bodies: &[],
    answers: ANSWERS,
    problems: PROBLEMS,
};

pub(crate) async fn wait(shared: &Arc<Shared>, asked: &Asked) -> Result<Response, Problem> {
    let [name, _wait] = asked.tail();
    let scope = Scope::Mailbox(mailbox(shared, name)?);
    let wanted = ask::of_query(asked, WAIT.params)?;
    answer(shared, asked, scope, wanted).await
}

pub(crate) async fn wait_matching(shared: &Arc<Shared>, asked: &Asked, body: Bytes) -> Result<Response, Problem> {
    let [name, _wait] = asked.tail();
    let scope = Scope::Mailbox(mailbox(shared, name)?);
    super::params::Params::read(asked, WAIT_MATCHING.params)?;
    let wanted = super::body::read(shared, asked, &body)?;
    answer(shared, asked, scope, wanted).await
}

pub(crate) async fn wait_anywhere(shared: &Arc<Shared>, asked: &Asked) -> Result<Response, Problem> {
    let wanted = ask::of_query(asked, WAIT_ANYWHERE.params)?;
    if !shared.mailroom.abilities().whole_view {
        return Err(Problem::engine_limit("wait in all mailboxes at once", "wait in the one that the mail is for"));
    }
    answer(shared, asked, Scope::All, wanted).await
}

async fn answer(shared: &Arc<Shared>, asked: &Asked, scope: Scope, wanted: Wanted) -> Result<Response, Problem> {
    let limits = shared.mailroom.wait_limits();
    let mut ask = ask::ready(&wanted, &scope, limits)?;
    if let Some(since) = &wanted.since {
        ask.since = Some(shared.mailroom.since(&asked.caller, &scope, since).await.map_err(reading)?);
    }
    let outcome = run(shared, asked, ask).await?;
    let cursor = shared.mailroom.cursor(&scope, outcome.position);
    let waited = seconds(outcome.waited);
    match outcome.ending {
        Ending::Matched(mail) => {
            let messages = whole(shared, asked, &mail, limits.answer_max).await;
            json(shared, StatusCode::OK, &Waited { outcome: "matched", messages, cursor, waited })
        }
        Ending::Quiet => {
            json(shared, StatusCode::OK, &Waited { outcome: "quiet", messages: Vec::new(), cursor, waited })
        }
        Ending::Unexpected(mail) => {
            let messages = whole(shared, asked, &mail, limits.answer_max).await;
            let detail = "A mail came that matches what was not to come: see messages.";
            let problem = Problem::named(StatusCode::CONFLICT, "unexpected-message", "Unexpected mail", detail);
            Err(problem.with("messages", messages).with("cursor", cursor).with("waited", waited))
        }
        Ending::TimedOut(why) => {
            let (title, detail) = ("No mail matched in time", why.detail.clone());
            let problem = Problem::named(StatusCode::CONFLICT, "wait-timeout", title, detail);
            let told = Diagnosis::of(shared, &why, wanted, cursor, waited);
            Err(problem.with_all(told))
        }
    }
}

/// Wait, unless the server is to stop: then whoever waits asks again, here or at another node.
async fn run(shared: &Shared, asked: &Asked, ask: wait::Ask) -> Result<Outcome, Problem> {
    let mut stop = shared.stop.clone();
    tokio::select! {
        outcome = shared.mailroom.wait(&asked.caller, asked.client, ask) => outcome.map_err(reading),
        () = stop.reached(Phase::Draining) => Err(Problem::draining()),
    }
}

/// The mails whole, as long as they fit; then without their bodies.
async fn whole(shared: &Shared, asked: &Asked, mail: &[Match], answer_max: usize) -> Vec<Message> {
    let (mut messages, mut size) = (Vec::with_capacity(mail.len()), 0);
    for found in mail {
        let mut told = message::told(shared, asked, &found.mailbox, &found.stored, &found.letter);
        size += found.letter.bytes();
        if size > answer_max {
            told.leave_bodies_out();
        }
        messages.push(told);
    }
    messages
}
