//! `GET /api/v2/events?mailbox=…&since=…`: what happens in these mailboxes, or in all that the caller may watch.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CONNECTION, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use mail::Mailbox;
use mailroom::{Followed, Scope};
use net::Slot;
use tokio::time::Instant;

use super::places::{self, Places};
use super::sse::Frames;
use super::story::{Line, Reason, Story, Thin};
use super::stream::Stream;
use super::{Live, seat, wire};
use crate::asked::Asked;
use crate::problem::{Doing, Problem};
use crate::shared::Shared;
use crate::v2::params::{Params, refuse};
use crate::v2::{About, Answer, Kind, Param, Shape};

/// What a client that comes back was told last.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
/// A proxy that holds answers back until they are whole would hold this one for ever.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

pub(crate) const WATCH: About = About {
    id: "watchEvents",
    summary: "Follow what happens",
    detail: "Server-sent events: `hello`, then `deliver`, `delete` and `purge` as they happen, and `resync` where something \
             is missing and the mailbox is to be listed anew. At least once, in order in each mailbox. The id of an event \
             is a cursor: sent back as Last-Event-ID it is gone on from, for as long as events.resume_window. Age and \
             `messagesMax` take messages without an event; `hello` tells both. On a cluster a stream over all mailboxes \
             is gone on from at its own node only, and where more happens in a second than events.all_rate_max, \
             `skipped` tells how much of it was left out.",
    params: &[
        Param::new(
            "mailbox",
            Kind::Texts,
            "A mailbox; up to events.mailboxes_max of them. None: all that may be watched.",
        ),
        Param::new(
            "refusals",
            Kind::Flag,
            "Tell what is refused as well (`refuse`), and what faults on demand do besides (`fault`), on the node that is \
             asked. Only over all mailboxes, for those who may list them all.",
        ),
        Param::new("since", Kind::Text, "A cursor to go on from; Last-Event-ID wins over it. None: from now on."),
    ],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "Events, until the stream is over after events.life_max; come back with the last id.",
        media_type: "text/event-stream",
        shape: Shape::Text,
    }],
    problems: &["bad-mailbox", "bad-cursor", "origin-refused", "not-in-public-mode"],
};

pub(crate) async fn watch_events(shared: &Arc<Shared>, asked: &Asked) -> Result<Response, Problem> {
    let slot = seat(shared, asked)?;
    let query = Query::read(shared, asked)?;
    let refusals = query.refusals.then(|| shared.mailroom.watch_refusals(&asked.caller));
    let refusals = refusals.transpose().map_err(|error| Problem::of(&error, Doing::Reading))?;
    let followed = follow(shared, asked, &query).await?;
    let stream = begin(shared, asked, query.since.is_some(), followed, slot).with_refusals(refusals);
    let mut response = Body::new(stream).into_response();
    let fields = response.headers_mut();
    fields.insert(CONTENT_TYPE, EVENT_STREAM);
    // Behind a stream the connection carries nothing else.
    fields.insert(CONNECTION, HeaderValue::from_static("close"));
    fields.insert(UNBUFFERED.0, UNBUFFERED.1);
    response.extensions_mut().insert(Live { write_max: shared.settings.events.write_max });
    Ok(response)
}

/// What is asked for.
struct Query {
    /// Each once, in order of their names, so that the order in the request does not matter.
    scopes: Vec<Scope>,
    since: Option<String>,
    /// Whether refusals are told.
    refusals: bool,
}

impl Query {
    fn read(shared: &Shared, asked: &Asked) -> Result<Self, Problem> {
        let params = Params::read(asked, WATCH.params)?;
        let mut mailboxes = BTreeSet::new();
        for name in params.exacts("mailbox") {
            mailboxes.insert(shared.mailroom.named(&name).map_err(Problem::bad_mailbox)?);
        }
        let max = shared.settings.events.mailboxes_max;
        if mailboxes.len() > max {
            let detail = format!("One stream follows up to {max} mailboxes (events.mailboxes_max). Open several.");
            return Err(refuse("mailbox", detail));
        }
        let refusals = params.flag("refusals")?.unwrap_or(false);
        if refusals && !mailboxes.is_empty() {
            return Err(refuse(
                "refusals",
                "What is refused is told over all mailboxes. Leave mailbox out, or refusals.",
            ));
        }
        let last = asked.fields().get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty());
        let since = last.map(str::to_owned).or_else(|| params.exact("since").map(Cow::into_owned));
        Ok(Self { scopes: scopes(mailboxes), since, refusals })
    }
}

fn scopes(mailboxes: BTreeSet<Mailbox>) -> Vec<Scope> {
    if mailboxes.is_empty() {
        return vec![Scope::All];
    }
    mailboxes.into_iter().map(Scope::Mailbox).collect()
}

async fn follow(shared: &Shared, asked: &Asked, query: &Query) -> Result<Vec<Followed>, Problem> {
    let told = |error: mailroom::Error| Problem::of(&error, Doing::Reading);
    let cursors = match &query.since {
        Some(since) => places::split(since, query.scopes.len()).map_err(|bad| told(bad.into()))?,
        None => Vec::new(),
    };
    let window = shared.settings.events.resume_window;
    let mut followed = Vec::with_capacity(query.scopes.len());
    for (place, scope) in query.scopes.iter().enumerate() {
        let since = cursors.get(place).copied();
        let one = shared.mailroom.resume(&asked.caller, scope.clone(), since, window).await;
        followed.push(one.map_err(told)?);
    }
    Ok(followed)
}

/// The stream with its first words: hello, and behind it whether something is missing already.
fn begin(shared: &Arc<Shared>, asked: &Asked, is_back: bool, followed: Vec<Followed>, slot: Slot) -> Stream {
    let gap = followed.iter().find_map(|one| one.gap);
    let returning = followed.iter().map(|one| is_back && one.gap.is_none()).collect();
    let places = followed.iter().map(|one| (one.watch.scope().clone(), one.position)).collect();
    let all_of_cluster = || {
        let is_all = followed.iter().any(|one| *one.watch.scope() == Scope::All);
        is_all && !shared.mailroom.abilities().whole_view
    };
    let thin = all_of_cluster().then(|| Thin::new(shared.settings.events.all_rate_max, Instant::now()));
    let story = Story::new(Places::new(places), returning, thin);
    let id = story.id(&shared.mailroom);
    let mut first = Frames::default();
    first.event("hello", &id, wire::hello(&id, shared.settings.kept));
    if let Some(gap) = gap {
        let (name, data) = wire::line(&shared.mailroom, &asked.caller, &Line::Resync(Reason::from(gap)), &id);
        first.event(name, &id, data);
    }
    let watches = followed.into_iter().map(|one| one.watch).collect();
    Stream::new(Arc::clone(shared), asked.caller.clone(), watches, story, first, slot)
}
