//! Looks through a whole store and names everything that is not as it should be: SQLite's own structures, every message,
//! every body, and what ties them together. It changes nothing, and a server may be at work on the store meanwhile.
//!
//! It goes in slices, each of one short moment of the store, so that it never keeps SQLite from tidying its log; what
//! arrives after the beginning is left to the next check. It does not repair: what is damaged is not made better by
//! guessing.

mod bodies;
mod messages;
mod structure;

use std::path::Path;

use mail::MessageId;
use rusqlite::Connection;

use crate::directory;
use crate::error::{OpenError, is_damage};
use crate::schema;

/// A store up to this size is given to SQLite's own check as a whole, however busy: it takes moments.
const WHOLE_BYTES: u64 = 1 << 30;
/// What to do when one message is damaged.
const ONE: &str = "it is not handed out; take it from a backup, or delete it";
/// What to do when the store itself is damaged.
const ALL: &str = "restore a backup, or export what can be read and import it into a new directory";

/// How far SQLite's own check goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// Over everything when the file is small, else table by table and without bodies, whose bytes are looked at anyway.
    Usual,
    /// Over everything, free pages included. As long as it runs SQLite cannot tidy its log beside it.
    Whole,
}

/// Something that is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The mailbox, where it is about one.
    pub mailbox: Option<String>,
    /// The message, where it is about one.
    pub id: Option<MessageId>,
    /// What was found.
    pub what: String,
    /// What to do.
    pub next: &'static str,
}

/// What a check tells while it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told<'a> {
    /// It begins with this; so many steps are ahead, where that is known.
    Stage(&'static str, Option<u64>),
    /// So many more steps are done.
    Step(u64),
    /// It found something.
    Fault(&'a Fault),
}

/// What was looked at, and what was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// Mailboxes.
    pub mailboxes: u64,
    /// Messages in them.
    pub messages: u64,
    /// Bodies, each once however many mailboxes share it.
    pub bodies: u64,
    /// Bytes of these, unpacked.
    pub bytes: u64,
    /// Faults.
    pub faults: u64,
    /// Whether SQLite's own check went over everything.
    pub whole: bool,
}

/// A check under way.
struct Check<'a> {
    connection: Connection,
    tell: &'a mut dyn FnMut(Told<'_>),
    found: Checked,
    /// The last position drawn when it began.
    last: i64,
}

/// Check the store in a directory.
pub fn check(path: &Path, depth: Depth, tell: &mut dyn FnMut(Told<'_>)) -> Result<Checked, OpenError> {
    let database = directory::visit(path)?;
    let connection = schema::open_reader(&database)?;
    let bytes = std::fs::metadata(&database).map_or(0, |found| found.len());
    let whole = depth == Depth::Whole || bytes <= WHOLE_BYTES;
    let found = Checked { whole, ..Checked::default() };
    let mut check = Check { connection, tell, found, last: i64::MAX };
    check.run().map_err(|source| OpenError::database(&database, source))?;
    Ok(check.found)
}

impl Check<'_> {
    fn run(&mut self) -> rusqlite::Result<()> {
        let structure = self.structure();
        self.go_on("the pages", structure)?;
        let state = self.state();
        self.go_on("the state", state)?;
        let mailboxes = self.mailboxes();
        self.go_on("the mailboxes", mailboxes)?;
        let messages = self.messages();
        self.go_on("the messages", messages)?;
        let bodies = self.bodies();
        self.go_on("the bodies", bodies)
    }

    /// Damage ends one part of the check and not the others; anything else ends it.
    fn go_on(&mut self, part: &str, done: rusqlite::Result<()>) -> rusqlite::Result<()> {
        match done {
            Err(error) if is_damage(&error) => {
                self.fault(None, None, format!("{part} cannot be walked to their end: {error}"), ALL);
                Ok(())
            }
            done => done,
        }
    }

    fn stage(&mut self, name: &'static str, steps: Option<u64>) {
        (self.tell)(Told::Stage(name, steps));
    }

    fn step(&mut self, count: usize) {
        (self.tell)(Told::Step(count as u64));
    }

    fn fault(&mut self, mailbox: Option<&str>, id: Option<i64>, what: impl Into<String>, next: &'static str) {
        let id = id.map(|id| MessageId::new(id.unsigned_abs()));
        let fault = Fault { mailbox: mailbox.map(str::to_owned), id, what: what.into(), next };
        self.found.faults += 1;
        (self.tell)(Told::Fault(&fault));
    }

    /// One number.
    fn number(&self, sql: &str) -> rusqlite::Result<i64> {
        self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
    }
}

#[cfg(test)]
mod tests;
