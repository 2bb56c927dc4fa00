//! Waiting: what must hold of a mail, for how long, and what is made of it. The server holds the request; a long wait is
//! several requests, each within what proxies bear, and goes on where it was on any node.

mod criteria;

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::{Duration, Instant};

use hyper::Method;
use serde_json::{Value, json};

pub(crate) use criteria::Criteria;

use crate::call::Limit;
use crate::client::mailbox_path;
use crate::error::Error;
use crate::http::{Answer, Ask};
use crate::mailbox::Mailbox;
use crate::message::{Kind, Message};
use crate::problem::Problem;
use crate::report::{Timeout, Unexpected};
use crate::text::duration;

/// One request is held no longer than this; proxies cut at 30 or 60 seconds.
const SLICE_MAX: Duration = Duration::from_secs(25);
/// The least that a request is held when a server wants them shorter.
const SLICE_MIN: Duration = Duration::from_secs(1);
/// The server answers at its deadline; so much later it is taken for lost.
const GRACE: Duration = Duration::from_secs(5);

/// What makes the result of the mails that matched.
type Finish<T> = fn(Vec<Message>, Option<Kind>) -> Result<T, Error>;

/// A wait about to begin: add matchers, then await it. All of them must hold.
///
/// When time is over, the error prints what came instead:
///
/// ```text
/// PostkeepTimeout: no mail for signup-1f8k2 matched in 20 s
///   wanted    subject contains "Reset", a code
///   arrived   1:  09:30:02 "Welcome" from no-reply@shop.test  ✗ subject  ✓ code
/// ```
#[must_use = "it begins when this is awaited"]
pub struct Wait<'a, T> {
    mailbox: &'a Mailbox,
    criteria: Criteria,
    expect: Expect,
    timeout: Duration,
    kind: Option<Kind>,
    finish: Finish<T>,
}

/// What is hoped for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expect {
    Mails(usize),
    None,
}

impl<'a, T> Wait<'a, T> {
    fn new(mailbox: &'a Mailbox, expect: Expect, finish: Finish<T>) -> Self {
        let timeout = mailbox.client().timeout_default();
        Self { mailbox, criteria: Criteria::default(), expect, timeout, kind: None, finish }
    }

    /// From this address, or from `@domain`.
    pub fn from(mut self, address: impl Into<String>) -> Self {
        self.criteria.word("from", address);
        self
    }

    /// To this address as SMTP had it, or to `@domain`.
    pub fn to(mut self, address: impl Into<String>) -> Self {
        self.criteria.word("to", address);
        self
    }

    /// The subject contains this, in any case.
    pub fn subject(mut self, words: impl Into<String>) -> Self {
        self.criteria.text("subject", "contains", words);
        self
    }

    /// The subject is this.
    pub fn subject_is(mut self, words: impl Into<String>) -> Self {
        self.criteria.text("subject", "is", words);
        self
    }

    /// The subject matches this regular expression.
    pub fn subject_regex(mut self, regex: impl Into<String>) -> Self {
        self.criteria.text("subject", "regex", regex);
        self
    }

    /// The text, or what is seen of the HTML, contains this, in any case.
    pub fn body(mut self, words: impl Into<String>) -> Self {
        self.criteria.text("body", "contains", words);
        self
    }

    /// The text, or what is seen of the HTML, matches this regular expression.
    pub fn body_regex(mut self, regex: impl Into<String>) -> Self {
        self.criteria.text("body", "regex", regex);
        self
    }

    /// A field of the header has exactly this value.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.criteria.header(name, value);
        self
    }

    /// It has a code.
    pub fn has_code(self) -> Self {
        self.has("code")
    }

    /// It has a link to press.
    pub fn has_link(self) -> Self {
        self.has("link")
    }

    /// It has a link of this kind.
    pub fn has_link_of(self, kind: Kind) -> Self {
        self.has(format!("link:{}", kind.as_str()))
    }

    /// It has an attachment.
    pub fn has_attachment(self) -> Self {
        self.has("attachment")
    }

    /// It has this, in the API's own word: `code`, `link`, `link:reset`, `attachment`.
    pub fn has(mut self, what: impl Into<String>) -> Self {
        self.criteria.has(what);
        self
    }

    /// How long to wait. Zero looks once.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    async fn run(self) -> Result<T, Error> {
        let begin = Instant::now();
        let until = begin + self.timeout;
        let mut slice = SLICE_MAX;
        loop {
            let answer = self.ask(until, slice).await?;
            let is_over = Instant::now() >= until;
            match self.judge(answer, begin.elapsed())? {
                Judged::Met(messages) if self.mailbox.claim(&messages) => return (self.finish)(messages, self.kind),
                // Another call on the same handle was quicker: this one waits on.
                Judged::Met(_) if !is_over => {}
                Judged::Met(_) => return Err(self.ask_once_more().await),
                Judged::Quiet if is_over => return (self.finish)(Vec::new(), self.kind),
                Judged::TimedOut(timeout) if is_over => return Err(Error::Timeout(timeout)),
                Judged::Quiet | Judged::TimedOut(_) => {}
                Judged::TooLong(_) if slice > SLICE_MIN => slice = (slice / 2).max(SLICE_MIN),
                Judged::TooLong(problem) => return Err(Error::Problem(problem)),
            }
        }
    }

    async fn ask(&self, until: Instant, slice: Duration) -> Result<Answer, Error> {
        let exclude = self.mailbox.handed_out()?;
        let path = mailbox_path(self.mailbox.name(), "/wait");
        let limit = Limit { until, held_max: slice, answer: GRACE };
        let ask = |left: Duration| Ask::new(Method::POST, &*path).json(&self.asking(&exclude, left.min(slice)));
        self.mailbox.client().call_within(limit, ask).await
    }

    /// Time is over, and what was found has gone to somebody else: see what the server says without it.
    async fn ask_once_more(&self) -> Error {
        let answer = match self.ask(Instant::now(), Duration::ZERO).await {
            Ok(answer) => answer,
            Err(error) => return error,
        };
        match self.judge(answer, self.timeout) {
            Ok(Judged::TimedOut(timeout)) => Error::Timeout(timeout),
            Ok(_) => Error::misuse("several calls on one handle wait for the same mail; give each a handle of its own"),
            Err(error) => error,
        }
    }

    fn asking(&self, exclude: &[String], time: Duration) -> Value {
        let mut body = json!({"timeout": duration(time)});
        if !self.criteria.is_empty() {
            body["match"] = self.criteria.json();
        }
        if let Some(since) = self.mailbox.since() {
            body["since"] = json!(since);
        }
        if !exclude.is_empty() {
            body["exclude"] = json!(exclude);
        }
        match self.expect {
            Expect::None => body["expect"] = json!("none"),
            Expect::Mails(1) => {}
            Expect::Mails(count) => body["count"] = json!(count),
        }
        body
    }

    fn judge(&self, answer: Answer, waited: Duration) -> Result<Judged, Error> {
        let client = self.mailbox.client();
        if answer.status == 200 {
            let json = answer.json()?;
            self.mailbox.came_to(json["cursor"].as_str());
            let messages = client.messages(&json["messages"])?;
            return Ok(if self.expect == Expect::None { Judged::Quiet } else { Judged::Met(messages) });
        }
        let Some(problem) = Problem::read(answer.status, &answer.body) else {
            return Err(answer.good().err().unwrap_or_else(|| client.strange("an answer of another kind")));
        };
        match problem.slug.as_str() {
            "wait-timeout" => {
                let asked = self.asked(waited);
                Ok(Judged::TimedOut(Box::new(Timeout::read(asked, problem))))
            }
            "unexpected-message" => {
                Err(Error::Unexpected(Box::new(Unexpected::read(self.asked(self.timeout), problem))))
            }
            "timeout-too-long" => Ok(Judged::TooLong(Box::new(problem))),
            _ => Err(Error::Problem(Box::new(problem))),
        }
    }

    fn asked(&self, waited: Duration) -> crate::report::Asked {
        crate::report::Asked {
            mailbox: self.mailbox.name().to_owned(),
            url: self.mailbox.url().map(str::to_owned),
            wanted: self.criteria.to_string(),
            count: if let Expect::Mails(count) = self.expect { count } else { 0 },
            waited: waited.min(self.timeout),
        }
    }
}

/// What an answer means for the wait.
enum Judged {
    Met(Vec<Message>),
    Quiet,
    TimedOut(Box<Timeout>),
    /// The server holds no request for so long.
    TooLong(Box<Problem>),
}

impl<'a> Wait<'a, Message> {
    pub(crate) fn message(mailbox: &'a Mailbox) -> Self {
        Self::new(mailbox, Expect::Mails(1), |messages, _| one(messages))
    }
}

impl<'a> Wait<'a, Vec<Message>> {
    pub(crate) fn messages(mailbox: &'a Mailbox, count: usize) -> Self {
        Self::new(mailbox, Expect::Mails(count.max(1)), |messages, _| Ok(messages))
    }
}

impl<'a> Wait<'a, String> {
    pub(crate) fn code(mailbox: &'a Mailbox) -> Self {
        Self::new(mailbox, Expect::Mails(1), |messages, _| Ok(one(messages)?.code()?.to_owned())).has_code()
    }

    pub(crate) fn link(mailbox: &'a Mailbox, kind: Option<Kind>) -> Self {
        let finish: Finish<String> = |messages, kind| {
            let message = one(messages)?;
            Ok(kind.map_or_else(|| message.link(), |kind| message.link_of(kind))?.to_owned())
        };
        let wait = Self { kind, ..Self::new(mailbox, Expect::Mails(1), finish) };
        match kind {
            Some(kind) => wait.has_link_of(kind),
            None => wait.has_link(),
        }
    }
}

impl<'a> Wait<'a, ()> {
    pub(crate) fn none(mailbox: &'a Mailbox, within: Duration) -> Self {
        Self::new(mailbox, Expect::None, |_, _| Ok(())).timeout(within)
    }
}

fn one(messages: Vec<Message>) -> Result<Message, Error> {
    let none = || Error::misuse("the server says that a mail matched, and sends none; does it have another version?");
    messages.into_iter().next().ok_or_else(none)
}

impl<'a, T: 'a> IntoFuture for Wait<'a, T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}
