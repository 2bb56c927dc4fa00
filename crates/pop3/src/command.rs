//! Command lines read into values: the tree of this file is the grammar of RFC 1939 and its extensions.
//!
//! Numbers are digits and nothing else (T088): no sign, no second blank, nothing that does not fit.

use mailroom::Secret;

use crate::reply::{Code, Reply};

/// A command as it was understood.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is the RFC's own word")]
pub enum Command {
    Capa,
    User(String),
    Pass(Secret),
    Stls,
    Utf8,
    Stat,
    List(Option<usize>),
    Uidl(Option<usize>),
    Retr(usize),
    Top { message: usize, lines: u64 },
    Dele(usize),
    Rset,
    Noop,
    Quit,
}

const UNKNOWN: Reply = Reply::err("This is not a command; CAPA lists what is offered");
const NO_ARGUMENT: Reply = Reply::err("This command takes no argument");
const NO_AUTH: Reply = Reply::err("AUTH is not offered here; sign in with USER and PASS");
const NO_APOP: Reply = Reply::err("APOP is not offered here; sign in with USER and PASS");
const SAY_USER: Reply = Reply::err("Write it as USER and the name of a mailbox");
const SAY_PASS: Reply = Reply::err("Write it as PASS and the password");
const BAD_USER: Reply = Reply::coded(Code::Auth, "A name is UTF-8 and holds no control character");
const SAY_MESSAGE: Reply = Reply::err("Write one blank and the number of a message behind it, as LIST shows them");
const SAY_TOP: Reply = Reply::err("Write it as TOP, the number of a message and a number of lines");

/// Read a line, which holds neither CR nor LF.
pub fn parse(line: &[u8]) -> Result<Command, Reply> {
    let (verb, rest) = match memchr::memchr(b' ', line) {
        Some(blank) => (&line[..blank], Some(&line[blank + 1..])),
        None => (line, None),
    };
    // A blank at the end is tolerated, but in a password, where it may be meant.
    let argument = rest.map(<[u8]>::trim_ascii_end).filter(|text| !text.is_empty());
    let bare = |command| if argument.is_none() { Ok(command) } else { Err(NO_ARGUMENT) };
    match uppercase(verb, &mut [0; VERB_LENGTH]) {
        b"RETR" => message(argument).map(Command::Retr),
        b"DELE" => message(argument).map(Command::Dele),
        b"TOP" => top(argument),
        b"LIST" => argument.map(|text| message(Some(text))).transpose().map(Command::List),
        b"UIDL" => argument.map(|text| message(Some(text))).transpose().map(Command::Uidl),
        b"USER" => user(argument),
        b"PASS" => pass(rest),
        b"STAT" => bare(Command::Stat),
        b"NOOP" => bare(Command::Noop),
        b"RSET" => bare(Command::Rset),
        b"QUIT" => bare(Command::Quit),
        b"CAPA" => bare(Command::Capa),
        b"STLS" => bare(Command::Stls),
        b"UTF8" => bare(Command::Utf8),
        b"AUTH" => Err(NO_AUTH),
        b"APOP" => Err(NO_APOP),
        _ => Err(UNKNOWN),
    }
}

/// No word that is known here is longer.
const VERB_LENGTH: usize = 4;

/// The word in upper case, written into `room`; nothing when it is longer than any that is known.
fn uppercase<'a>(word: &[u8], room: &'a mut [u8; VERB_LENGTH]) -> &'a [u8] {
    let Some(room) = room.get_mut(..word.len()) else { return b"" };
    room.copy_from_slice(word);
    room.make_ascii_uppercase();
    room
}

fn user(argument: Option<&[u8]>) -> Result<Command, Reply> {
    let name = std::str::from_utf8(argument.ok_or(SAY_USER)?).map_err(|_| BAD_USER)?;
    if name.contains(char::is_control) { Err(BAD_USER) } else { Ok(Command::User(name.to_owned())) }
}

/// The rest of the line is the password, blanks and all (RFC 1939 §7).
fn pass(rest: Option<&[u8]>) -> Result<Command, Reply> {
    rest.map(|secret| Command::Pass(secret.to_vec().into())).ok_or(SAY_PASS)
}

fn message(argument: Option<&[u8]>) -> Result<usize, Reply> {
    argument.and_then(digits).and_then(|number| number.try_into().ok()).ok_or(SAY_MESSAGE)
}

fn top(argument: Option<&[u8]>) -> Result<Command, Reply> {
    let argument = argument.ok_or(SAY_TOP)?;
    let blank = memchr::memchr(b' ', argument).ok_or(SAY_TOP)?;
    let message = message(Some(&argument[..blank])).map_err(|_| SAY_TOP)?;
    let lines = digits(&argument[blank + 1..]).ok_or(SAY_TOP)?;
    Ok(Command::Top { message, lines })
}

/// A number of digits only: no sign, no blank, no overflow.
fn digits(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(text).ok()?.parse().ok())?
}

/// Who speaks another protocol, by the first line that it sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stranger {
    /// A browser that was led here (T020).
    Http,
    /// A load balancer that is not expected here, or not from its address (T019).
    Proxy,
}

/// Whether a first line is of another protocol.
pub(crate) fn stranger(line: &[u8]) -> Option<Stranger> {
    const METHODS: [&[u8]; 9] =
        [b"GET", b"POST", b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"CONNECT", b"TRACE", b"PATCH"];
    match line.split(|byte| *byte == b' ').next().unwrap_or_default() {
        b"PROXY" => Some(Stranger::Proxy),
        verb if METHODS.contains(&verb) => Some(Stranger::Http),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
