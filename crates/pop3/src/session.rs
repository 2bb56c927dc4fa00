//! One POP3 session as a pure machine: bytes in, steps out (RFC 1939). There is no socket here, no clock and nothing to
//! wait for.
//!
//! The server calls [`Session::step`] with what was read until it says [`Step::Read`]. A [`Question`] is put to the
//! mailroom and its answer fed back by [`Session::answer`]; an answer of many lines is fetched piece by piece with
//! [`Session::write`].

mod answers;
mod commands;
mod maildrop;

use std::net::IpAddr;
use std::sync::Arc;

use net::line::{self, Line, Rest};

use crate::command::{self, Stranger};
use crate::reply::Reply;
use crate::settings::Settings;
use crate::stuffing::{Part, Progress, Stuffer};

pub use answers::{Answer, Failure, Question, Refused};
pub use maildrop::{Entry, HELD_BYTES};
use maildrop::{Maildrop, Scan};

/// Of a line that is too long so many times its limit is swallowed, for one reply; beyond that the connection ends.
const LONG_LINES_MAX: usize = 512;
/// How a TLS handshake begins (RFC 8446 §5.1); no command does.
const HANDSHAKE: u8 = 0x16;

const TOO_LONG: Reply = Reply::err("The line is too long");
const BARE_NEWLINE: Reply = Reply::err("A line ends in CRLF, and holds no other CR or LF; closing");
const HTTP: Reply = Reply::err("This is POP3 and not HTTP; closing");
const PROXY: Reply = Reply::err("A PROXY header is not expected from this address, see pop3.proxy_from; closing");
const NO_TLS_YET: Reply = Reply::err("This port begins without TLS; say STLS first, or use the port for TLS; closing");
const TOO_MANY_ERRORS: Reply = Reply::err("Too many errors; closing");

/// A session with one client.
#[derive(Debug)]
pub struct Session {
    settings: Arc<Settings>,
    link: Link,
    state: State,
    mode: Mode,
    errors: u32,
    /// Whether a first byte has come.
    spoken: bool,
}

/// How the client is connected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// Its address; none for a Unix socket.
    pub peer: Option<IpAddr>,
    /// What keeps others from listening.
    pub cover: Cover,
}

/// What keeps others from listening.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cover {
    /// TLS.
    Tls,
    /// Nothing yet, but STLS can be had.
    Offered,
    /// Nothing.
    None,
}

/// How far the session has come (RFC 1939 §3). UPDATE is the open question that QUIT asks.
#[derive(Debug)]
enum State {
    /// Nobody has signed in; perhaps a name was said.
    Authorization(Option<String>),
    /// Somebody has.
    Transaction(Maildrop),
}

/// What comes next.
#[derive(Debug)]
enum Mode {
    /// A command line.
    Command,
    /// The rest of a line that was too long, of which so much was swallowed.
    LongLine(usize),
    /// An answer: a question is open.
    Asked(Asked),
    /// More of an answer of many lines.
    Sending(Sending),
}

/// The question that is open, with what its answer needs.
#[derive(Clone, Copy, Debug)]
enum Asked {
    SignIn,
    Delete(usize),
    Read(Part),
    Update,
}

#[derive(Debug)]
enum Sending {
    Scan(Scan),
    Message(Stuffer),
}

/// What the session wants next.
#[derive(Debug)]
pub enum Step {
    /// More input, when what is left of the present one has been stepped through.
    Read,
    /// Something said.
    Say(Say),
    /// A question answered.
    Ask(Question),
    /// A piece of an answer fetched with [`Session::write`] and sent.
    Send,
}

/// A reply, and what follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Say {
    /// What is said.
    pub reply: Reply,
    /// What follows.
    pub then: Then,
}

/// What follows a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// The session goes on.
    GoOn,
    /// A TLS handshake, and a new session behind it.
    Secure,
    /// Nothing: the connection ends.
    Close,
}

impl Say {
    fn then(then: Then, reply: Reply) -> Self {
        Self { reply, then }
    }
}

impl Session {
    /// A session with a client that is connected so.
    pub fn new(settings: Arc<Settings>, link: Link) -> Self {
        let state = State::Authorization(None);
        Self { settings, link, state, mode: Mode::Command, errors: 0, spoken: false }
    }

    /// The first line of the server. It holds no `<`, so that no client takes it for an offer of APOP.
    pub fn greeting(&self) -> Reply {
        Reply::ok("").saying(format!("{} Postkeep POP3 ready", self.settings.hostname))
    }

    /// Whether an answer of many lines is being sent.
    pub fn is_sending(&self) -> bool {
        matches!(self.mode, Mode::Sending(_))
    }

    /// Go on with what was read: how much of it is used up, and what comes next.
    pub fn step(&mut self, input: &[u8]) -> (usize, Step) {
        match self.mode {
            Mode::Command => self.line(input),
            Mode::LongLine(swallowed) => self.long_line(input, swallowed),
            Mode::Sending(_) => (0, Step::Send),
            // An open question takes no input; the server answers before it steps on.
            Mode::Asked(_) => (0, Step::Read),
        }
    }

    /// Append the next piece of the answer under way, made of about `room` bytes.
    pub fn write(&mut self, out: &mut Vec<u8>, room: usize) {
        let progress = match (&mut self.mode, &self.state) {
            (Mode::Sending(Sending::Message(stuffer)), _) => stuffer.write(out, room),
            (Mode::Sending(Sending::Scan(scan)), State::Transaction(maildrop)) => scan.write(maildrop, out, room),
            _ => return,
        };
        if progress == Progress::Done {
            self.mode = Mode::Command;
        }
    }

    fn line(&mut self, input: &[u8]) -> (usize, Step) {
        if !self.spoken && input.first() == Some(&HANDSHAKE) {
            return (input.len(), close(NO_TLS_YET));
        }
        match line::line(input, self.settings.line_max) {
            Line::Partial => (0, Step::Read),
            Line::Whole(text) => {
                let used = text.len() + 2;
                (used, self.command(text, &input[used..]))
            }
            Line::BareNewline => (input.len(), close(BARE_NEWLINE)),
            Line::TooLong => {
                self.mode = Mode::LongLine(0);
                (0, self.error(TOO_LONG))
            }
        }
    }

    fn long_line(&mut self, input: &[u8], swallowed: usize) -> (usize, Step) {
        match line::rest(input) {
            Rest::Ends(used) => {
                self.mode = Mode::Command;
                (used, Step::Read)
            }
            Rest::GoesOn(used) if swallowed + used <= LONG_LINES_MAX * self.settings.line_max => {
                self.mode = Mode::LongLine(swallowed + used);
                (used, Step::Read)
            }
            Rest::GoesOn(_) => (input.len(), close(TOO_MANY_ERRORS)),
            Rest::BareNewline => (input.len(), close(BARE_NEWLINE)),
        }
    }

    /// A line, and what was read behind it.
    fn command(&mut self, text: &[u8], behind: &[u8]) -> Step {
        let first = !std::mem::replace(&mut self.spoken, true);
        match command::stranger(text).filter(|_| first) {
            Some(Stranger::Http) => return close(HTTP),
            Some(Stranger::Proxy) => return close(PROXY),
            None => {}
        }
        match command::parse(text) {
            Ok(command) => self.obey(command, behind),
            Err(reply) => self.error(reply),
        }
    }

    /// Say something good.
    fn ok(&self, reply: Reply) -> Step {
        Step::Say(Say::then(Then::GoOn, reply))
    }

    /// Say that something was wrong, or that it was wrong once too often.
    fn error(&mut self, reply: Reply) -> Step {
        Step::Say(self.tally(reply))
    }

    /// Count an error of the client.
    fn tally(&mut self, reply: Reply) -> Say {
        self.errors += 1;
        if self.errors > self.settings.errors_max {
            return Say::then(Then::Close, TOO_MANY_ERRORS);
        }
        Say::then(Then::GoOn, reply)
    }
}

fn close(reply: Reply) -> Step {
    Step::Say(Say::then(Then::Close, reply))
}

#[cfg(test)]
mod tests;
