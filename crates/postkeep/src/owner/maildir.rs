//! Maildir: a directory for each mailbox, a file for each message, its receipt in the file's name and as its time.
//!
//! Sender and recipients have no place in it; a Return-Path field in the message names the sender anyway. A message is
//! written below `tmp` and moved when it is whole, so no half one is ever seen.

use std::fs::File;
use std::io::{self, Read, Write};
use std::time::SystemTime;

use jiff::Timestamp;
use mail::MessageId;

use super::letter::{Found, Letter, TOO_LARGE};
use super::name;
use super::tree::{Dir, Kind};

#[cfg(test)]
mod tests;

/// Directories of a directory that are descended into: those that a long name makes.
const DEPTH_MAX: usize = 16;
const HALVES: [&str; 3] = ["cur", "new", "tmp"];
const FOLDER: &str = "it is a folder of its own; import it with --mailbox to take it";
const NO_FILE: &str = "it is a link or no plain file; copy the message itself there to take it";
const NO_MAILDIR: &str =
    "it is no Maildir, which holds the directories cur, new and tmp; import it on its own to take it";

/// One mailbox's Maildir to write into.
pub(super) struct Writer {
    tmp: Dir,
    new: Dir,
}

impl Writer {
    /// Make the Maildir of a mailbox.
    pub(super) fn begin(to: &Dir, mailbox: &str) -> io::Result<Self> {
        let mut components = name::components(mailbox).map_err(io::Error::other)?.into_iter();
        let first = components.next().unwrap_or_default();
        let home = components.try_fold(to.enter(&first)?, |dir, component| dir.enter(&component))?;
        home.enter("cur")?;
        Ok(Self { tmp: home.enter("tmp")?, new: home.enter("new")? })
    }

    /// Write one message.
    pub(super) fn write(&self, id: MessageId, letter: &Letter) -> io::Result<()> {
        let at = letter.received_at.unwrap_or_default();
        let file_name = file_name(at, id);
        let mut file = self.tmp.create(&file_name)?;
        file.write_all(&letter.raw)?;
        file.set_modified(SystemTime::from(at))?;
        self.tmp.hand_over(&file_name, &self.new)
    }
}

/// `1794737625.M000042P0_0000000000abc.postkeep`
fn file_name(at: Timestamp, id: MessageId) -> String {
    let (second, micros) = (at.as_microsecond().div_euclid(1_000_000), at.as_microsecond().rem_euclid(1_000_000));
    format!("{second}.M{micros:06}P0_{id}.postkeep")
}

/// Reads every Maildir below a directory, or the one that it is.
pub(super) struct Reader {
    message_max: usize,
    /// Where it began, until that was looked into.
    root: Option<Dir>,
    /// Directories still to be looked into, the next one last, each with the components of its mailbox's name.
    waiting: Vec<(Dir, Vec<String>)>,
    /// The messages of the Maildir at hand, the next one last, and the mailbox's name. A name takes about 100 bytes.
    files: Vec<(Timestamp, String, bool)>,
    halves: Option<(Dir, Dir)>,
    mailbox: String,
    passed: Vec<Found>,
}

impl Reader {
    pub(super) fn new(root: Dir, message_max: usize) -> Self {
        Self {
            message_max,
            root: Some(root),
            waiting: Vec::new(),
            files: Vec::new(),
            halves: None,
            mailbox: String::new(),
            passed: Vec::new(),
        }
    }

    /// The next message; none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Found>> {
        loop {
            if let Some(passed) = self.passed.pop() {
                return Ok(Some(passed));
            }
            if let Some((at, name, is_new)) = self.files.pop() {
                return self.read(at, &name, is_new).map(Some);
            }
            if let Some(root) = self.root.take() {
                self.look_into(root, Vec::new())?;
            } else if let Some((dir, components)) = self.waiting.pop() {
                self.look_into(dir, components)?;
            } else {
                return Ok(None);
            }
        }
    }

    fn look_into(&mut self, dir: Dir, components: Vec<String>) -> io::Result<()> {
        let entries = dir.entries()?;
        let holds = |name: &str| entries.iter().any(|(entry, kind)| entry == name && *kind == Kind::Dir);
        if holds("cur") && holds("new") {
            let others = entries.iter().filter(|(name, kind)| *kind == Kind::Dir && !HALVES.contains(&&**name));
            let others = others.map(|(name, _)| Found::Passed(dir.path().join(name).display().to_string(), FOLDER));
            self.passed.extend(others);
            return self.open(dir, components);
        }
        // A directory whose name does not go on is a Maildir, or the root, or nothing of ours.
        if components.last().is_some_and(|name| !name.ends_with('%')) || components.len() > DEPTH_MAX {
            self.passed.push(Found::Passed(dir.path().display().to_string(), NO_MAILDIR));
            return Ok(());
        }
        for (name, kind) in entries.into_iter().rev() {
            match kind {
                Kind::Dir => {
                    let inner = dir.dir(&name)?;
                    self.waiting.push((inner, components.iter().cloned().chain([name]).collect()));
                }
                _ => self.passed.push(Found::Passed(dir.path().join(name).display().to_string(), NO_MAILDIR)),
            }
        }
        Ok(())
    }

    /// Line up the messages of a Maildir in the order of their receipt.
    fn open(&mut self, dir: Dir, mut components: Vec<String>) -> io::Result<()> {
        if components.is_empty() {
            let path = dir.path().canonicalize()?;
            components.extend(path.file_name().and_then(|name| name.to_str()).map(str::to_owned));
        }
        self.mailbox = match name::name(components.iter().map(String::as_str)) {
            Ok(name) => name,
            // Told as it is: with --mailbox it does not matter, and without it is no mailbox's name.
            Err(_) => components.last().cloned().unwrap_or_default(),
        };
        let (cur, new) = (dir.dir("cur")?, dir.dir("new")?);
        for (half, is_new) in [(&cur, false), (&new, true)] {
            for (name, kind) in half.entries()? {
                if name.starts_with('.') {
                    continue;
                }
                let file = if kind == Kind::File { half.file(&name).ok() } else { None };
                match file.and_then(|file| received_at(&name, &file)) {
                    Some(at) => self.files.push((at, name, is_new)),
                    None => self.passed.push(Found::Passed(half.path().join(name).display().to_string(), NO_FILE)),
                }
            }
        }
        self.files.sort_unstable_by(|one, two| two.cmp(one));
        self.halves = Some((cur, new));
        Ok(())
    }

    fn read(&self, at: Timestamp, name: &str, is_new: bool) -> io::Result<Found> {
        let Some((cur, new)) = &self.halves else { return Err(io::Error::other("no Maildir is open")) };
        let half = if is_new { new } else { cur };
        let mut raw = Vec::new();
        half.file(name)?.take(self.message_max as u64 + 1).read_to_end(&mut raw)?;
        if raw.len() > self.message_max {
            return Ok(Found::Passed(half.path().join(name).display().to_string(), TOO_LARGE));
        }
        let letter = Letter { received_at: Some(at), mail_from: None, rcpt_to: Vec::new(), raw };
        Ok(Found::Letter(Some(self.mailbox.clone()), letter))
    }
}

/// When a message was received: as its file's name says, `<seconds>.M<microseconds>P…`, else the file's own time.
fn received_at(name: &str, file: &File) -> Option<Timestamp> {
    let named = || {
        let (second, rest) = name.split_once('.')?;
        let micros = rest.strip_prefix('M').and_then(|rest| rest.split_once('P'))?.0;
        let micros = if micros.len() <= 6 { micros.parse::<u32>().ok()? } else { return None };
        let second: i64 = second.parse().ok()?;
        Timestamp::from_microsecond(second.checked_mul(1_000_000)?.checked_add(micros.into())?).ok()
    };
    named().or_else(|| {
        let at = Timestamp::try_from(file.metadata().ok()?.modified().ok()?).ok()?;
        Timestamp::from_microsecond(at.as_microsecond()).ok()
    })
}
