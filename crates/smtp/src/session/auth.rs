//! AUTH: PLAIN and LOGIN, line by line, until there is a name and a password to ask the mailroom about (RFC 4954).
//!
//! Whatever a client sends here is its own session's affair: it is bounded, decoded strictly, and shown nowhere (T005,
//! T006).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mailroom::{Secret, SignInError};
use net::line::{self, Line};

use super::{Asked, Dialect, Mode, Question, Say, Session, Step, Want};
use crate::command::{Mechanism, NOT_OFFERED, Then};
use crate::reply::{Enhanced, Reply};

/// Octets of a line of the exchange (RFC 4954 §4).
pub(super) const AUTH_LINE_MAX: usize = 12_288;
/// Octets of a user name: it is kept with the message.
const USER_MAX: usize = 255;

const NEEDS_EHLO: Reply = Reply::new(503, (5, 5, 1), "Say EHLO first");
const SIGNED_IN_ALREADY: Reply = Reply::new(503, (5, 5, 1), "You have signed in already");
const IN_TRANSACTION: Reply = Reply::new(503, (5, 5, 1), "A transaction is open; end it or RSET first");
const NEEDS_TLS: Reply = Reply::new(
    538,
    (5, 7, 11),
    "A password is not taken in the clear from there: say STARTTLS first, or see smtp.auth_plaintext",
);
const USER: Reply = Reply::plain(334, "VXNlcm5hbWU6");
const PASSWORD: Reply = Reply::plain(334, "UGFzc3dvcmQ6");
const GO_ON: Reply = Reply::plain(334, "");
const CANCELLED: Reply = Reply::new(501, (5, 7, 0), "Signing in was cancelled");
const BAD_BASE64: Reply = Reply::new(501, (5, 5, 2), "This is not base64");
const BAD_PLAIN: Reply = Reply::new(501, (5, 5, 2), "PLAIN takes a name and a password, each behind a NUL, as UTF-8");
const TOO_LONG: Reply = Reply::new(500, (5, 5, 6), "The line is too long; closing");
const BARE_NEWLINE: Reply = Reply::new(500, (5, 5, 2), "A line ends in CRLF, and holds no other CR or LF; closing");
const SIGNED_IN: Reply = Reply::new(235, (2, 7, 0), "Signed in");
const WRONG: Reply = Reply::new(535, (5, 7, 8), "The name or the password is wrong");
const TOO_MANY: Reply = Reply::new(454, (4, 7, 0), "Too many sign-ins have failed from there; wait and try again");
const UNAVAILABLE: Reply = Reply::new(454, (4, 7, 0), "It cannot be said now who you are; try again soon");

/// How far an exchange has come.
#[derive(Debug)]
pub(super) enum Exchange {
    /// PLAIN: all of it comes next.
    Plain,
    /// LOGIN: the name comes next.
    User,
    /// LOGIN: the password of this name comes next.
    Password(String),
}

impl Session {
    /// Whether a client may sign in as things stand: the password would not cross an open network in the clear.
    pub(super) fn offers_auth(&self) -> bool {
        self.settings.auth && self.user.is_none() && !self.needs_tls() && self.hides_passwords()
    }

    fn hides_passwords(&self) -> bool {
        self.link.secured.is_some() || self.settings.auth_plaintext.allows(self.link.peer)
    }

    /// Whether MAIL must wait. LMTP is spoken by a mail server beside us, which has no password.
    pub(super) fn needs_auth(&self) -> bool {
        self.settings.auth_required && self.user.is_none() && self.link.dialect == Dialect::Smtp
    }

    pub(super) fn auth(&mut self, mechanism: Mechanism, initial: Option<Secret>) -> Step<'_> {
        let refused = match &self.hello {
            _ if !self.settings.auth => Some(NOT_OFFERED),
            None => Some(NEEDS_EHLO),
            Some(hello) if hello.enhanced == Enhanced::Hidden => Some(NEEDS_EHLO),
            _ if self.user.is_some() => Some(SIGNED_IN_ALREADY),
            _ if self.transaction.is_some() => Some(IN_TRANSACTION),
            _ if !self.hides_passwords() || self.needs_tls() => Some(NEEDS_TLS),
            _ => None,
        };
        if let Some(reply) = refused {
            return self.error(reply);
        }
        let exchange = match mechanism {
            Mechanism::Plain => Exchange::Plain,
            Mechanism::Login => Exchange::User,
        };
        match initial {
            Some(word) => self.continue_exchange(exchange, word.as_bytes()),
            None => self.challenge(exchange),
        }
    }

    /// A line of the exchange.
    pub(super) fn exchange(&mut self, input: &[u8]) -> (usize, Step<'_>) {
        let text = match line::line(input, AUTH_LINE_MAX) {
            Line::Partial => return (0, Step::Read(Want::Command)),
            Line::Whole(text) => text,
            Line::TooLong => return (input.len(), Step::Say(Say::now(TOO_LONG, Then::Close))),
            Line::BareNewline => return (input.len(), Step::Say(Say::now(BARE_NEWLINE, Then::Close))),
        };
        let Mode::Auth(exchange) = std::mem::replace(&mut self.mode, Mode::Command) else {
            unreachable!("AUTH has set the mode")
        };
        let step = if text == b"*" { self.error(CANCELLED) } else { self.continue_exchange(exchange, text) };
        (text.len() + 2, step)
    }

    fn continue_exchange(&mut self, exchange: Exchange, coded: &[u8]) -> Step<'_> {
        let Ok(word) = STANDARD.decode(coded) else { return self.error(BAD_BASE64) };
        match exchange {
            Exchange::Plain => match plain(&word) {
                Some((user, secret)) => self.ask_sign_in(user, secret),
                None => self.error(BAD_PLAIN),
            },
            Exchange::User => match name(&word) {
                Some(user) => self.challenge(Exchange::Password(user)),
                None => self.error(WRONG),
            },
            Exchange::Password(user) => self.ask_sign_in(user, Secret::from(word)),
        }
    }

    fn challenge(&mut self, exchange: Exchange) -> Step<'_> {
        let challenge = match &exchange {
            Exchange::Plain => GO_ON,
            Exchange::User => USER,
            Exchange::Password(_) => PASSWORD,
        };
        self.mode = Mode::Auth(exchange);
        self.ok(challenge)
    }

    fn ask_sign_in(&mut self, user: String, secret: Secret) -> Step<'_> {
        self.mode = Mode::Asked(Asked::SignIn(user.clone()));
        Step::Ask(Question::SignIn(user, secret))
    }

    pub(super) fn signed_in(&mut self, user: String) -> Say {
        self.user = Some(user);
        Say::now(SIGNED_IN, Then::GoOn)
    }

    pub(super) fn not_signed_in(&mut self, why: SignInError) -> Say {
        self.tally(match why {
            SignInError::Wrong => WRONG,
            SignInError::TooMany => TOO_MANY,
            SignInError::Off => NOT_OFFERED,
            SignInError::Unavailable => UNAVAILABLE,
        })
    }
}

/// The three parts of PLAIN (RFC 4616): for whom, who, and the password. For whom it is makes no difference here.
fn plain(message: &[u8]) -> Option<(String, Secret)> {
    let mut parts = message.split(|byte| *byte == 0);
    let (_for_whom, user, secret) = (parts.next()?, parts.next()?, parts.next()?);
    match parts.next() {
        None => Some((name(user)?, Secret::from(secret.to_vec()))),
        Some(_) => None,
    }
}

/// A user name that can be kept and shown.
fn name(octets: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(octets).ok()?;
    let sound = !text.is_empty() && text.len() <= USER_MAX && !text.contains(char::is_control);
    sound.then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
