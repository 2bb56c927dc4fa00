//! Writing: one message, or several of one stream as one. The headers are all our own: a stream can be killed by a wrong
//! one, so nothing that came from outside ever stands in a header.

use std::time::Duration;

use async_nats::{HeaderMap, Request};
use bytes::Bytes;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};

use super::answer::{self, Ack, Failure};
use super::link::{Link, wait_for};

/// A message on its way into a stream.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    subject: String,
    payload: Bytes,
    headers: HeaderMap,
}

#[derive(Deserialize)]
struct PubAck {
    seq: u64,
    #[serde(default)]
    duplicate: bool,
}

impl Outgoing {
    pub(crate) fn new(subject: String, payload: impl Into<Bytes>) -> Self {
        Self { subject, payload: payload.into(), headers: HeaderMap::new() }
    }

    /// Stored once for each id, while the stream remembers it.
    pub(crate) fn id(self, id: &str) -> Self {
        self.with("Nats-Msg-Id", id)
    }

    /// Stored only if the last message of its subject is this one; 0: if there is none.
    pub(crate) fn after(self, seq: u64) -> Self {
        self.with("Nats-Expected-Last-Subject-Sequence", seq.to_string())
    }

    /// Stored only if the last message of another subject is this one; 0: if there is none.
    pub(crate) fn if_last(self, subject: &str, seq: u64) -> Self {
        self.after(seq).with("Nats-Expected-Last-Subject-Sequence-Subject", subject)
    }

    /// To go after a time, rounded up to whole seconds.
    pub(crate) fn living(self, time: Duration) -> Self {
        let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
        self.with("Nats-TTL", format!("{}s", seconds.max(1)))
    }

    /// To stay, however old it gets.
    pub(crate) fn for_good(self) -> Self {
        self.with("Nats-TTL", "never")
    }

    /// It takes the place of everything on its subject.
    pub(crate) fn alone(self) -> Self {
        self.with("Nats-Rollup", "sub")
    }

    fn with(mut self, name: &'static str, value: impl AsRef<str>) -> Self {
        self.headers.insert(name, value.as_ref());
        self
    }
}

impl Link {
    /// Store one message.
    pub(crate) async fn publish(&self, message: Outgoing) -> Result<Ack, Failure> {
        let Outgoing { subject, payload, headers } = message;
        let headers = (!headers.is_empty()).then_some(headers);
        let answer = self.ask(subject, headers, payload).await?;
        let PubAck { seq, duplicate } = answer::read(&answer.payload)?;
        Ok(Ack { seq, duplicate })
    }

    /// Store several messages of one stream, all or none, with consecutive sequences. They leave in one go and only the
    /// last is waited for: a batch that stays open holds one of few places on its stream.
    pub(crate) async fn publish_all(&self, messages: Vec<Outgoing>) -> Result<Ack, Failure> {
        let batch = uuid::Uuid::new_v4().simple().to_string();
        let until = Instant::now() + wait_for(messages.iter().map(|message| message.payload.len()).sum());
        let broken = self.whole(until).await?;
        let sending = self.send_all(&batch, messages);
        let answer = tokio::select! {
            answer = timeout_at(until, sending) => answer,
            () = broken => return Err(Failure::Unknown("the connection broke before the answer came".to_owned())),
        };
        answer.unwrap_or_else(|_| Err(Failure::Unknown("no answer came in time".to_owned())))
    }

    async fn send_all(&self, batch: &str, messages: Vec<Outgoing>) -> Result<Ack, Failure> {
        let count = messages.len();
        for (Outgoing { subject, payload, headers }, number) in messages.into_iter().zip(1..) {
            let mut headers = headers;
            headers.insert("Nats-Batch-Id", batch);
            headers.insert("Nats-Batch-Sequence", number.to_string().as_str());
            if number < count {
                let sent = self.client.publish_with_headers(subject, headers, payload).await;
                sent.map_err(|error| Failure::Unsent(error.to_string()))?;
                continue;
            }
            headers.insert("Nats-Batch-Commit", "1");
            let request = Request { payload: Some(payload), headers: Some(headers), timeout: Some(None), inbox: None };
            let answer = self.client.send_request(subject, request).await.map_err(unanswered)?;
            let PubAck { seq, duplicate } = answer::read(&answer.payload)?;
            return Ok(Ack { seq, duplicate });
        }
        Err(Failure::Unsent("there was nothing to store".to_owned()))
    }
}

fn unanswered(error: async_nats::RequestError) -> Failure {
    match error.kind() {
        async_nats::client::RequestErrorKind::NoResponders => {
            Failure::Unsent("no broker leads this part of the store now".to_owned())
        }
        _ => Failure::Unknown(error.to_string()),
    }
}
