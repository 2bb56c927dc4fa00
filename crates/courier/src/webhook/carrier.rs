//! One target: takes its jobs one by one, posts them, and says what came of it.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;
use mailroom::Job;
use mailroom::outgoing::webhook::{Note, kind};
use outbound::header::{CONTENT_TYPE, HeaderValue};
use outbound::{Client, Error, Method, Redirects, Request, Response, Trust};

use super::answer::{Answer, judge};
use super::backoff::chance;
use super::breaker::{Breaker, Turn};
use super::counters::COUNTERS;
use super::event::{self, Words};
use super::{Limits, Target};
use crate::carrier::{Carrier, Outcome};

/// Beside the request itself: to read a message and take it apart.
const READING: Duration = Duration::from_secs(5);

/// The courier of one target.
pub struct Webhook {
    target: Target,
    kind: String,
    limits: Limits,
    client: Client,
    words: Arc<dyn Words>,
    breaker: Breaker,
}

impl Webhook {
    /// One that tells this target.
    pub fn new(target: Target, limits: Limits, client: Client, words: Arc<dyn Words>) -> Self {
        // All of them are there to be read from the start.
        LazyLock::force(&COUNTERS);
        let (kind, breaker) = (kind(&target.name), Breaker::new(limits.rest));
        Self { target, kind, limits, client, words, breaker }
    }

    /// Whether the answer to an event was good is for the caller to see. What is posted, signed, once.
    ///
    /// # Errors
    /// No answer came.
    pub async fn post(
        client: &Client,
        target: &Target,
        timeout: Duration,
        id: &str,
        body: Bytes,
    ) -> Result<Response, Error> {
        let second = Timestamp::now().as_second();
        let signatures: Vec<_> = target.secrets.iter().map(|secret| secret.sign(id, second, &body)).collect();
        let mut request = Request::new(Method::POST, &target.url, Trust::Configured);
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in [
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", second.to_string()),
            ("webhook-signature", signatures.join(" ")),
        ] {
            let value = HeaderValue::try_from(value).map_err(|_| Error::Header { name: name.to_owned() })?;
            request.headers.insert(name, value);
        }
        (request.body, request.redirects, request.timeout) = (body, Redirects::Stop, Some(timeout));
        client.send(request).await
    }

    /// Post an event that says nothing, to see what comes.
    ///
    /// # Errors
    /// No answer came.
    pub async fn try_out(client: &Client, target: &Target, timeout: Duration) -> Result<Response, Error> {
        let now = Timestamp::now();
        let id = format!("msg_try_{}", now.as_microsecond());
        Self::post(client, target, timeout, &id, event::trial(&target.name, now)).await
    }

    async fn tell(&self, note: &Note, job: &Job) -> Outcome {
        let body = match event::body(&*self.words, note, job, self.target.detail).await {
            Ok(Some(body)) => body,
            Ok(None) => return Outcome::Done,
            Err(error) => return self.again(note, job, &error.to_string(), None),
        };
        let came = Self::post(&self.client, &self.target, self.limits.timeout, &note.id, body).await;
        match judge(came.as_ref()) {
            Answer::Taken => {
                COUNTERS.taken.increment(1);
                self.note(self.breaker.succeeded());
                Outcome::Done
            }
            Answer::Gone => {
                self.note(self.breaker.succeeded());
                self.dead(note, "it answered 410: it wants no such events any more; take it out of the file".to_owned())
            }
            Answer::Failed { reason, sick, wait } => {
                COUNTERS.failed.increment(1);
                self.note(if sick { self.breaker.failed() } else { self.breaker.succeeded() });
                self.again(note, job, &reason, wait)
            }
        }
    }

    fn again(&self, note: &Note, job: &Job, reason: &str, wait: Option<Duration>) -> Outcome {
        let attempts = job.attempts + 1;
        match self.limits.pace.next(attempts, note.at, Timestamp::now(), wait, chance()) {
            Some(at) => {
                let target = &self.target.name;
                tracing::debug!(target, id = note.id, attempts, reason, next = %at, "a webhook was not taken");
                Outcome::Again(at)
            }
            None => self.dead(note, format!("given up after {attempts} attempts: {reason}")),
        }
    }

    fn dead(&self, note: &Note, reason: String) -> Outcome {
        COUNTERS.dead.increment(1);
        let target = &self.target.name;
        tracing::warn!(target, id = note.id, reason, "a webhook is given up; postkeep webhook dead lists it");
        Outcome::Dead(reason)
    }

    fn note(&self, turn: Turn) {
        let target = &self.target.name;
        match turn {
            Turn::None => {}
            Turn::Opened => {
                COUNTERS.rests.increment(1);
                let rest = self.limits.rest.time;
                tracing::warn!(target, ?rest, "a webhook's target fails again and again; it is left alone for a while");
            }
            Turn::Closed => tracing::info!(target, "a webhook's target is back"),
        }
    }
}

#[async_trait]
impl Carrier for Webhook {
    fn kind(&self) -> &str {
        &self.kind
    }

    fn hands(&self) -> usize {
        self.breaker.hands(self.limits.concurrent_max)
    }

    fn patience(&self) -> Duration {
        self.limits.timeout + READING
    }

    async fn carry(&self, job: &Job) -> Outcome {
        match Note::read(&job.payload) {
            Some(note) => self.tell(&note, job).await,
            None => Outcome::Dead("another version of the program wrote it; this one cannot read it".to_owned()),
        }
    }
}
