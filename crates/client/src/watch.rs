//! Watching mailboxes: events as they happen, over server-sent events. A stream that breaks is taken up again where it was, on
//! any node; nothing is lost by that, and the server says when it cannot go on from there.

mod sse;

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, HeaderName};
use serde_json::Value;

use crate::client::{Client, encoded};
use crate::error::Error;
use crate::http::{Answer, Ask, Lost, open};
use crate::message::Summary;
use sse::{Reader, Sent};

/// A server sends something every 15 seconds; one that is silent for so long is gone.
const SILENCE_MAX: Duration = Duration::from_secs(50);
/// Time for the first bytes of an answer.
const ANSWER: Duration = Duration::from_secs(10);
/// So often in a row a stream is opened anew; with the pauses in between that is about half a minute.
const TRIES_MAX: usize = 20;
/// Bytes of a refusal.
const REFUSAL_MAX: usize = 1 << 20;

/// What happened in a mailbox.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A mail came.
    Deliver(Box<Summary>),
    /// A mail was deleted.
    Delete {
        /// In which mailbox.
        mailbox: String,
        /// Which one it was.
        id: String,
    },
    /// A mailbox was emptied.
    Purge {
        /// Which one.
        mailbox: String,
    },
    /// Events were missed: list anew what you keep a picture of.
    Resync {
        /// `lagged`, `expired`, `restarted` or `node`.
        reason: String,
    },
    /// So many events were left out, as there were too many at a time.
    Skipped {
        /// How many.
        count: u64,
    },
}

/// A running watch.
#[derive(Debug)]
pub struct Watch {
    client: Client,
    path: String,
    /// Where to go on.
    cursor: Option<String>,
    body: Option<Incoming>,
    reader: Reader,
    /// The event as it was sent, for [`Watch::json`].
    last: Value,
}

impl Watch {
    pub(crate) async fn open(client: Client, mailboxes: Vec<String>, since: Option<String>) -> Result<Self, Error> {
        let mut words: Vec<String> = mailboxes.iter().map(|name| format!("mailbox={}", encoded(name))).collect();
        words.extend(since.as_deref().map(|since| format!("since={}", encoded(since))));
        let query = if words.is_empty() { String::new() } else { format!("?{}", words.join("&")) };
        let path = format!("/api/v2/events{query}");
        let mut watch = Self { client, path, cursor: None, body: None, reader: Reader::default(), last: Value::Null };
        watch.connect().await?;
        // What happens from here on is seen: the server says hello once it watches.
        while watch.cursor.is_none() {
            watch.event().await?;
        }
        Ok(watch)
    }

    /// Where this watch is: the cursor of the last event.
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// The last event as the server sent it.
    pub fn json(&self) -> &Value {
        &self.last
    }

    /// The next event.
    ///
    /// Dropping the future loses nothing: it can be called again.
    pub async fn next(&mut self) -> Result<Event, Error> {
        loop {
            let sent = self.event().await?;
            if let Some(event) = self.read(&sent)? {
                return Ok(event);
            }
        }
    }

    /// The next event of any kind, from this stream or from the next.
    async fn event(&mut self) -> Result<Sent, Error> {
        loop {
            if let Some(sent) = self.reader.take() {
                self.note(&sent);
                return Ok(sent);
            }
            match self.piece().await {
                Some(piece) => self.reader.feed(&piece).map_err(|why| self.client.strange(why))?,
                None => self.connect().await?,
            }
        }
    }

    /// Some bytes; none when the stream has ended.
    async fn piece(&mut self) -> Option<Bytes> {
        let body = self.body.as_mut()?;
        let frame = tokio::time::timeout(SILENCE_MAX, body.frame()).await.ok()??.ok()?;
        Some(frame.into_data().unwrap_or_default())
    }

    fn note(&mut self, sent: &Sent) {
        if let Some(id) = &sent.id {
            self.cursor = Some(id.clone());
        } else if sent.event == "hello" && self.cursor.is_none() {
            let hello: Value = serde_json::from_str(&sent.data).unwrap_or_default();
            // An older server may send none: then there is nothing to go on from, and the next stream begins at its own now.
            self.cursor = Some(hello["cursor"].as_str().unwrap_or_default().to_owned());
        }
    }

    /// Open the stream, where it was.
    async fn connect(&mut self) -> Result<(), Error> {
        self.body = None;
        self.reader = Reader::default();
        let mut ask = Ask::get(&*self.path).field(ACCEPT, "text/event-stream");
        if let Some(cursor) = self.cursor.as_ref().filter(|cursor| !cursor.is_empty()) {
            ask = ask.field(HeaderName::from_static("last-event-id"), cursor);
        }
        self.body = Some(self.opened(&ask).await?);
        Ok(())
    }

    async fn opened(&self, ask: &Ask) -> Result<Incoming, Error> {
        let servers = self.client.servers();
        let mut tries = 0;
        loop {
            let (number, server) = servers.current();
            let opening = tokio::time::timeout(ANSWER, open(server, self.client.own_token(), ask)).await;
            let silent = |_| Lost { server: server.url(), why: "it does not answer".to_owned() };
            let failed = match opening.map_err(silent).and_then(|opened| opened) {
                Ok(response) if response.status() == 200 => {
                    servers.answered();
                    return Ok(response.into_body());
                }
                Ok(response) => {
                    servers.answered();
                    let status = response.status().as_u16();
                    let body = http_body_util::Limited::new(response.into_body(), REFUSAL_MAX).collect().await;
                    let body = body.map(|body| body.to_bytes()).unwrap_or_default();
                    let answer = Answer { status, retry_after: None, body, server: server.url() };
                    let error = answer.good().err().unwrap_or_else(|| self.client.strange("no stream of events"));
                    if !matches!(status, 429 | 502..=504) {
                        return Err(error);
                    }
                    error
                }
                Err(Lost { server, why }) => Error::Unreachable { server, why },
            };
            servers.failed(number);
            tries += 1;
            match servers.pause(tries, None).filter(|_| tries < TRIES_MAX) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(failed),
            }
        }
    }

    /// What an event means; none for those that mean nothing to a reader.
    fn read(&mut self, sent: &Sent) -> Result<Option<Event>, Error> {
        let json: Value = serde_json::from_str(&sent.data).unwrap_or_default();
        let word = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
        let event = match sent.event.as_str() {
            "deliver" => {
                let summary = Summary::read(json["message"].clone()).map_err(|why| self.client.strange(&why))?;
                Event::Deliver(Box::new(summary))
            }
            "delete" => Event::Delete { mailbox: word("mailbox"), id: word("id") },
            "purge" => Event::Purge { mailbox: word("mailbox") },
            "resync" => Event::Resync { reason: word("reason") },
            "skipped" => Event::Skipped { count: json["count"].as_u64().unwrap_or_default() },
            _ => return Ok(None),
        };
        self.last = serde_json::json!({"event": sent.event, "cursor": self.cursor, "data": json});
        Ok(Some(event))
    }
}
