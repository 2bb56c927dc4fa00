//! What each command does.

use mailroom::Secret;

use super::answers::{Question, left};
use super::maildrop::{Column, Entry, Maildrop, NoMessage, Scan};
use super::{Asked, Cover, Mode, Say, Sending, Session, State, Step, Then, close};
use crate::command::Command;
use crate::reply::Reply;
use crate::settings::TlsUse;
use crate::stuffing::Part;

const OK: Reply = Reply::ok("");
pub(super) const BYE: Reply = Reply::ok("Bye");
const GO_ON: Reply = Reply::ok("Now the password");
const BEGIN_TLS: Reply = Reply::ok("Begin TLS now");
const UTF8_ON: Reply = Reply::ok("UTF-8 is taken and sent");
const CAPABILITIES: Reply = Reply::ok("This is offered");
const SIGN_IN_FIRST: Reply = Reply::err("Sign in first: USER, then PASS");
const USER_FIRST: Reply = Reply::err("Say USER first");
const SIGNED_IN: Reply = Reply::err("You are signed in; this comes before that");
const NO_STLS: Reply = Reply::err("TLS is not offered here");
const HAS_TLS: Reply = Reply::err("TLS is on already");
const BEHIND_STLS: Reply = Reply::err("Something was sent behind STLS without waiting for the reply; closing");
const TLS_REQUIRED: Reply = Reply::err("Nobody signs in without TLS here: say STLS first, or use the port for TLS");
const STLS_FIRST: Reply = Reply::err("A password may not cross this network in the clear: say STLS first");
const NO_PLAINTEXT: Reply = Reply::err(
    "A password may not cross this network in the clear: connect with TLS, or have pop3.auth_plaintext changed",
);
const UNKNOWN_MESSAGE: Reply = Reply::err("There is no message of this number; LIST shows those there are");
const MARKED: Reply = Reply::err("This message is marked deleted; RSET takes all marks away");

impl Session {
    pub(super) fn obey(&mut self, command: Command, behind: &[u8]) -> Step {
        match command {
            Command::Capa => self.ok(self.capabilities()),
            Command::Quit => self.quit(),
            Command::User(name) => self.user(name),
            Command::Pass(secret) => self.pass(secret),
            Command::Stls => self.stls(behind),
            Command::Utf8 => self.utf8(),
            Command::Stat => self.with_maildrop(|maildrop| Ok(stat(maildrop))),
            Command::List(message) => self.list(message, Column::Size),
            Command::Uidl(message) => self.list(message, Column::Id),
            Command::Retr(message) => self.read(message, Part::Whole),
            Command::Top { message, lines } => self.read(message, Part::Top(lines)),
            Command::Dele(message) => self.dele(message),
            Command::Noop => self.with_maildrop(|_| Ok(OK)),
            Command::Rset => self.with_maildrop(|maildrop| {
                maildrop.unmark_all();
                Ok(left("", maildrop.totals()))
            }),
        }
    }

    /// What can be used now (RFC 2449). UTF8 is announced with USER: names and passwords are UTF-8 as well (RFC 6856).
    fn capabilities(&self) -> Reply {
        let mut lines = vec!["TOP", "UIDL", "RESP-CODES", "AUTH-RESP-CODE", "PIPELINING", "UTF8 USER"];
        if self.unprotected().is_none() {
            lines.push("USER");
        }
        if self.link.cover == Cover::Offered && matches!(self.state, State::Authorization(_)) {
            lines.push("STLS");
        }
        lines.push("IMPLEMENTATION Postkeep");
        Reply { lines, ..CAPABILITIES }
    }

    /// Why nobody may sign in over this connection as it is, and what to do about it.
    fn unprotected(&self) -> Option<Reply> {
        match self.link.cover {
            Cover::Tls => None,
            // Nobody listens on a Unix socket.
            _ if self.settings.tls == TlsUse::Require && self.link.peer.is_some() => Some(TLS_REQUIRED),
            _ if self.settings.auth_plaintext.allows(self.link.peer) => None,
            Cover::Offered => Some(STLS_FIRST),
            Cover::None => Some(NO_PLAINTEXT),
        }
    }

    /// Every name is taken until the password has come: who guesses learns nothing.
    fn user(&mut self, name: String) -> Step {
        if let Some(reply) = self.unprotected() {
            return self.error(reply);
        }
        match &mut self.state {
            State::Transaction(_) => self.error(SIGNED_IN),
            State::Authorization(user) => {
                *user = Some(name);
                self.ok(GO_ON)
            }
        }
    }

    fn pass(&mut self, secret: Secret) -> Step {
        if let Some(reply) = self.unprotected() {
            return self.error(reply);
        }
        match &mut self.state {
            State::Transaction(_) => self.error(SIGNED_IN),
            State::Authorization(user) => match user.take() {
                None => self.error(USER_FIRST),
                Some(user) => self.ask(Asked::SignIn, Question::SignIn { user, secret }),
            },
        }
    }

    /// What was sent behind STLS came in the clear and is nobody's: it must not be read once TLS is on (T003, T087).
    fn stls(&mut self, behind: &[u8]) -> Step {
        match (&self.state, self.link.cover) {
            (State::Transaction(_), _) => self.error(SIGNED_IN),
            (_, Cover::Tls) => self.error(HAS_TLS),
            (_, Cover::None) => self.error(NO_STLS),
            _ if !behind.is_empty() => close(BEHIND_STLS),
            _ => Step::Say(Say::then(Then::Secure, BEGIN_TLS)),
        }
    }

    /// Messages leave as they were stored, with this and without: a mail that is hidden helps nobody who tests.
    fn utf8(&mut self) -> Step {
        match self.state {
            State::Transaction(_) => self.error(SIGNED_IN),
            State::Authorization(_) => self.ok(UTF8_ON),
        }
    }

    fn list(&mut self, message: Option<usize>, column: Column) -> Step {
        let said = self.with_maildrop(|maildrop| match message {
            Some(message) => maildrop.entry(message).map(|entry| line(column, message, entry)),
            None => Ok(left("", maildrop.totals())),
        });
        if message.is_none() && matches!(self.state, State::Transaction(_)) {
            self.mode = Mode::Sending(Sending::Scan(Scan::new(column)));
        }
        said
    }

    fn read(&mut self, message: usize, part: Part) -> Step {
        match self.entry(message) {
            Ok(entry) => self.ask(Asked::Read(part), Question::Read(entry)),
            Err(reply) => self.error(reply),
        }
    }

    fn dele(&mut self, message: usize) -> Step {
        match self.entry(message) {
            Ok(_) => self.ask(Asked::Delete(message), Question::MayDelete),
            Err(reply) => self.error(reply),
        }
    }

    /// The end. Only here, and only with something marked, is anything deleted: all of it at once (T090).
    fn quit(&mut self) -> Step {
        let marked = match &self.state {
            State::Authorization(_) => Vec::new(),
            State::Transaction(maildrop) => maildrop.marked(),
        };
        if marked.is_empty() { close(BYE) } else { self.ask(Asked::Update, Question::Delete(marked)) }
    }

    fn ask(&mut self, asked: Asked, question: Question) -> Step {
        self.mode = Mode::Asked(asked);
        Step::Ask(question)
    }

    fn entry(&self, message: usize) -> Result<Entry, Reply> {
        match &self.state {
            State::Authorization(_) => Err(SIGN_IN_FIRST),
            State::Transaction(maildrop) => maildrop.entry(message).map_err(told),
        }
    }

    fn with_maildrop(&mut self, what: impl FnOnce(&mut Maildrop) -> Result<Reply, NoMessage>) -> Step {
        let said = match &mut self.state {
            State::Authorization(_) => Err(SIGN_IN_FIRST),
            State::Transaction(maildrop) => what(maildrop).map_err(told),
        };
        match said {
            Ok(reply) => self.ok(reply),
            Err(reply) => self.error(reply),
        }
    }
}

fn told(none: NoMessage) -> Reply {
    match none {
        NoMessage::Unknown => UNKNOWN_MESSAGE,
        NoMessage::Marked => MARKED,
    }
}

fn stat(maildrop: &Maildrop) -> Reply {
    let (messages, octets) = maildrop.totals();
    OK.saying(format!("{messages} {octets}"))
}

fn line(column: Column, message: usize, entry: Entry) -> Reply {
    let mut text = Vec::new();
    column.write(message, entry, &mut text);
    OK.saying(String::from_utf8_lossy(&text).into_owned())
}
