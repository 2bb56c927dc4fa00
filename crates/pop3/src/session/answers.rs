//! What the session asks of the mailroom, and what each answer makes of it.

use bytes::Bytes;
use mail::MessageId;
use mail::mailbox::BadName;
use mailroom::Secret;

use super::commands::BYE;
use super::maildrop::{Entry, Maildrop};
use super::{Asked, Mode, Say, Sending, Session, State, Then};
use crate::reply::{Code, Reply};
use crate::stuffing::{Part, Stuffer};

/// A question for the mailroom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Question {
    /// Is this the one, and what is in the mailbox of that name?
    SignIn {
        /// The name of a mailbox, as it was written.
        user: String,
        /// The password.
        secret: Secret,
    },
    /// This message.
    Read(Entry),
    /// May messages be deleted?
    MayDelete,
    /// Delete these, all at once.
    Delete(Vec<MessageId>),
}

/// The mailroom's answer to the question that is open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Signed in; the messages, oldest first.
    SignedIn(Vec<Entry>),
    /// Not signed in.
    Refused(Refused),
    /// A message's bytes.
    Message(Bytes),
    /// The message was there at sign-in, and is no more.
    Gone,
    /// Messages may be deleted, or may not.
    MayDelete(bool),
    /// What was marked is deleted; so many messages were still there.
    Deleted(u64),
    /// It could not be done.
    Failed(Failure),
}

/// Why somebody is not signed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Name and password do not belong together.
    Wrong,
    /// Too many have failed from there.
    TooMany,
    /// Nobody signs in here.
    Off,
    /// The name can name no mailbox.
    Name(BadName),
}

/// Why something could not be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// It is not allowed.
    Denied,
    /// Not now.
    Later,
    /// There are too many answers on their way already.
    Busy,
    /// Not until somebody sees to it.
    Lasting,
    /// Nobody knows whether it was done.
    Unknown,
}

const MARKED: Reply = Reply::ok("Marked; QUIT deletes it");
const NO_DELETE: Reply = Reply::err("Messages may not be deleted here");
const GONE: Reply = Reply::err("This message is no longer there: somebody else deleted it, or its time was over");
const WRONG: Reply = Reply::coded(Code::Auth, "The name or the password is wrong");
const TOO_MANY: Reply =
    Reply::coded(Code::SysTemp, "Too many sign-ins have failed from your address; wait a minute and try again");
const OFF: Reply = Reply::coded(Code::SysPerm, "Nobody can sign in here; whoever runs this server can change that");
const BAD_NAME: Reply = Reply::coded(Code::Auth, "");
const NO_ENTRY: Reply = Reply::coded(Code::Auth, "You may not read this mailbox");
const DENIED: Reply = Reply::err("You may not do this with this mailbox");
const LATER: Reply = Reply::coded(Code::SysTemp, "This cannot be done now; try again soon");
const BUSY: Reply = Reply::coded(Code::SysTemp, "Too much mail is being read at this moment; try again soon");
const LASTING: Reply =
    Reply::coded(Code::SysPerm, "This cannot be done; whoever runs this server finds the reason in its log");
const UNKNOWN: Reply =
    Reply::coded(Code::SysTemp, "It is not known whether the marked messages are deleted; sign in again and look");
const OUT_OF_STEP: Reply = Reply::coded(Code::SysPerm, "This server made a mistake; closing");

impl Session {
    /// The mailroom's answer to the question that is open.
    pub fn answer(&mut self, answer: Answer) -> Say {
        let Mode::Asked(asked) = std::mem::replace(&mut self.mode, Mode::Command) else {
            return Say::then(Then::Close, OUT_OF_STEP);
        };
        match (asked, answer) {
            (Asked::SignIn, Answer::SignedIn(entries)) => self.enter(entries),
            (Asked::SignIn, Answer::Refused(refused)) => self.tally(refusal(refused)),
            (Asked::SignIn, Answer::Failed(Failure::Denied)) => self.tally(NO_ENTRY),
            (Asked::Read(part), Answer::Message(raw)) => self.open(raw, part),
            (Asked::Read(_), Answer::Gone) => Say::then(Then::GoOn, GONE),
            (Asked::Delete(message), Answer::MayDelete(true)) => self.mark(message),
            (Asked::Delete(_), Answer::MayDelete(false)) => self.tally(NO_DELETE),
            (Asked::Update, Answer::Deleted(count)) => Say::then(Then::Close, bye(count)),
            (Asked::Update, Answer::Failed(Failure::Unknown)) => Say::then(Then::Close, UNKNOWN),
            (Asked::Update, Answer::Failed(failure)) => Say::then(Then::Close, failed(failure)),
            (_, Answer::Failed(failure)) => Say::then(Then::GoOn, failed(failure)),
            _ => Say::then(Then::Close, OUT_OF_STEP),
        }
    }

    fn enter(&mut self, entries: Vec<Entry>) -> Say {
        let maildrop = Maildrop::new(entries);
        let reply = left("Welcome; ", maildrop.totals());
        self.state = State::Transaction(maildrop);
        Say::then(Then::GoOn, reply)
    }

    fn open(&mut self, raw: Bytes, part: Part) -> Say {
        let text = match part {
            Part::Whole => format!("{} octets", raw.len()),
            Part::Top(_) => "The top of it".to_owned(),
        };
        self.mode = Mode::Sending(Sending::Message(Stuffer::new(raw, part)));
        Say::then(Then::GoOn, Reply::ok("").saying(text))
    }

    fn mark(&mut self, message: usize) -> Say {
        if let State::Transaction(maildrop) = &mut self.state {
            maildrop.mark(message);
        }
        Say::then(Then::GoOn, MARKED)
    }
}

/// How many messages there are, and their octets.
pub(super) fn left(before: &str, (messages, octets): (usize, u64)) -> Reply {
    let noun = if messages == 1 { "message" } else { "messages" };
    Reply::ok("").saying(format!("{before}{messages} {noun} ({octets} octets)"))
}

fn bye(count: u64) -> Reply {
    let noun = if count == 1 { "message" } else { "messages" };
    BYE.saying(format!("Bye; {count} {noun} deleted"))
}

fn refusal(refused: Refused) -> Reply {
    match refused {
        Refused::Wrong => WRONG,
        Refused::TooMany => TOO_MANY,
        Refused::Off => OFF,
        Refused::Name(bad) => BAD_NAME.saying(bad.to_string()),
    }
}

fn failed(failure: Failure) -> Reply {
    match failure {
        Failure::Denied => DENIED,
        Failure::Later | Failure::Unknown => LATER,
        Failure::Busy => BUSY,
        Failure::Lasting => LASTING,
    }
}
