//! A handle on a mailbox: it knows where it began and which messages it has handed out, so that no call gets one twice.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::Method;

use crate::client::{Client, encoded, mailbox_path, message_path};
use crate::error::Error;
use crate::http::Ask;
use crate::message::{Kind, Message, Summary};
use crate::wait::Wait;

/// Messages in a list.
const LIST_MAX: usize = 100_000;
/// So many messages a handle hands out: the server takes no longer list of those to leave out.
const HANDED_OUT_MAX: usize = 500;

/// A handle on a mailbox.
///
/// It hands out each mail once: a second `code()` never repeats the first, in whatever order the mails come. Clones share what
/// was handed out.
#[derive(Clone, Debug)]
pub struct Mailbox {
    client: Client,
    name: String,
    /// Mail after this counts; none is the mailbox's beginning.
    since: Option<String>,
    /// Where a person can look.
    url: Option<String>,
    seen: Arc<Mutex<Seen>>,
}

/// What waits on this handle have come to.
#[derive(Debug, Default)]
struct Seen {
    handed_out: Vec<String>,
    cursor: Option<String>,
}

impl Mailbox {
    pub(crate) fn new(client: Client, name: &str, since: Option<String>, url: Option<String>) -> Self {
        Self { client, name: name.to_owned(), since, url, seen: Arc::default() }
    }

    /// The mailbox's name, as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where this handle begins; none is the mailbox's beginning.
    pub fn since(&self) -> Option<&str> {
        self.since.as_deref()
    }

    /// How far the last wait has looked, to go on from there in another handle; none before the first.
    pub fn cursor(&self) -> Option<String> {
        self.seen().cursor.clone()
    }

    /// Where a person can look at it, if the server said so.
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// The client that this handle asks with.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Wait for the next mail. Matchers may follow before it is awaited:
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(inbox: postkeep_client::Inbox) -> Result<(), postkeep_client::Error> {
    /// let mail = inbox.wait().subject("Reset").has_code().timeout(Duration::from_secs(20)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait(&self) -> Wait<'_, Message> {
        Wait::message(self)
    }

    /// The same by the name of what it gives.
    pub fn message(&self) -> Wait<'_, Message> {
        self.wait()
    }

    /// Wait until so many mails have come that match, and have all of them.
    pub fn messages(&self, count: usize) -> Wait<'_, Vec<Message>> {
        Wait::messages(self, count)
    }

    /// Wait for a mail with a code, and have the code.
    pub fn code(&self) -> Wait<'_, String> {
        Wait::code(self)
    }

    /// Wait for a mail with a link to press, and have the link.
    pub fn link(&self) -> Wait<'_, String> {
        Wait::link(self, None)
    }

    /// Wait for a mail with a link of this kind, and have the link.
    pub fn link_of(&self, kind: Kind) -> Wait<'_, String> {
        Wait::link(self, Some(kind))
    }

    /// See that no mail comes that matches, for this long. One that this handle has not handed out yet counts.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(inbox: postkeep_client::Inbox) -> Result<(), postkeep_client::Error> {
    /// inbox.expect_none(Duration::from_secs(2)).subject("Reset").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn expect_none(&self, within: Duration) -> Wait<'_, ()> {
        Wait::none(self, within)
    }

    /// Everything that lies in the mailbox, in the order it came; what was handed out, too.
    pub async fn list(&self) -> Result<Vec<Summary>, Error> {
        let mut all = Vec::new();
        let mut page: Option<String> = None;
        loop {
            let next = page.as_deref().map(|page| format!("&page={}", encoded(page))).unwrap_or_default();
            let path = mailbox_path(&self.name, &format!("/messages?order=oldest{next}"));
            let json = self.client.call(|| Ask::get(path.clone())).await?.json()?;
            all.extend(self.client.summaries(&json)?);
            page = json["next"].as_str().map(str::to_owned);
            if page.is_none() || all.len() >= LIST_MAX {
                return Ok(all);
            }
        }
    }

    /// Messages that a query finds, newest first, as the server pages them.
    pub async fn search(&self, query: &str) -> Result<Vec<Summary>, Error> {
        let path = mailbox_path(&self.name, &format!("/messages?q={}", encoded(query)));
        let json = self.client.call(|| Ask::get(path.clone())).await?.json()?;
        self.client.summaries(&json)
    }

    /// Read a message by its id, or `latest`. It is not handed out by that.
    pub async fn read(&self, id: &str) -> Result<Message, Error> {
        self.client.read(&self.name, id).await
    }

    /// Delete a message. One that is gone already is unknown.
    pub async fn delete(&self, id: &str) -> Result<(), Error> {
        let path = message_path(&self.name, id, "");
        self.client.call(|| Ask::new(Method::DELETE, path.clone())).await?.good()?;
        Ok(())
    }

    /// Empty the mailbox.
    pub async fn purge(&self) -> Result<(), Error> {
        let path = mailbox_path(&self.name, "/messages");
        self.client.call(|| Ask::new(Method::DELETE, path.clone())).await?.good()?;
        Ok(())
    }

    /// Leave these messages out of every wait, as if they had been handed out.
    pub fn exclude<S: AsRef<str>>(&self, ids: &[S]) {
        self.seen().handed_out.extend(ids.iter().map(|id| id.as_ref().to_owned()));
    }

    /// What was handed out so far.
    pub(crate) fn handed_out(&self) -> Result<Vec<String>, Error> {
        let ids = self.seen().handed_out.clone();
        if ids.len() <= HANDED_OUT_MAX {
            return Ok(ids);
        }
        Err(Error::misuse(format!("a handle hands out {HANDED_OUT_MAX} mails; make another by Client::mailbox")))
    }

    /// Note these as handed out, unless another call was quicker with one of them.
    pub(crate) fn claim(&self, messages: &[Message]) -> bool {
        let mut seen = self.seen();
        let is_free = messages.iter().all(|message| !seen.handed_out.contains(&message.id));
        if is_free {
            seen.handed_out.extend(messages.iter().map(|message| message.id.clone()));
        }
        is_free
    }

    /// Note how far the server has looked.
    pub(crate) fn came_to(&self, cursor: Option<&str>) {
        if let Some(cursor) = cursor {
            self.seen().cursor = Some(cursor.to_owned());
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
