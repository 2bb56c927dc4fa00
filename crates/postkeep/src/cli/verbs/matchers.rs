//! What must hold of a mail, as options; the same for all verbs that wait.

use std::time::Duration;

use clap::Args;
use client::{Client, Mailbox, Wait};

use super::Failure;
use super::at::At;
use crate::config::time;

/// Which mail, where, and for how long.
#[derive(Debug, Args)]
pub(super) struct Matchers {
    /// The mailbox, or an address that leads to it [env: POSTKEEP_MAILBOX]
    #[arg(value_name = "MAILBOX")]
    mailbox: Option<String>,
    /// From this address, or from @domain
    #[arg(long, value_name = "ADDRESS")]
    from: Option<String>,
    /// To this address as SMTP had it, or to @domain
    #[arg(long, value_name = "ADDRESS")]
    to: Option<String>,
    /// The subject contains this, in any case
    #[arg(long, value_name = "WORDS")]
    subject: Option<String>,
    /// The subject matches this regular expression
    #[arg(long, value_name = "REGEX", conflicts_with = "subject")]
    subject_regex: Option<String>,
    /// The text contains this, in any case
    #[arg(long, value_name = "WORDS")]
    body: Option<String>,
    /// The text matches this regular expression
    #[arg(long, value_name = "REGEX", conflicts_with = "body")]
    body_regex: Option<String>,
    /// A field of the header has this value; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    header: Vec<(String, String)>,
    /// It has a code, a link, link:reset or another kind, or an attachment; may be repeated
    #[arg(long, value_name = "WHAT")]
    has: Vec<String>,
    /// Only what came after this cursor, which `postkeep list MAILBOX --cursor` prints
    #[arg(long, value_name = "CURSOR")]
    since: Option<String>,
    /// Not this message; may be repeated
    #[arg(long, value_name = "ID")]
    exclude: Vec<String>,
    /// How long to wait
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(super) timeout: Duration,
    #[command(flatten)]
    at: At,
}

impl Matchers {
    /// The mailbox, from where it is to be looked at.
    pub(super) fn mailbox(&self) -> Result<Mailbox, Failure> {
        let client: Client = self.at.client()?;
        let name = super::mailbox(self.mailbox.clone())?;
        let mailbox = match &self.since {
            Some(cursor) => client.mailbox_since(&name, cursor.trim()),
            None => client.whole_mailbox(&name),
        };
        mailbox.exclude(&self.exclude);
        Ok(mailbox)
    }

    /// A wait with all that must hold.
    pub(super) fn apply<'a, T>(&self, mut wait: Wait<'a, T>) -> Wait<'a, T> {
        type Put<'a, T> = fn(Wait<'a, T>, String) -> Wait<'a, T>;
        let texts: [(&Option<String>, Put<'a, T>); 6] = [
            (&self.from, Wait::from),
            (&self.to, Wait::to),
            (&self.subject, Wait::subject),
            (&self.subject_regex, Wait::subject_regex),
            (&self.body, Wait::body),
            (&self.body_regex, Wait::body_regex),
        ];
        for (value, put) in texts {
            if let Some(value) = value {
                wait = put(wait, value.clone());
            }
        }
        for (name, value) in &self.header {
            wait = wait.header(name, value);
        }
        for what in &self.has {
            wait = wait.has(what);
        }
        wait.timeout(self.timeout)
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// `20s`, `1m30s`, `0`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    time(text).ok_or_else(|| "this is no time; write it as 20s, 1m30s or 500ms".to_owned())
}
