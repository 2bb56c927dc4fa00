//! Inboxes: fresh addresses for one test each, with a secret, that go away by themselves.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::ops::Deref;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use hyper::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::client::{Client, encoded};
use crate::error::Error;
use crate::http::Ask;
use crate::mailbox::Mailbox;
use crate::text::{duration, time};

/// An inbox: a [`Mailbox`] that begins at its start, with an address that nobody else has.
#[derive(Clone)]
pub struct Inbox {
    mailbox: Mailbox,
    opened: Opened,
    json: Value,
}

/// An inbox about to be opened; await it.
#[derive(Clone, Debug)]
#[must_use = "an inbox is opened when this is awaited"]
pub struct OpenInbox {
    client: Client,
    label: String,
    ttl: Option<Duration>,
    domain: Option<String>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    mailbox: String,
    address: String,
    secret: String,
    #[serde(deserialize_with = "time")]
    expires_at: SystemTime,
    cursor: Option<String>,
    url: Option<String>,
}

/// Without the secret.
impl fmt::Debug for Inbox {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Inbox").field(&self.opened.address).finish()
    }
}

impl Inbox {
    /// The address to give to the application.
    pub fn address(&self) -> &str {
        &self.opened.address
    }

    /// What reads this inbox and nothing else.
    pub fn secret(&self) -> &str {
        &self.opened.secret
    }

    /// When it goes away, with all mail in it.
    pub fn expires_at(&self) -> SystemTime {
        self.opened.expires_at
    }

    /// As the server sent it, the secret included.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Empty it for good, sooner than it would go by itself.
    pub async fn close(self) -> Result<(), Error> {
        self.mailbox.client().close_inbox(self.mailbox.name()).await
    }
}

impl Deref for Inbox {
    type Target = Mailbox;

    fn deref(&self) -> &Mailbox {
        &self.mailbox
    }
}

impl Client {
    /// Close an inbox; the token is its secret, or one for all.
    pub async fn close_inbox(&self, name: &str) -> Result<(), Error> {
        let path = format!("/api/v2/inboxes/{}", encoded(name));
        self.call(|| Ask::new(Method::DELETE, path.clone())).await?.good()?;
        Ok(())
    }
}

impl OpenInbox {
    pub(crate) fn new(client: Client, label: &str) -> Self {
        Self { client, label: label.to_owned(), ttl: None, domain: None }
    }

    /// How long it lives; else as the server is configured, usually an hour.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// The domain of the address, one of those that the server takes.
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.domain = Some(domain.into());
        self
    }

    async fn open(self) -> Result<Inbox, Error> {
        let mut body = Map::new();
        if !self.label.is_empty() {
            body.insert("label".to_owned(), json!(self.label));
        }
        body.extend(self.ttl.map(|ttl| ("ttl".to_owned(), json!(duration(ttl)))));
        body.extend(self.domain.map(|domain| ("domain".to_owned(), json!(domain))));
        let body = Value::Object(body);
        let json = self.client.call(|| Ask::new(Method::POST, "/api/v2/inboxes").json(&body)).await?.json()?;
        let opened = Opened::deserialize(&json).map_err(|error| self.client.strange(&error.to_string()))?;
        // From here on the secret is who asks: it may read this inbox, which a token for others may not.
        let client = self.client.token(opened.secret.clone());
        let mailbox = Mailbox::new(client, &opened.mailbox, opened.cursor.clone(), opened.url.clone());
        Ok(Inbox { mailbox, opened, json })
    }
}

impl IntoFuture for OpenInbox {
    type Output = Result<Inbox, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.open())
    }
}
