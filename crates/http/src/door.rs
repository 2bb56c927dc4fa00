//! What every request goes through, in this order: guard, route, who asks, body, operation, dress. Nothing in here knows a route,
//! so no route can be forgotten by it; it only asks an operation which body it takes and who watches its time.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, Request};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use net::Reservation;

use crate::asked::{Asked, Peer};
use crate::connection::Pulse;
use crate::live::Live;
use crate::live::monitor::Talk;
use crate::problem::Problem;
use crate::router::{Operation, Patience, Takes, find, is_api, is_v2};
use crate::shared::Shared;
use crate::{cors, page, sign};

/// The fields that every answer carries, unless it has a stricter one of its own (T065): mail is nobody's to cache, to
/// frame, to guess the type of, to tell others about, or to load from another site.
const DRESS: [(HeaderName, HeaderValue); 6] = [
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
];

/// The service of one connection.
pub(crate) struct Door {
    pub(crate) shared: Arc<Shared>,
    pub(crate) peer: Peer,
    pub(crate) pulse: Pulse,
}

impl hyper::service::Service<Request<Incoming>> for Door {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.pulse.begin();
        let (shared, pulse, peer) = (Arc::clone(&self.shared), self.pulse.clone(), self.peer);
        Box::pin(async move {
            let is_v2 = is_v2(request.uri().path(), shared.guard.prefix());
            let origin = shared.guard.listed_origin(request.headers()).cloned();
            let answered = answer(&shared, peer, request).await;
            let mut response = answered.unwrap_or_else(|problem| told(problem, &shared, is_v2));
            dress(&mut response);
            if let Some(live) = response.extensions_mut().remove::<Live>() {
                pulse.stay(live.write_max);
            }
            if let Some(talk) = response.extensions_mut().remove::<Talk>() {
                pulse.become_talk(talk);
            }
            if let Some(origin) = origin {
                cors::allow(&mut response, origin);
            }
            Ok(pulse.answer(response))
        })
    }
}

/// A problem as its API tells it.
fn told(problem: Problem, shared: &Shared, is_v2: bool) -> Response {
    if !is_v2 {
        return problem.into_response();
    }
    let request_id = shared.request_id();
    if problem.status.is_server_error() {
        tracing::warn!(request_id, problem = problem.slug, "a request was answered with a problem");
    }
    problem.with_request(&request_id, shared.guard.prefix())
}

async fn answer(shared: &Arc<Shared>, peer: Peer, request: Request<Incoming>) -> Result<Response, Problem> {
    let (head, mut body) = request.into_parts();
    shared.guard.admit(&head, peer)?;
    if cors::is_preflight(&head) && shared.guard.listed_origin(&head.headers).is_some() {
        return Ok(cors::preflight());
    }
    let (path, prefix) = (head.uri.path(), shared.guard.prefix());
    let found = find(&head.method, path, prefix).or_else(|problem| page::instead(problem, &head, is_api(path, prefix)));
    let takes = found.as_ref().map_or(Takes::Nothing, |operation| operation.takes());
    shared.guard.judge_body(&head, takes)?;
    let asker = sign::identify(shared, &head, peer, found.as_ref().ok().copied()).await;
    // What a stranger sends is not read to its end.
    let asker = asker.map_err(|problem| if body.is_end_stream() { problem } else { problem.last() })?;
    // Held until the answer is there: then what came is done with.
    let mut place = shared.arrival();
    let mut kept = Vec::new();
    if !body.is_end_stream() {
        let keep = (takes != Takes::Nothing).then_some((&mut kept, &mut place));
        let read = tokio::time::timeout(shared.settings.request_timeout, drain(&mut body, keep)).await;
        read.map_err(|_| Problem::body_slow())??;
    }
    run(shared, found?, Asked::new(head, peer, asker), kept.into()).await
}

/// Do what is asked for, in time and whatever happens in it.
async fn run(shared: &Arc<Shared>, operation: Operation, asked: Asked, body: Bytes) -> Result<Response, Problem> {
    let running = caught(operation.answer(shared, &asked, body));
    let ended = match operation.patience() {
        Patience::Own => Ok(running.await),
        Patience::Door => tokio::time::timeout(shared.settings.request_timeout, running).await,
    };
    match ended {
        Ok(Ok(answered)) => answered,
        Ok(Err(Panicked)) => Err(Problem::internal()),
        Err(_elapsed) => Err(Problem::timed_out(operation.doing())),
    }
}

/// Read a body to its end, so that the connection can carry on behind it, and keep it or forget it. Its length is within
/// the limit: the guard has seen to that.
async fn drain(body: &mut Incoming, mut keep: Option<(&mut Vec<u8>, &mut Reservation)>) -> Result<(), Problem> {
    while let Some(frame) = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await {
        let frame = frame
            .map_err(|_| Problem::bad_request("The body ended early. Send as many bytes as Content-Length says."))?;
        if let (Some((kept, place)), Some(data)) = (&mut keep, frame.data_ref()) {
            if !place.resize((kept.len() + data.len()) as u64) {
                return Err(Problem::overloaded().last());
            }
            kept.extend_from_slice(data);
        }
    }
    Ok(())
}

/// A request that panicked. The panic itself is in the log.
struct Panicked;

/// Run to the end, or to a panic: one bad message must not take the connection or the process with it (T037).
async fn caught<F: Future>(running: F) -> Result<F::Output, Panicked> {
    let mut running = pin!(running);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(_panic) => Poll::Ready(Err(Panicked)),
    })
    .await
}

fn dress(response: &mut Response) {
    let fields = response.headers_mut();
    fields.reserve(DRESS.len());
    for (name, value) in DRESS {
        fields.entry(name).or_insert(value);
    }
}
