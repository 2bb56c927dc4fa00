//! How a server under trial is started: the binary, what it is told, what it is started under, and where it logs to.

use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::load::server::{Server, Starting, serve};

use super::letter::{Author, HOSTNAME};

/// Everything that one start has in common with the next.
#[derive(Clone)]
pub(super) struct Launch {
    pub(super) binary: PathBuf,
    /// Where it keeps mail, and more of that kind.
    pub(super) store: Vec<String>,
    /// Of the user, after all others: they decide.
    pub(super) settings: Vec<String>,
    /// A program and its words, in front of the server's own: strace.
    pub(super) under: Vec<String>,
    pub(super) log: PathBuf,
}

impl Launch {
    /// Start, and wait until it is ready.
    pub(super) fn start(&self, author: Author, messages_max: Option<usize>) -> Result<Server> {
        let starting = self.begin(author, messages_max)?;
        starting.ready().with_context(|| format!("the server does not start: {}", self.last_words()))
    }

    /// Start, and do not wait.
    pub(super) fn begin(&self, author: Author, messages_max: Option<usize>) -> Result<Starting> {
        let settings = self.all_settings(author, messages_max);
        let settings: Vec<_> = settings.iter().map(String::as_str).collect();
        let mut command = match self.under.split_first() {
            None => Command::new(&self.binary),
            Some((program, words)) => {
                let mut command = Command::new(program);
                command.args(words).arg(&self.binary);
                command
            }
        };
        serve(&mut command, &settings);
        Starting::new(command, self.open_log()?)
    }

    /// Caps and retention are off unless a round says otherwise, so that nothing goes by itself.
    fn all_settings(&self, author: Author, messages_max: Option<usize>) -> Vec<String> {
        let mut all = vec![
            format!("smtp.hostname={HOSTNAME}"),
            format!("smtp.message_max={}", author.message_max()),
            format!("mailbox.messages_max={}", messages_max.unwrap_or(0)),
            "mailbox.retention=0".into(),
            "log.level=warn".into(),
        ];
        if !self.settings.iter().any(|setting| setting.starts_with("store.engine=")) {
            all.extend(self.store.iter().cloned());
        }
        all.extend(self.settings.iter().cloned());
        all
    }

    /// `mailbox.retention`, when the user set one.
    pub(super) fn retention(&self) -> Result<Option<Duration>> {
        let set = self.settings.iter().rev().find_map(|setting| setting.strip_prefix("mailbox.retention="));
        let Some(text) = set.filter(|text| *text != "0") else { return Ok(None) };
        let seconds = text.strip_suffix('s').and_then(|number| number.parse().ok());
        Ok(Some(Duration::from_secs(seconds.context("here mailbox.retention is a number of seconds, as 3s")?)))
    }

    fn open_log(&self) -> Result<File> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        log.with_context(|| format!("cannot write {}", self.log.display()))
    }

    pub(super) fn last_words(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.trim().lines().rev().take(5).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}
