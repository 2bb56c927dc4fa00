//! What every request goes through, in this order: guard, body, route, dress. Nothing in here knows a route, so no
//! route can be forgotten by it; it only asks whether a body is a message to be kept.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use axum::Router;
use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, Request};
use axum::response::{IntoResponse, Response};
use hyper::body::{Body as _, Incoming};
use net::Reservation;
use tower::Service;

use crate::asked::Peer;
use crate::connection::Pulse;
use crate::problem::{Doing, Problem};
use crate::router::brings_mail;
use crate::shared::Shared;

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
    pub(crate) router: Router,
    pub(crate) peer: Peer,
    pub(crate) pulse: Pulse,
}

impl hyper::service::Service<Request<Incoming>> for Door {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.pulse.begin();
        let (shared, router, pulse) = (Arc::clone(&self.shared), self.router.clone(), self.pulse.clone());
        let peer = self.peer;
        Box::pin(async move {
            let mut response = answer(&shared, router, peer, request).await.unwrap_or_else(IntoResponse::into_response);
            dress(&mut response);
            pulse.answer();
            Ok(response)
        })
    }
}

async fn answer(
    shared: &Shared,
    mut router: Router,
    peer: Peer,
    request: Request<Incoming>,
) -> Result<Response, Problem> {
    let (mut head, mut body) = request.into_parts();
    shared.guard.admit(&head, peer)?;
    let brings_mail = brings_mail(&head, shared.guard.prefix());
    let doing = match () {
        () if head.method.is_safe() => Doing::Reading,
        () if brings_mail => Doing::Adding,
        () => Doing::Changing,
    };
    let limit = shared.settings.request_timeout;
    // Held until the answer is there: then the message is kept, or is not.
    let mut place = shared.arrival();
    let mut kept = Vec::new();
    if !body.is_end_stream() {
        let keep = brings_mail.then_some((&mut kept, &mut place));
        let read = tokio::time::timeout(limit, drain(&mut body, keep)).await;
        read.map_err(|_| Problem::body_slow())??;
    }
    head.extensions.insert(peer);
    let running = caught(router.call(Request::from_parts(head, Body::from(kept))));
    match tokio::time::timeout(limit, running).await {
        Ok(Ok(Ok(response))) => Ok(response),
        Ok(Ok(Err(never))) => match never {},
        Ok(Err(Panicked)) => Err(Problem::internal()),
        Err(_elapsed) => Err(Problem::timed_out(doing)),
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
