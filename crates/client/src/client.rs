//! The client: which servers, who asks, and what can be asked of a service as a whole.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::call::{Limit, Servers};
use crate::deliver::{Deliver, Draft};
use crate::error::Error;
use crate::http::{Answer, Ask};
use crate::inbox::OpenInbox;
use crate::mailbox::Mailbox;
use crate::message::{Message, Summary};
use crate::server::{Server, Token};
use crate::watch::Watch;

/// Where a server is when nobody says otherwise.
pub const DEFAULT_URL: &str = "http://127.0.0.1:8025";
/// A wait takes as long as this, when nobody says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);
/// So long a call that is no wait is repeated.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time for an answer that the server has at hand.
const ANSWER: Duration = Duration::from_secs(60);
/// What stands for itself in a path and in a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A Postkeep service: one server, or the nodes of a cluster.
///
/// It is cheap to clone, holds no connection, and may be shared by tests that have a runtime each.
///
/// ```
/// use postkeep_client::Client;
///
/// let client = Client::new("http://mail-1:8025,http://mail-2:8025")?.token("pkt_…");
/// # Ok::<(), postkeep_client::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    servers: Arc<Servers>,
    token: Option<Token>,
    timeout: Duration,
}

impl Client {
    /// The service at a URL. Several nodes are parted by commas: when one fails, the next is asked.
    ///
    /// A token may stand in it as a password: `http://x:pkt_…@mail.test`.
    pub fn new(url: &str) -> Result<Self, Error> {
        let servers = Arc::new(Servers::new(Server::parse_all(url)?));
        Ok(Self { servers, token: None, timeout: TIMEOUT })
    }

    /// As `POSTKEEP_URL` and `POSTKEEP_TOKEN` say; without them <http://127.0.0.1:8025> and no token.
    pub fn from_env() -> Result<Self, Error> {
        let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.trim().is_empty());
        let client = Self::new(variable("POSTKEEP_URL").as_deref().unwrap_or(DEFAULT_URL))?;
        Ok(match variable("POSTKEEP_TOKEN") {
            Some(token) => client.token(token),
            None => client,
        })
    }

    /// Ask with this token, or with the secret of an inbox.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(Token(token.into().trim().to_owned()));
        self
    }

    /// How long a wait takes when it does not say so itself; else 10 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// A handle on a mailbox, from now on: mail that lies there already is not looked at.
    ///
    /// Make it before the act that sends the mail; what arrives in between counts.
    pub async fn mailbox(&self, name: &str) -> Result<Mailbox, Error> {
        let path = mailbox_path(name, "");
        let json = self.call(|| Ask::get(path.clone())).await?.json()?;
        let cursor = json["cursor"].as_str().map(str::to_owned);
        let cursor = cursor.ok_or_else(|| self.strange("a mailbox without a cursor"))?;
        let url = json["url"].as_str().map(str::to_owned);
        Ok(Mailbox::new(self.clone(), name, Some(cursor), url))
    }

    /// A handle on all of a mailbox: what lies there counts, the newest first.
    pub fn whole_mailbox(&self, name: &str) -> Mailbox {
        Mailbox::new(self.clone(), name, None, None)
    }

    /// A handle on what came to a mailbox after a cursor.
    pub fn mailbox_since(&self, name: &str, cursor: &str) -> Mailbox {
        Mailbox::new(self.clone(), name, Some(cursor.to_owned()), None)
    }

    /// Open an inbox: a fresh address that nobody else has, which goes away by itself.
    ///
    /// ```no_run
    /// # use postkeep_client::{Client, Error};
    /// # async fn example() -> Result<(), Error> {
    /// let inbox = Client::from_env()?.open_inbox("signup").await?;
    /// println!("sign up as {}", inbox.address());
    /// let code = inbox.code().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn open_inbox(&self, label: &str) -> OpenInbox {
        OpenInbox::new(self.clone(), label)
    }

    /// Read a message by its id, or `latest`.
    pub async fn read(&self, mailbox: &str, id: &str) -> Result<Message, Error> {
        let path = message_path(mailbox, id, "");
        let answer = self.call(|| Ask::get(path.clone())).await?;
        self.message(answer.json()?)
    }

    /// The bytes of a message.
    pub async fn source(&self, mailbox: &str, id: &str) -> Result<Bytes, Error> {
        let path = message_path(mailbox, id, "/source");
        Ok(self.call(|| Ask::get(path.clone())).await?.good()?.body)
    }

    /// The newest messages of all mailboxes that the token may list.
    pub async fn recent(&self) -> Result<Vec<Summary>, Error> {
        let json = self.call(|| Ask::get("/api/v2/messages")).await?.json()?;
        self.summaries(&json)
    }

    /// Hand the server a message as bytes; it goes through the same door as SMTP.
    pub fn deliver(&self, raw: impl Into<Bytes>) -> Deliver {
        Deliver::new(self.clone(), raw.into())
    }

    /// Have the server write a message and deliver it.
    pub fn compose(&self) -> Draft {
        Draft::new(self.clone())
    }

    /// Watch mailboxes from now on; no name means all that the token may list.
    pub async fn watch<S: AsRef<str>>(&self, mailboxes: &[S]) -> Result<Watch, Error> {
        Watch::open(self.clone(), names(mailboxes), None).await
    }

    /// Watch mailboxes from a cursor on.
    pub async fn watch_since<S: AsRef<str>>(&self, mailboxes: &[S], cursor: &str) -> Result<Watch, Error> {
        Watch::open(self.clone(), names(mailboxes), Some(cursor.to_owned())).await
    }

    /// Whether the server takes mail: asks `/readyz` once.
    pub async fn ready(&self) -> Result<(), Error> {
        let limit = Limit { until: Instant::now(), held_max: Duration::ZERO, answer: PATIENCE };
        self.servers.call(self.token.as_ref(), limit, |_| Ask::get("/readyz")).await?.good()?;
        Ok(())
    }

    /// Empty every mailbox that the server has. Servers of a cluster do not do this.
    pub async fn purge_all(&self) -> Result<(), Error> {
        self.call(|| Ask::new(Method::DELETE, "/api/v2/messages?all=true")).await?.good()?;
        Ok(())
    }

    /// A page of a list as the server sends it, newest first: of a mailbox or of all, of what a query finds, so many.
    pub async fn list_json(
        &self,
        mailbox: Option<&str>,
        query: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Value, Error> {
        let mut words: Vec<String> = query.map(|query| format!("q={}", encoded(query))).into_iter().collect();
        words.extend(limit.map(|limit| format!("limit={limit}")));
        let query = if words.is_empty() { String::new() } else { format!("?{}", words.join("&")) };
        let place = mailbox.map_or_else(|| "/api/v2/messages".to_owned(), |name| mailbox_path(name, "/messages"));
        self.call(|| Ask::get(format!("{place}{query}"))).await?.json()
    }

    pub(crate) fn servers(&self) -> &Servers {
        &self.servers
    }

    pub(crate) fn own_token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    pub(crate) fn timeout_default(&self) -> Duration {
        self.timeout
    }

    /// Ask, and again within the usual patience.
    pub(crate) async fn call(&self, ask: impl Fn() -> Ask) -> Result<Answer, Error> {
        let limit = Limit { until: Instant::now() + PATIENCE, held_max: Duration::ZERO, answer: ANSWER };
        self.call_within(limit, |_| ask()).await
    }

    /// Ask once, for what would happen twice when asked for twice.
    pub(crate) async fn call_once(&self, ask: Ask) -> Result<Answer, Error> {
        let limit = Limit { until: Instant::now(), held_max: Duration::ZERO, answer: ANSWER };
        self.call_within(limit, |_| ask.clone()).await
    }

    pub(crate) async fn call_within(&self, limit: Limit, ask: impl FnMut(Duration) -> Ask) -> Result<Answer, Error> {
        self.servers.call(self.token.as_ref(), limit, ask).await
    }

    pub(crate) fn message(&self, json: Value) -> Result<Message, Error> {
        Message::read(json, self).map_err(|why| self.strange(&why))
    }

    pub(crate) fn messages(&self, json: &Value) -> Result<Vec<Message>, Error> {
        json.as_array().into_iter().flatten().cloned().map(|json| self.message(json)).collect()
    }

    /// The `items` of a list.
    pub(crate) fn summaries(&self, json: &Value) -> Result<Vec<Summary>, Error> {
        let items = json["items"].as_array().ok_or_else(|| self.strange("a list without items"))?;
        items.iter().cloned().map(|json| Summary::read(json).map_err(|why| self.strange(&why))).collect()
    }

    pub(crate) fn strange(&self, why: &str) -> Error {
        Error::Strange { server: self.servers.current().1.url(), why: why.to_owned() }
    }
}

fn names<S: AsRef<str>>(mailboxes: &[S]) -> Vec<String> {
    mailboxes.iter().map(|name| name.as_ref().to_owned()).collect()
}

/// A word as it stands in a path or a query.
pub(crate) fn encoded(word: &str) -> String {
    utf8_percent_encode(word, PLAIN).to_string()
}

/// A route below a mailbox.
pub(crate) fn mailbox_path(name: &str, below: &str) -> String {
    format!("/api/v2/mailboxes/{}{below}", encoded(name))
}

/// A route below a message.
pub(crate) fn message_path(mailbox: &str, id: &str, below: &str) -> String {
    mailbox_path(mailbox, &format!("/messages/{}{below}", encoded(id)))
}
