//! One test: what it does, and what must be true at each step.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use postkeep_bench::letter::{letter, with_code};
use postkeep_bench::rest::{Call, Client};
use postkeep_bench::{Chance, Tally, smtp};
use serde_json::Value;

use crate::Worker;

/// So long a test waits for its mail.
const TIMEOUT: &str = "20s";
/// So long one that expects nothing looks.
const QUIET: &str = "200ms";

/// An inbox that was opened for one test.
struct Inbox {
    mailbox: String,
    address: String,
    secret: String,
    cursor: String,
}

/// Run it; the time from the mail's 250 to its code.
pub(crate) async fn run(worker: &mut Worker, mut chance: Chance, number: usize, tally: &Tally) -> Result<Duration> {
    let Worker { http, smtp } = worker;
    let mut node = || chance.below(http.len());
    let [opened, waited, read, closed, sent] = [node(), node(), node(), node(), node()];
    let code = format!("{}", 100_000 + chance.below(900_000));
    let subject = format!("Code for test {number}");
    let inbox = open(&mut http[opened]).await.context("open")?;

    let waits = inbox.path(&format!("/wait?has=code&timeout={TIMEOUT}{}", inbox.since(&mut chance)));
    let waiting = async {
        let message = wait(&mut http[waited], &inbox, &waits).await?;
        Ok::<_, anyhow::Error>((message, Instant::now()))
    };
    // Sometimes the mail is there first, sometimes the one who waits.
    let mails = Mails { to: &inbox.address, code: &code, subject: &subject, noise: chance.below(3) };
    let sending = send(&mut smtp[sent], &mails);
    let ((message, at), acknowledged) = if chance.percent(50) {
        let acknowledged = sending.await.context("send")?;
        (waiting.await.context("wait")?, acknowledged)
    } else {
        let (waited, sent) = tokio::join!(waiting, sending);
        (waited.context("wait")?, sent.context("send")?)
    };
    let id = holds(&message, &subject, &code).context("the message that was waited for")?;

    let path = inbox.path(&format!("/messages/{id}"));
    let whole = inbox.call(&mut http[read], "GET", &path, 200).await.context("read")?;
    ensure!(holds(&whole, &subject, &code)? == id && whole["mailbox"] == *inbox.mailbox, "read another: {whole}");
    if chance.percent(10) {
        let path = inbox.path(&format!("/wait?subject=Never&expect=none&timeout={QUIET}"));
        let answer = inbox.call(&mut http[waited], "GET", &path, 200).await.context("expect none")?;
        ensure!(answer["outcome"] == "quiet", "it was not quiet: {answer}");
        tally.count("quiet");
    }
    leave(&mut http[closed], &inbox, &id, mails.noise).await.context("leave")?;
    left_nothing(&mut http[read], &inbox).await?;
    tally.count("passed");
    Ok(at.saturating_duration_since(acknowledged))
}

async fn open(http: &mut Client) -> Result<Inbox> {
    let json = Some(r#"{"label":"kit","ttl":"10m"}"#);
    let call = Call { method: "POST", path: "/api/v2/inboxes", json, ..Call::default() };
    let answer = http.call(&call, 201).await?;
    let text = |name: &str| Ok::<_, anyhow::Error>(answer[name].as_str().with_context(|| format!("no {name}"))?.into());
    Ok(Inbox { mailbox: text("mailbox")?, address: text("address")?, secret: text("secret")?, cursor: text("cursor")? })
}

impl Inbox {
    fn path(&self, rest: &str) -> String {
        format!("/api/v2/mailboxes/{}{rest}", self.mailbox)
    }

    /// Half of the tests name where they begin; for a fresh inbox that is the same.
    fn since(&self, chance: &mut Chance) -> String {
        if chance.percent(50) { format!("&since={}", self.cursor) } else { String::new() }
    }

    async fn call(&self, http: &mut Client, method: &str, path: &str, wanted: u16) -> Result<Value> {
        http.call(&Call { method, path, token: Some(&self.secret), json: None }, wanted).await
    }
}

/// What is sent to one inbox: the mail with the code, and some without one before it.
struct Mails<'a> {
    to: &'a str,
    code: &'a str,
    subject: &'a str,
    noise: usize,
}

/// When the mail with the code was acknowledged.
async fn send(smtp: &mut smtp::Client, mails: &Mails<'_>) -> Result<Instant> {
    for _ in 0..mails.noise {
        smtp.deliver(mails.to, &letter("Your order 4471920", 800)).await?;
    }
    smtp.deliver(mails.to, &with_code(mails.to, mails.subject, mails.code)).await?;
    Ok(Instant::now())
}

async fn wait(http: &mut Client, inbox: &Inbox, path: &str) -> Result<Value> {
    let mut answer = inbox.call(http, "GET", path, 200).await?;
    ensure!(answer["outcome"] == "matched", "{answer}");
    ensure!(answer["messages"].as_array().is_some_and(|messages| messages.len() == 1), "{answer}");
    Ok(answer["messages"][0].take())
}

/// Its id, if this is the mail with the code.
fn holds(message: &Value, subject: &str, code: &str) -> Result<String> {
    ensure!(message["subject"] == *subject, "the subject is {} instead of {subject}", message["subject"]);
    let found = &message["codes"][0]["value"];
    ensure!(found == code, "the code is {found} instead of {code}");
    Ok(message["id"].as_str().context("a message without an id")?.to_owned())
}

/// Delete the message; what was sent besides stays, until the inbox is closed.
async fn leave(http: &mut Client, inbox: &Inbox, id: &str, noise: usize) -> Result<()> {
    inbox.call(http, "DELETE", &inbox.path(&format!("/messages/{id}")), 204).await?;
    let list = inbox.call(http, "GET", &inbox.path("/messages"), 200).await?;
    let items = list["items"].as_array().context("a list without items")?;
    ensure!(items.len() == noise, "{} are there instead of {noise}: {list}", items.len());
    inbox.call(http, "DELETE", &format!("/api/v2/inboxes/{}", inbox.mailbox), 204).await?;
    Ok(())
}

async fn left_nothing(http: &mut Client, inbox: &Inbox) -> Result<()> {
    let list = inbox.call(http, "GET", &inbox.path("/messages"), 200).await.context("look again")?;
    ensure!(list["items"].as_array().is_some_and(Vec::is_empty), "something was left: {list}");
    Ok(())
}
