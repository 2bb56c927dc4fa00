//! Delivering over HTTP: a message as bytes, or one that the server writes. Each carries a key, so that asking twice makes no
//! second copy.

use std::future::{Future, IntoFuture};
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;

use bytes::Bytes;
use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderName};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::client::{Client, encoded};
use crate::error::Error;
use crate::http::Ask;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Where a delivered message lies.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[non_exhaustive]
pub struct Delivered {
    /// The mailbox.
    pub mailbox: String,
    /// Its id there.
    pub id: String,
}

/// A message as bytes, about to be delivered; await it.
///
/// ```no_run
/// # async fn example(client: postkeep_client::Client) -> Result<(), postkeep_client::Error> {
/// let raw = "Subject: Hello\r\n\r\nHi.\r\n";
/// client.deliver(raw).mail_from("ann@example.com").rcpt_to("bob@example.com").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "it is delivered when this is awaited"]
pub struct Deliver {
    client: Client,
    raw: Bytes,
    query: Vec<String>,
}

/// A message that the server writes, about to be delivered; await it.
///
/// ```no_run
/// # async fn example(client: postkeep_client::Client) -> Result<(), postkeep_client::Error> {
/// client.compose().from("ann@example.com").to("bob@example.com").subject("Hello").text("Hi.").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "it is delivered when this is awaited"]
pub struct Draft {
    client: Client,
    json: Map<String, Value>,
}

impl Deliver {
    pub(crate) fn new(client: Client, raw: Bytes) -> Self {
        Self { client, raw, query: Vec::new() }
    }

    /// The envelope's sender; empty for none.
    pub fn mail_from(mut self, address: &str) -> Self {
        self.query.push(format!("mailFrom={}", encoded(address)));
        self
    }

    /// A recipient of the envelope; may be called again.
    pub fn rcpt_to(mut self, address: &str) -> Self {
        self.query.push(format!("rcptTo={}", encoded(address)));
        self
    }

    async fn send(self) -> Result<Vec<Delivered>, Error> {
        let path = format!("/api/v2/messages?{}", self.query.join("&"));
        let mut ask = Ask::new(Method::POST, path).field(CONTENT_TYPE, "message/rfc822");
        ask.body = self.raw;
        deliver(&self.client, &ask).await
    }
}

impl Draft {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, json: Map::new() }
    }

    /// Who it is from.
    pub fn from(mut self, address: impl Into<String>) -> Self {
        self.json.insert("from".to_owned(), json!(address.into()));
        self
    }

    /// Who it is to; may be called again.
    pub fn to(self, address: impl Into<String>) -> Self {
        self.also("to", json!(address.into()))
    }

    /// Who gets a copy; may be called again.
    pub fn cc(self, address: impl Into<String>) -> Self {
        self.also("cc", json!(address.into()))
    }

    /// Who gets one and is not named in it; may be called again.
    pub fn bcc(self, address: impl Into<String>) -> Self {
        self.also("bcc", json!(address.into()))
    }

    /// The subject.
    pub fn subject(mut self, words: impl Into<String>) -> Self {
        self.json.insert("subject".to_owned(), json!(words.into()));
        self
    }

    /// The text.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.json.insert("text".to_owned(), json!(text.into()));
        self
    }

    /// The HTML.
    pub fn html(mut self, html: impl Into<String>) -> Self {
        self.json.insert("html".to_owned(), json!(html.into()));
        self
    }

    fn also(mut self, name: &str, value: Value) -> Self {
        let list = self.json.entry(name).or_insert_with(|| json!([]));
        list.as_array_mut().into_iter().for_each(|list| list.push(value.clone()));
        self
    }

    async fn send(self) -> Result<Vec<Delivered>, Error> {
        let ask = Ask::new(Method::POST, "/api/v2/messages").json(&Value::Object(self.json));
        deliver(&self.client, &ask).await
    }
}

async fn deliver(client: &Client, ask: &Ask) -> Result<Vec<Delivered>, Error> {
    let ask = ask.clone().field(KEY, key());
    let json = client.call(|| ask.clone()).await?.json()?;
    Vec::deserialize(&json["deliveries"]).map_err(|error| client.strange(&error.to_string()))
}

/// A word that nobody else uses: the keys of a `RandomState` are random.
fn key() -> String {
    let chance = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", chance(), chance())
}

impl IntoFuture for Deliver {
    type Output = Result<Vec<Delivered>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl IntoFuture for Draft {
    type Output = Result<Vec<Delivered>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
