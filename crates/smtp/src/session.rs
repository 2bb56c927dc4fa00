//! One SMTP session as a pure machine: bytes in, steps out. Time and ids come as arguments; there is no socket here, no
//! clock, no randomness and nothing to wait for.
//!
//! The server calls [`Session::step`] with what was read until it says [`Step::Read`]. A [`Question`] is put to the
//! mailroom and its answer fed back by [`Session::answer`].

mod auth;
mod commands;
mod content;
mod intake;
mod transaction;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use mail::{Address, Envelope, Mailbox, ReversePath, TransactionId};
use mailroom::{Parcel, Refusal, Secret, SignInError, Stage, Verdict};
use net::Secured;
use net::line::{self, Line, Rest};

use crate::command::{self, Then};
use crate::data::Unstuffer;
use crate::reply::{Enhanced, Reply};
use crate::settings::Settings;
use auth::{AUTH_LINE_MAX, Exchange};
use transaction::Transaction;

/// Of a line that is too long so many times its limit is swallowed, for one reply; beyond that the connection ends.
const LONG_LINES_MAX: usize = 512;

const TOO_LONG: Reply = Reply::new(500, (5, 5, 2), "The line is too long");
const BARE_COMMAND: Reply = Reply::new(500, (5, 5, 2), "A line ends in CRLF, and holds no other CR or LF; closing");
const HTTP: Reply = Reply::new(554, (5, 5, 1), "This is SMTP and not HTTP; closing");
const PROXY: Reply =
    Reply::new(554, (5, 7, 1), "The PROXY protocol is taken from the networks of smtp.proxy_from only; closing");
const TOO_MANY_ERRORS: Reply = Reply::new(421, (4, 7, 0), "Too many errors; closing");
const TOO_MANY_COMMANDS: Reply = Reply::new(421, (4, 7, 0), "Too many commands without mail; closing");

/// A session with one client.
#[derive(Debug)]
pub struct Session {
    settings: Arc<Settings>,
    link: Link,
    hello: Option<Hello>,
    /// Who signed in.
    user: Option<String>,
    transaction: Option<Box<Transaction>>,
    mode: Mode,
    errors: u32,
    idle_commands: u32,
    /// Whether a first command has come.
    spoken: bool,
}

/// How the client is connected.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Link {
    /// Which of the two languages is spoken.
    pub dialect: Dialect,
    /// The client's address; none for a Unix socket.
    pub peer: Option<IpAddr>,
    /// What the handshake agreed on, under TLS.
    pub secured: Option<Secured>,
    /// Whether there is a certificate to begin TLS with.
    pub has_certificate: bool,
}

/// SMTP, or its sibling for the last step to a mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// RFC 5321.
    #[default]
    Smtp,
    /// RFC 2033: a reply for each recipient.
    Lmtp,
}

/// Who the client says it is.
#[derive(Debug)]
struct Hello {
    name: String,
    enhanced: Enhanced,
}

/// What the next bytes are.
#[derive(Debug)]
enum Mode {
    /// A command line.
    Command,
    /// The rest of a line that was too long, of which so much was swallowed.
    LongLine(usize),
    /// The content of DATA.
    Data(Unstuffer),
    /// A chunk of BDAT.
    Chunk(Chunk),
    /// A line of the exchange that AUTH began.
    Auth(Exchange),
    /// Nobody's yet: a question is open.
    Asked(Asked),
}

#[derive(Debug)]
struct Chunk {
    left: u64,
    last: bool,
    /// The chunk is swallowed, and this said behind it.
    refused: Option<Reply>,
}

/// The question that is open, with what its answer needs.
#[derive(Debug)]
enum Asked {
    Sender { path: ReversePath, announced: Option<u64>, utf8: bool },
    Recipient(Address),
    Deliver(Arc<Envelope>),
    SignIn(String),
}

/// What the session wants next.
#[derive(Debug)]
pub enum Step<'s> {
    /// More input, when what is left of the present one has been stepped through.
    Read(Want),
    /// Something said.
    Say(Say),
    /// A question answered.
    Ask(Question<'s>),
}

/// What kind of input is wanted: it decides deadlines and the size of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Want {
    /// A command line.
    Command,
    /// Content of a message.
    Content,
}

/// A reply, how it is told, and what follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Say {
    /// None: nothing is said, only closed.
    pub reply: Option<Reply>,
    /// How often it is said: LMTP has one for each recipient.
    pub times: usize,
    /// Wait so long first.
    pub delay: Option<Duration>,
    /// Whether the session goes on.
    pub then: Then,
    /// What the mailroom is to remember of it.
    pub refusal: Option<Box<Refusal>>,
}

/// A question for the mailroom.
#[derive(Debug)]
pub enum Question<'s> {
    /// This sender, of a client that calls itself so?
    Sender(Option<&'s str>, &'s ReversePath),
    /// This recipient, in a transaction that has come so far?
    Recipient(Option<&'s str>, &'s Envelope, &'s Address),
    /// Deliver?
    Deliver(Parcel),
    /// Do this name and this password belong together?
    SignIn(String, Secret),
}

/// The mailroom's answer to the question that is open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// About a sender, with the id of the transaction that begins.
    Sender(Verdict, TransactionId),
    /// About a recipient, with where it leads.
    Recipient(Verdict, Option<Mailbox>),
    /// The message is kept, or was discarded; and how long that is held back.
    Delivered(Option<Duration>),
    /// The message is kept nowhere, and this is to be said of it.
    Refused(Verdict),
    /// They do.
    SignedIn,
    /// They do not, or it is not told.
    NotSignedIn(SignInError),
    /// Nobody knows whether the message is kept, so neither reply would be true and none is given.
    Unknown,
}

impl Say {
    fn now(reply: Reply, then: Then) -> Self {
        Self { reply: Some(reply), times: 1, delay: None, then, refusal: None }
    }

    fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    fn noting(self, refusal: Box<Refusal>) -> Self {
        Self { refusal: Some(refusal), ..self }
    }
}

impl Session {
    /// A session with a client that is connected so.
    pub fn new(settings: Arc<Settings>, link: Link) -> Self {
        Self {
            settings,
            link,
            hello: None,
            user: None,
            transaction: None,
            mode: Mode::Command,
            errors: 0,
            idle_commands: 0,
            spoken: false,
        }
    }

    /// The first line of the server (RFC 5321 §3.1).
    pub fn greeting(&self) -> Reply {
        let language = match self.link.dialect {
            Dialect::Smtp => "ESMTP",
            Dialect::Lmtp => "LMTP",
        };
        let text = format!("{} Postkeep {language} ready", self.settings.hostname);
        Reply { code: 220, enhanced: None, text: text.into() }
    }

    /// The handshake is done. What was said before it may have been anybody's: the session is new (T004).
    pub fn secured(&mut self, secured: Secured) {
        (self.hello, self.user, self.transaction) = (None, None, None);
        self.link.secured = Some(secured);
    }

    /// Whether replies carry enhanced codes.
    pub fn enhanced(&self) -> Enhanced {
        self.hello.as_ref().map_or(Enhanced::Hidden, |hello| hello.enhanced)
    }

    /// Whether a message is on its way: such a session is let finish when the program stops.
    pub fn in_transaction(&self) -> bool {
        self.transaction.is_some() || matches!(self.mode, Mode::Asked(_))
    }

    /// Memory that the unfinished message takes.
    pub fn held(&self) -> usize {
        self.transaction.as_ref().and_then(|transaction| transaction.intake.as_ref()).map_or(0, |intake| intake.room())
    }

    /// How many octets of content are read in a second, where that is not as many as come.
    pub fn slow(&self) -> Option<u64> {
        self.transaction.as_ref().and_then(|transaction| transaction.slow)
    }

    /// There is no room for the unfinished message: the rest of it is read and dropped, and the client told so.
    pub fn no_room(&mut self) {
        if let Some(intake) = self.transaction.as_mut().and_then(|transaction| transaction.intake.as_mut()) {
            intake.no_room();
        }
    }

    /// Go on with what was read: how much of it is used up, and what comes next.
    pub fn step(&mut self, input: &[u8], now: Timestamp) -> (usize, Step<'_>) {
        match self.mode {
            Mode::Command => self.line(input, now),
            Mode::LongLine(_) => self.long_line(input),
            Mode::Data(_) => self.data(input, now),
            Mode::Chunk(_) => self.chunk(input, now),
            Mode::Auth(_) => self.exchange(input),
            // An open question takes no input; the server answers before it steps on.
            Mode::Asked(_) => (0, Step::Read(Want::Command)),
        }
    }

    fn line(&mut self, input: &[u8], now: Timestamp) -> (usize, Step<'_>) {
        let longest = if command::may_be_long(input) { AUTH_LINE_MAX } else { 0 };
        match line::line(input, self.settings.line_max.max(longest)) {
            Line::Partial => (0, Step::Read(Want::Command)),
            Line::Whole(text) => (text.len() + 2, self.command(text, now)),
            Line::BareNewline => (input.len(), Step::Say(Say::now(BARE_COMMAND, Then::Close))),
            Line::TooLong => {
                self.mode = Mode::LongLine(0);
                (0, self.error(TOO_LONG))
            }
        }
    }

    fn long_line(&mut self, input: &[u8]) -> (usize, Step<'_>) {
        let swallowed = match self.mode {
            Mode::LongLine(swallowed) => swallowed,
            _ => 0,
        };
        match line::rest(input) {
            Rest::Ends(used) => {
                self.mode = Mode::Command;
                (used, Step::Read(Want::Command))
            }
            Rest::GoesOn(used) if swallowed + used <= LONG_LINES_MAX * self.settings.line_max => {
                self.mode = Mode::LongLine(swallowed + used);
                (used, Step::Read(Want::Command))
            }
            Rest::GoesOn(_) => (input.len(), Step::Say(Say::now(TOO_MANY_ERRORS, Then::Close))),
            Rest::BareNewline => (input.len(), Step::Say(Say::now(BARE_COMMAND, Then::Close))),
        }
    }

    fn command(&mut self, text: &[u8], now: Timestamp) -> Step<'_> {
        let first = !std::mem::replace(&mut self.spoken, true);
        if first && command::is_http(text) {
            return Step::Say(Say::now(HTTP, Then::Close));
        }
        if first && command::is_proxy(text) {
            return Step::Say(Say::now(PROXY, Then::Close));
        }
        match command::parse(text) {
            Ok(command) => self.obey(command, now),
            Err(bad) => self.malformed(bad, now),
        }
    }

    fn malformed(&mut self, bad: command::Bad, now: Timestamp) -> Step<'_> {
        let refusal = bad.stage.map(|stage| self.refusal(stage, None, &bad.reply, now));
        let mut say = self.tally(bad.reply);
        say.refusal = refusal;
        if bad.then == Then::Close {
            say.then = Then::Close;
        }
        Step::Say(say)
    }

    /// Say something good.
    fn ok(&self, reply: Reply) -> Step<'_> {
        Step::Say(Say::now(reply, Then::GoOn))
    }

    /// Say that something was wrong, or that it was wrong once too often.
    fn error(&mut self, reply: Reply) -> Step<'_> {
        Step::Say(self.tally(reply))
    }

    /// Only what is for good counts as the client's error; "try later" is not its fault.
    fn tally(&mut self, reply: Reply) -> Say {
        self.errors += u32::from(reply.code >= 500);
        if self.errors > self.settings.errors_max {
            return Say::now(TOO_MANY_ERRORS, Then::Close);
        }
        Say::now(reply, Then::GoOn)
    }

    /// A command that brings no mail.
    fn idle(&mut self, reply: Reply) -> Step<'_> {
        self.idle_commands += 1;
        if self.idle_commands > self.settings.idle_commands_max {
            return Step::Say(Say::now(TOO_MANY_COMMANDS, Then::Close));
        }
        self.ok(reply)
    }

    /// What the client calls itself.
    pub fn client_name(&self) -> Option<&str> {
        self.hello.as_ref().map(|hello| hello.name.as_str())
    }

    /// What the mailroom is to remember of a refusal: the open transaction, and the recipient it was about.
    fn refusal(
        &self,
        stage: Stage,
        refused: Option<(&Address, Option<&Mailbox>)>,
        reply: &Reply,
        now: Timestamp,
    ) -> Box<Refusal> {
        let envelope = self.transaction.as_ref().map(|transaction| &transaction.envelope);
        let recipients = envelope.map_or(&[][..], |envelope| &envelope.recipients);
        transaction::refusal(now, stage, envelope.map(|envelope| &envelope.reverse_path), recipients, refused, reply)
    }
}

#[cfg(test)]
mod tests;
