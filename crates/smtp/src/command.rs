//! Command lines read into values: the tree of this file is the grammar of RFC 5321 §4.1.1 and its extensions.

use mail::address::{BadAddress, Charset, Path};
use mailroom::{Secret, Stage};

use crate::reply::Reply;

/// A command as it was understood.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is the RFC's own word")]
pub enum Command {
    Ehlo(String),
    Helo(String),
    Lhlo(String),
    StartTls,
    Auth { mechanism: Mechanism, initial: Option<Secret> },
    Mail { path: Path, parameters: MailParameters },
    Rcpt { path: Path },
    Data,
    Bdat { octets: u64, last: bool },
    Rset,
    Noop,
    Vrfy,
    Help,
    Quit,
}

/// The mechanisms of AUTH that are offered (RFC 4954, RFC 4616).
///
/// CRAM-MD5 is not: it needs the password itself on the server, where a hash should lie, and cannot be used when any
/// password is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is its registered name")]
pub enum Mechanism {
    Plain,
    Login,
}

/// The parameters of MAIL that are offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MailParameters {
    /// SIZE (RFC 1870).
    pub size: Option<u64>,
    /// SMTPUTF8 (RFC 6531).
    pub utf8: bool,
}

/// A line that is no command to obey.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bad {
    /// What to say.
    pub reply: Reply,
    /// Whether what follows can still be told apart from commands; after a BDAT of unknown size it cannot.
    pub then: Then,
    /// The command that carries a message, when it was one.
    pub stage: Option<Stage>,
}

/// What follows a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// The next command.
    GoOn,
    /// The handshake: what follows is under TLS.
    Secure,
    /// Nothing: the connection ends.
    Close,
}

impl From<Reply> for Bad {
    fn from(reply: Reply) -> Self {
        Self { reply, then: Then::GoOn, stage: None }
    }
}

impl Bad {
    fn at(stage: Stage) -> impl FnOnce(Reply) -> Self {
        move |reply| Self { reply, then: Then::GoOn, stage: Some(stage) }
    }
}

pub(crate) const UNKNOWN: Reply = Reply::new(500, (5, 5, 2), "This is not a command; HELP lists those that are");
const NO_ARGUMENT: Reply = Reply::new(501, (5, 5, 4), "This command takes no argument");
const NEEDS_NAME: Reply = Reply::new(501, (5, 5, 4), "Say who you are: EHLO and your host name or address literal");
const NEEDS_ARGUMENT: Reply = Reply::new(501, (5, 5, 4), "VRFY needs an address");
const NO_EXPN: Reply = Reply::new(502, (5, 5, 1), "Lists are not expanded here");
pub(crate) const NOT_OFFERED: Reply = Reply::new(502, (5, 5, 1), "Not offered here; EHLO lists what is");
const SAY_AUTH: Reply =
    Reply::new(501, (5, 5, 4), "Write it as AUTH PLAIN or AUTH LOGIN, and at most one word behind it");
const NO_MECHANISM: Reply = Reply::new(504, (5, 5, 4), "This mechanism is not offered here; take PLAIN or LOGIN");
const SAY_FROM: Reply = Reply::new(501, (5, 5, 4), "Write it as MAIL FROM:<user@example.com>");
const SAY_TO: Reply = Reply::new(501, (5, 5, 4), "Write it as RCPT TO:<user@example.com>");
const BAD_PARAMETER: Reply = Reply::new(501, (5, 5, 4), "A parameter has a bad value or is given twice");
const UNKNOWN_PARAMETER: Reply =
    Reply::new(555, (5, 5, 4), "A parameter is not known here; EHLO lists what is offered");
/// A UTF-8 address in a transaction that did not announce one (RFC 6531 §3.5).
pub const NEEDS_UTF8: Reply = Reply::new(553, (5, 6, 7), "A UTF-8 address needs the parameter SMTPUTF8 with MAIL FROM");
const BAD_CHUNK: Reply = Reply::new(501, (5, 5, 4), "Write it as BDAT octets, or BDAT octets LAST; closing");

/// Read a line, which holds neither CR nor LF.
pub fn parse(line: &[u8]) -> Result<Command, Bad> {
    let line = line.trim_ascii_end();
    let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
    let (verb, argument) = (&line[..end], line[end..].trim_ascii_start());
    let bare = |command| if argument.is_empty() { Ok(command) } else { Err(NO_ARGUMENT.into()) };
    match uppercase(verb, &mut [0; VERB_MAX]) {
        b"MAIL" => mail(argument).map_err(Bad::at(Stage::Mail)),
        b"RCPT" => rcpt(argument).map_err(Bad::at(Stage::Rcpt)),
        b"DATA" => bare(Command::Data),
        b"BDAT" => bdat(argument),
        b"EHLO" => name(argument).map(Command::Ehlo),
        b"HELO" => name(argument).map(Command::Helo),
        b"LHLO" => name(argument).map(Command::Lhlo),
        b"STARTTLS" => bare(Command::StartTls),
        b"AUTH" => auth(argument).map_err(Bad::from),
        b"RSET" => bare(Command::Rset),
        b"NOOP" => Ok(Command::Noop),
        b"VRFY" if argument.is_empty() => Err(NEEDS_ARGUMENT.into()),
        b"VRFY" => Ok(Command::Vrfy),
        b"HELP" => Ok(Command::Help),
        b"QUIT" => bare(Command::Quit),
        b"EXPN" => Err(NO_EXPN.into()),
        _ => Err(UNKNOWN.into()),
    }
}

/// The longest word that is known here.
const VERB_MAX: usize = 8;

/// The word in upper case, written into `room`; nothing when it is longer than any that is known.
fn uppercase<'a>(word: &[u8], room: &'a mut [u8; VERB_MAX]) -> &'a [u8] {
    let Some(room) = room.get_mut(..word.len()) else { return b"" };
    room.copy_from_slice(word);
    room.make_ascii_uppercase();
    room
}

/// AUTH with its mechanism and, behind it, the first word of the exchange: `=` stands for an empty one.
fn auth(argument: &[u8]) -> Result<Command, Reply> {
    let mut words = argument.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let mechanism = words.next().ok_or(SAY_AUTH)?;
    let mechanism = match uppercase(mechanism, &mut [0; VERB_MAX]) {
        b"PLAIN" => Mechanism::Plain,
        b"LOGIN" => Mechanism::Login,
        _ => return Err(NO_MECHANISM),
    };
    let initial = words.next().map(|word| if word == b"=" { &b""[..] } else { word });
    match words.next() {
        None => Ok(Command::Auth { mechanism, initial: initial.map(|word| Secret::from(word.to_vec())) }),
        Some(_) => Err(SAY_AUTH),
    }
}

/// Whether a line is long by right: what AUTH carries may be (RFC 4954 §4).
pub(crate) fn may_be_long(input: &[u8]) -> bool {
    input.get(..5).is_some_and(|front| front.eq_ignore_ascii_case(b"AUTH "))
}

/// Whether a first line is the header of a proxy that was not told of to us: what it says is not believed (T019).
pub fn is_proxy(line: &[u8]) -> bool {
    line.starts_with(b"PROXY ")
}

/// Whether a first line is an HTTP request: a browser that was led here speaks its own protocol (T020).
pub fn is_http(line: &[u8]) -> bool {
    const METHODS: [&[u8]; 9] =
        [b"GET", b"POST", b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"CONNECT", b"TRACE", b"PATCH"];
    let verb = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    METHODS.contains(&verb)
}

fn name(argument: &[u8]) -> Result<String, Bad> {
    mail::address::helo(argument).map(str::to_owned).map_err(|_| NEEDS_NAME.into())
}

fn mail(argument: &[u8]) -> Result<Command, Reply> {
    let argument = behind(argument, b"FROM:").ok_or(SAY_FROM)?;
    let (path, rest) = path(argument, Which::Sender)?;
    let parameters = mail_parameters(rest)?;
    // Whether UTF-8 is allowed is known only once the parameters behind the path are read.
    if !parameters.utf8 && !argument.is_ascii() {
        return Err(NEEDS_UTF8);
    }
    Ok(Command::Mail { path, parameters })
}

fn rcpt(argument: &[u8]) -> Result<Command, Reply> {
    let argument = behind(argument, b"TO:").ok_or(SAY_TO)?;
    let (path, rest) = path(argument, Which::Recipient)?;
    if path == Path::Null {
        return Err(SAY_TO);
    }
    match parameters(rest)?.next() {
        None => Ok(Command::Rcpt { path }),
        Some(_) => Err(UNKNOWN_PARAMETER),
    }
}

fn bdat(argument: &[u8]) -> Result<Command, Bad> {
    let mut words = argument.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let octets = words.next().and_then(digits);
    let last = match words.next() {
        None => Some(false),
        Some(word) if word.eq_ignore_ascii_case(b"LAST") => Some(true),
        Some(_) => None,
    };
    match (octets, last, words.next()) {
        (Some(octets), Some(last), None) => Ok(Command::Bdat { octets, last }),
        _ => Err(Bad { reply: BAD_CHUNK, then: Then::Close, stage: Some(Stage::Data) }),
    }
}

/// A number of digits only: no sign, no blank, no overflow.
fn digits(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(text).ok()?.parse().ok())?
}

/// What stands behind a word, blanks behind its colon skipped.
fn behind<'a>(argument: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let (front, rest) = argument.split_at_checked(word.len())?;
    front.eq_ignore_ascii_case(word).then(|| rest.trim_ascii_start())
}

#[derive(Clone, Copy)]
enum Which {
    Sender,
    Recipient,
}

fn path(argument: &[u8], which: Which) -> Result<(Path, &[u8]), Reply> {
    mail::address::path(argument, Charset::Utf8).map_err(|bad| bad_path(bad, which))
}

fn bad_path(bad: BadAddress, which: Which) -> Reply {
    let status = match which {
        Which::Sender => (5, 1, 7),
        Which::Recipient => (5, 1, 3),
    };
    match bad {
        BadAddress::Syntax => Reply::new(501, status, "This is not an address; write it as <user@example.com>"),
        BadAddress::NoDomain => Reply::new(553, status, "The address needs a domain: <user@example.com>"),
        BadAddress::NeedsUtf8 => NEEDS_UTF8,
        BadAddress::TooLong => {
            Reply::new(501, status, "The address is too long: 64 octets before the @, 255 behind it")
        }
    }
}

/// The parameters behind a path: words after blanks. Anything glued to the path is no parameter.
fn parameters(rest: &[u8]) -> Result<impl Iterator<Item = &[u8]>, Reply> {
    if rest.first().is_some_and(|byte| *byte != b' ') {
        return Err(BAD_PARAMETER);
    }
    Ok(rest.split(|byte| *byte == b' ').filter(|word| !word.is_empty()))
}

fn mail_parameters(rest: &[u8]) -> Result<MailParameters, Reply> {
    let (mut found, mut body, mut auth) = (MailParameters::default(), false, false);
    for word in parameters(rest)? {
        let split = word.iter().position(|byte| *byte == b'=');
        let (keyword, value) = match split {
            Some(at) => (&word[..at], Some(&word[at + 1..])),
            None => (word, None),
        };
        match (uppercase(keyword, &mut [0; VERB_MAX]), value) {
            (b"SIZE", Some(value)) if found.size.is_none() => found.size = Some(size(value)?),
            (b"BODY", Some(value)) if !body && is_body(value) => body = true,
            (b"SMTPUTF8", None) if !found.utf8 => found.utf8 = true,
            // Who submitted the message elsewhere (RFC 4954 §5): taken and not believed.
            (b"AUTH", Some(value)) if !auth && !value.is_empty() => auth = true,
            (b"SIZE" | b"BODY" | b"SMTPUTF8" | b"AUTH", _) => return Err(BAD_PARAMETER),
            _ => return Err(UNKNOWN_PARAMETER),
        }
    }
    Ok(found)
}

/// A SIZE of more digits than a number holds is a size all the same: too large.
fn size(value: &[u8]) -> Result<u64, Reply> {
    let is_number = !value.is_empty() && value.len() <= 20 && value.iter().all(u8::is_ascii_digit);
    if is_number { Ok(digits(value).unwrap_or(u64::MAX)) } else { Err(BAD_PARAMETER) }
}

fn is_body(value: &[u8]) -> bool {
    value.eq_ignore_ascii_case(b"7BIT") || value.eq_ignore_ascii_case(b"8BITMIME")
}

#[cfg(test)]
mod tests;
