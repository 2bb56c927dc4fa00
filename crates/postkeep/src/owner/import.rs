//! `postkeep store import`: messages from files into a store that nobody serves, or into a running server.
//!
//! They keep their bytes and receipts. What retention would take at once is not stored, and what the cap of a mailbox
//! will cost is told; an import itself takes nothing away.

use std::collections::HashMap;
use std::future::Future;
use std::io::{self, Write};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use jiff::{SignedDuration, Timestamp};
use mail::mailbox::BadName;
use mailroom::{Caller, Clock, Filed, MailboxOrder, MailboxPage, Mailroom, StoreError, SystemClock};

use super::files::Source;
use super::letter::{Found, Letter};
use super::progress::{Progress, Steps};
use super::server::{Server, Taken};
use super::words::{bytes, count, many, shown};
use super::{Ended, Format};
use crate::assembly;
use crate::config::{Config, Time};

/// Messages, and bytes of them, that are on their way to the disk at once: they share its syncs.
const IN_FLIGHT: usize = 128;
const IN_FLIGHT_BYTES: usize = 32 << 20;
const CUT_OFF: &str = "the import ended before its end: what is counted above is in, and would be there twice if it was \
                       imported again";
const NO_MAILBOX: &str = "nothing says which mailbox it belongs to; name one with --mailbox";

/// What is to be imported.
pub(crate) struct Import {
    /// From where; `-`: stdin.
    pub(crate) from: PathBuf,
    /// As what.
    pub(crate) format: Format,
    /// All of it into this mailbox; none: as the files say.
    pub(crate) mailbox: Option<String>,
    /// Where to.
    pub(crate) to: To,
}

/// Where messages go.
pub(crate) enum To {
    /// Into the store in this directory.
    Store(PathBuf),
    /// To a running server.
    Server {
        /// Where it is.
        url: String,
        /// What to show there.
        token: Option<String>,
    },
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Sum {
    messages: u64,
    bytes: u64,
    /// Not stored, as retention would take it at once.
    lapsed: u64,
    /// Passed over, each named.
    passed: u64,
    /// Recipients that did not fit into a request.
    recipients_cut: u64,
    /// By mailbox: how many were there before, where that is known, and how many came.
    mailboxes: HashMap<String, (Option<u64>, u64)>,
}

/// An import under way.
struct Run<'a> {
    config: &'a Config,
    /// What was received at this time or before has lapsed.
    lapsed: Option<Timestamp>,
    target: Target,
    progress: Progress,
    sum: Sum,
}

enum Target {
    Store { room: Arc<Mailroom>, waiting: FuturesOrdered<Waiting>, bytes: usize },
    Server(Server),
}

/// A message on its way: its mailbox, its size, and what became of it.
type Waiting = Pin<Box<dyn Future<Output = (String, usize, mailroom::Result<Filed>)>>>;

/// Import messages.
pub(crate) fn import(config: &Config, wish: &Import) -> Result<Ended> {
    let message_max = usize::try_from(config.http.import_max).unwrap_or(usize::MAX);
    let source = Source::open(&wish.from, wish.format, message_max);
    let source = source.with_context(|| format!("cannot read {}", wish.from.display()))?;
    let target = match &wish.to {
        To::Store(path) => {
            let store = assembly::take(path, &config.store)?;
            let room = Mailroom::new(store, config.mailroom.clone());
            Target::Store { room, waiting: FuturesOrdered::new(), bytes: 0 }
        }
        To::Server { url, token } => Target::Server(Server::new(url, token.as_deref())?),
    };
    let now = SystemClock.now();
    let age = config.store.retention.and_then(|age| SignedDuration::try_from(age).ok());
    let lapsed = age.and_then(|age| now.checked_sub(age).ok());
    let progress = Progress::begin("import", Steps::Things, None);
    let mut run = Run { config, lapsed, target, progress, sum: Sum::default() };
    let done = assembly::block_on(run.all(source, wish))?;
    let Run { sum, progress, target, .. } = run;
    // Everything is on the disk before it is told.
    drop(target);
    drop(progress);
    if done.is_ok() || sum.messages > 0 {
        let _ = io::stdout().lock().write_all(sum.text(config).as_bytes());
    }
    done.context(if sum.messages > 0 { CUT_OFF } else { "nothing was imported" })?;
    Ok(if sum.passed == 0 { Ended::Well } else { Ended::Short })
}

impl Run<'_> {
    async fn all(&mut self, mut source: Source, wish: &Import) -> Result<()> {
        let read = self.read(&mut source, wish).await;
        // What is on its way arrives, whatever came behind it.
        let settled = self.settle(0).await;
        read.and(settled)
    }

    async fn read(&mut self, source: &mut Source, wish: &Import) -> Result<()> {
        while let Some(found) = source.next()? {
            self.progress.add(1);
            match found {
                Found::Passed(place, why) => self.pass(&place, why),
                Found::Letter(named, letter) => match wish.mailbox.as_ref().or(named.as_ref()) {
                    Some(mailbox) => self.letter(mailbox, letter).await?,
                    None => self.pass("a message", NO_MAILBOX),
                },
            }
        }
        Ok(())
    }

    fn pass(&mut self, place: &str, why: &str) {
        self.sum.passed += 1;
        self.progress.tell(&format!("{}: passed over; {}", shown(place), shown(why)));
    }

    async fn letter(&mut self, mailbox: &str, letter: Letter) -> Result<()> {
        if self.lapsed.is_some_and(|lapsed| letter.received_at.is_some_and(|at| at <= lapsed)) {
            self.sum.lapsed += 1;
            return Ok(());
        }
        let size = letter.raw.len();
        if let Err(why) = self.send(mailbox, letter, size).await? {
            self.pass(&format!("a message for {mailbox}"), &why);
        }
        Ok(())
    }

    /// Send a message off; or why this one cannot be taken.
    async fn send(&mut self, mailbox: &str, letter: Letter, size: usize) -> Result<Result<(), String>> {
        if !self.sum.mailboxes.contains_key(mailbox) {
            let before = match self.held(mailbox).await? {
                Ok(before) => before,
                Err(why) => return Ok(Err(why.to_string())),
            };
            self.sum.mailboxes.insert(mailbox.to_owned(), (before, 0));
        }
        match &mut self.target {
            Target::Server(server) => {
                let taken = server.import(mailbox, &letter).await?;
                if let Taken::Kept { recipients_cut } = taken {
                    self.sum.note(mailbox, size);
                    self.sum.recipients_cut += recipients_cut as u64;
                    return Ok(Ok(()));
                }
                let Taken::Refused(why) = taken else { return Ok(Ok(())) };
                Ok(Err(why))
            }
            Target::Store { room, waiting, bytes } => {
                let import = match room.named(mailbox) {
                    Ok(mailbox) => as_import(mailbox, letter, room.now()),
                    Err(bad) => return Ok(Err(bad.to_string())),
                };
                let (room, name) = (Arc::clone(room), mailbox.to_owned());
                waiting.push_back(Box::pin(async move { (name, size, room.import(&Caller::Program, import).await) }));
                *bytes += size;
                self.settle(IN_FLIGHT).await?;
                Ok(Ok(()))
            }
        }
    }

    /// How many messages a mailbox holds before this import, where a cap makes that matter.
    async fn held(&mut self, mailbox: &str) -> Result<Result<Option<u64>, BadName>> {
        if self.config.store.messages_max == 0 {
            return Ok(Ok(None));
        }
        match &mut self.target {
            Target::Server(server) => Ok(Ok(server.count(mailbox).await?)),
            Target::Store { room, .. } => {
                let mailbox = match room.named(mailbox) {
                    Ok(mailbox) => mailbox,
                    Err(bad) => return Ok(Err(bad)),
                };
                // In the order of names it is the first of those that begin with its own.
                let page = MailboxPage { prefix: mailbox.as_str(), order: MailboxOrder::default(), limit: 1 };
                let states = room.mailboxes(&Caller::Program, page).await?;
                let own = states.first().filter(|state| state.mailbox == mailbox);
                Ok(Ok(Some(own.map_or(0, |state| state.messages))))
            }
        }
    }

    /// Wait until no more than so many messages are on their way, and no more bytes than may be. All that arrived are
    /// counted, whatever became of others; the first failure is told.
    async fn settle(&mut self, most: usize) -> Result<()> {
        let Target::Store { waiting, bytes, .. } = &mut self.target else { return Ok(()) };
        let mut failed = None;
        while waiting.len() > most || (*bytes > IN_FLIGHT_BYTES && !waiting.is_empty()) {
            let Some((mailbox, size, done)) = waiting.next().await else { break };
            *bytes -= size;
            match done {
                Ok(_) => self.sum.note(&mailbox, size),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(()), |error| Err(explained(error)))
    }
}

fn explained(error: mailroom::Error) -> anyhow::Error {
    match error {
        mailroom::Error::Store(StoreError::Full { .. }) => {
            anyhow!(error).context("make room on the disk, or raise store.disk.bytes_max")
        }
        error => error.into(),
    }
}

fn as_import(mailbox: mail::Mailbox, letter: Letter, now: Timestamp) -> mailroom::Import {
    mailroom::Import {
        mailbox,
        raw: letter.raw.into(),
        received_at: letter.received_at.unwrap_or(now),
        mail_from: letter.mail_from,
        rcpt_to: letter.rcpt_to,
    }
}

impl Sum {
    /// A message of this size is in this mailbox.
    fn note(&mut self, mailbox: &str, size: usize) {
        self.messages += 1;
        self.bytes += size as u64;
        if let Some((_, came)) = self.mailboxes.get_mut(mailbox) {
            *came += 1;
        }
    }

    /// How many messages, those that were there before included, the cap of their mailbox takes.
    fn over_cap(&self, messages_max: u64) -> u64 {
        if messages_max == 0 {
            return 0;
        }
        let over = |(before, came): &(Option<u64>, u64)| (before.unwrap_or(0) + came).saturating_sub(messages_max);
        self.mailboxes.values().map(over).sum()
    }

    fn text(&self, config: &Config) -> String {
        let used = self.mailboxes.values().filter(|(_, came)| *came > 0).count() as u64;
        let messages = count(self.messages, "message");
        let mut text =
            format!("Imported {messages} into {} ({}).\n", many(used, "mailbox", "mailboxes"), bytes(self.bytes));
        if let Some(age) = config.store.retention.filter(|_| self.lapsed > 0) {
            let lapsed = count(self.lapsed, "message");
            text += &format!(
                "Not taken as older than mailbox.retention, {}: {lapsed}. Raise it, for the server too, to take them.\n",
                Time(age)
            );
        }
        let max = config.store.messages_max as u64;
        let over = self.over_cap(max);
        if over > 0 {
            let over = count(over, "message");
            text += &format!(
                "Beyond mailbox.messages_max, {max} in a mailbox: {over}. The server lets the oldest go; raise it to keep \
                 them.\n"
            );
        }
        if self.recipients_cut > 0 {
            let cut = count(self.recipients_cut, "recipient");
            text += &format!(
                "Envelopes were cut, as a request holds only so much: {cut}. Import without --server to keep them all.\n"
            );
        }
        if self.passed > 0 {
            text += &format!("Passed over, and named above: {}.\n", self.passed);
        }
        text
    }
}
