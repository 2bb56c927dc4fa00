//! Who may do what: the one authorisation layer, between every verb of the mailroom and the engine.
//!
//! It knows callers, verbs and mailboxes, and neither protocols nor what a verb does. What a caller may is decided without
//! looking anything up: a token carries its scopes, and an inbox its end in its name.
//!
//! That no verb goes round it is the compiler's business: the engine lies in a `Vault`, which opens only to a
//! [`Permit`], and only [`Access::permit`] makes one.

pub(crate) mod base32;
pub mod denial;
pub mod inbox;
mod pattern;
pub(crate) mod records;
pub mod rules;
pub mod scope;
pub(crate) mod session;
pub mod token;
pub(crate) mod tokens;
pub mod verb;

use std::sync::Arc;

use jiff::Timestamp;
use mail::{Mailbox, Naming};
use store::{Clock, Scope, Store};

use crate::caller::Caller;
use crate::error::{Error, Result};

pub use denial::{Denial, Need};
pub use inbox::{Keys, Shape};
pub use pattern::{BadPattern, Pattern};
pub use rules::{InboxSecret, Mode, Rules};
pub use scope::{BadScope, Scopes};
pub use session::Login;
pub use token::{Digest, Token};
pub use tokens::{Grant, Origin};
pub use verb::{Verb, Verbs};

use inbox::Inboxes;
use session::Logins;
use tokens::Tokens;

/// What a verb is asked for on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target<'a> {
    /// A delivery as such, whatever its recipients.
    Transaction,
    /// One mailbox.
    Mailbox(&'a Mailbox),
    /// Those of all mailboxes on which the caller may; each that is shown is asked for again.
    Any,
    /// All mailboxes at once, without exception.
    All,
}

/// The word of [`Access`] that a caller may do what it asked. It costs nothing to carry.
#[derive(Clone, Copy, Debug)]
pub struct Permit(());

/// The rules, and who is known.
pub struct Access {
    pub(crate) rules: Rules,
    pub(crate) inboxes: Inboxes,
    pub(crate) tokens: Tokens,
    pub(crate) logins: Logins,
    clock: Arc<dyn Clock>,
}

/// Holds the engine, and shows it to nobody without a permit.
#[derive(Clone)]
pub(crate) struct Vault(Arc<dyn Store>);

impl Access {
    /// By these rules, where mailboxes are named so.
    pub fn new(mut rules: Rules, naming: Naming, clock: Arc<dyn Clock>) -> Self {
        let tokens = Tokens::new(std::mem::take(&mut rules.tokens), naming);
        let inboxes = Inboxes::new(rules.keys.take(), naming);
        Self { rules, inboxes, tokens, logins: Logins::default(), clock }
    }

    /// May this caller do this there?
    pub fn permit(&self, caller: &Caller, verb: Verb, target: Target<'_>) -> Result<Permit> {
        match self.judge(caller, verb, target) {
            Ok(()) => Ok(Permit(())),
            Err(denial) => Err(Error::Denied(denial)),
        }
    }

    /// Whether this caller may do everything with every mailbox, so that none need be asked for one by one.
    pub(crate) fn sees_all(&self, caller: &Caller) -> bool {
        match caller {
            Caller::Program => true,
            _ if self.is_open() => self.rules.inbox_secret == InboxSecret::Auto,
            Caller::Token { grant } => grant.is_live(self.clock.now()) && grant.grants(Verb::Admin, Target::All),
            _ => false,
        }
    }

    /// Whether there is a mailbox on which this caller may do this: to offer it, not to allow it.
    pub(crate) fn may_somewhere(&self, caller: &Caller, verb: Verb) -> bool {
        let is_public = self.rules.mode == Mode::Public && self.rules.public_verbs.contains(verb);
        match caller {
            _ if self.judge(caller, verb, Target::Any).is_ok() => true,
            Caller::Inbox { mailbox } if self.judge(caller, verb, Target::Mailbox(mailbox)).is_ok() => true,
            Caller::Token { grant } => is_public && grant.is_live(self.clock.now()),
            _ => is_public,
        }
    }

    fn is_open(&self) -> bool {
        self.rules.mode == Mode::Open
    }

    fn judge(&self, caller: &Caller, verb: Verb, target: Target<'_>) -> Result<(), Denial> {
        #[cfg(test)]
        if let Mode::Shut | Mode::Only(_) = self.rules.mode {
            return self.judge_trial(verb, target);
        }
        match target {
            _ if *caller == Caller::Program => Ok(()),
            Target::Mailbox(mailbox) => match self.inboxes.shape(mailbox) {
                Shape::Ordinary => self.ordinary(caller, verb, target),
                Shape::Mistyped if self.is_open() => self.ordinary(caller, verb, target),
                Shape::Mistyped => self.mistyped(caller, verb, mailbox),
                Shape::Inbox(end) => self.inbox(caller, verb, mailbox, end),
            },
            _ => self.ordinary(caller, verb, target),
        }
    }

    /// What is no inbox.
    fn ordinary(&self, caller: &Caller, verb: Verb, target: Target<'_>) -> Result<(), Denial> {
        let is_public = self.rules.mode == Mode::Public;
        match caller {
            _ if self.is_open() => Ok(()),
            Caller::Token { grant } if !grant.is_live(self.clock.now()) => {
                Err(Denial::Unauthorized(Need::of(verb, target)))
            }
            _ if is_public && self.is_for_everybody(verb, target) => Ok(()),
            Caller::Token { .. } if verb == Verb::Open => Ok(()),
            Caller::Token { grant } if grant.grants(verb, target) => Ok(()),
            // That door has rules of its own, and lets in whom they let in.
            Caller::Sender { .. } if verb == Verb::Deliver => Ok(()),
            Caller::Token { .. } | Caller::Inbox { .. } => Err(Denial::Forbidden(Need::of(verb, target))),
            _ if is_public => Err(Denial::NotInPublicMode(Need::of(verb, target))),
            _ => Err(Denial::Unauthorized(Need::of(verb, target))),
        }
    }

    /// In public mode: to read by name, and to open an inbox.
    fn is_for_everybody(&self, verb: Verb, target: Target<'_>) -> bool {
        match target {
            Target::Mailbox(_) => self.rules.public_verbs.contains(verb),
            _ => verb == Verb::Open,
        }
    }

    /// An inbox opens to its secret and to an admin; that it has expired is told to those to whom it opened. Mail is taken
    /// for it as for others, as long as it lives.
    fn inbox(&self, caller: &Caller, verb: Verb, mailbox: &Mailbox, end: Timestamp) -> Result<(), Denial> {
        let is_guarded = !self.is_open() || self.rules.inbox_secret == InboxSecret::Always;
        match caller {
            _ if verb == Verb::Deliver => self.ordinary(caller, verb, Target::Mailbox(mailbox))?,
            Caller::Inbox { mailbox: own } if own == mailbox && Verbs::RW.contains(verb) => {}
            _ if !is_guarded => {}
            _ => self.only_admin(caller, mailbox)?,
        }
        if self.clock.now() < end { Ok(()) } else { Err(Denial::InboxExpired { at: end }) }
    }

    /// A name that looks like an inbox's and is none: whoever lost the key opens nothing by that, and whoever guesses
    /// hears the same as of an inbox.
    fn mistyped(&self, caller: &Caller, verb: Verb, mailbox: &Mailbox) -> Result<(), Denial> {
        match verb {
            Verb::Deliver => Err(Denial::NoInbox),
            _ => self.only_admin(caller, mailbox),
        }
    }

    fn only_admin(&self, caller: &Caller, mailbox: &Mailbox) -> Result<(), Denial> {
        match caller {
            Caller::Token { grant } if !grant.is_live(self.clock.now()) => {
                Err(Denial::Unauthorized(Denial::admin(mailbox)))
            }
            Caller::Token { grant } if grant.grants(Verb::Admin, Target::Mailbox(mailbox)) => Ok(()),
            Caller::Token { .. } | Caller::Inbox { .. } => Err(Denial::SecretRequired),
            _ if self.rules.mode == Mode::Token => Err(Denial::Unauthorized(Denial::admin(mailbox))),
            _ => Err(Denial::SecretRequired),
        }
    }

    #[cfg(test)]
    fn judge_trial(&self, verb: Verb, target: Target<'_>) -> Result<(), Denial> {
        let is_there = match (self.rules.mode, target) {
            (Mode::Only(_), Target::Transaction) => true,
            (Mode::Only(name), Target::Mailbox(mailbox)) => mailbox.as_str() == name,
            _ => false,
        };
        if is_there { Ok(()) } else { Err(Denial::Forbidden(Need::of(verb, target))) }
    }
}

/// To follow or list everything is to see what one may.
impl<'a> From<&'a Mailbox> for Target<'a> {
    fn from(mailbox: &'a Mailbox) -> Self {
        Self::Mailbox(mailbox)
    }
}

impl<'a> From<&'a Scope> for Target<'a> {
    fn from(scope: &'a Scope) -> Self {
        match scope {
            Scope::Mailbox(mailbox) => Self::Mailbox(mailbox),
            Scope::All => Self::Any,
        }
    }
}

impl Vault {
    /// Lock an engine away.
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    /// The engine, for whoever was permitted.
    pub(crate) fn open(&self, _permit: &Permit) -> &dyn Store {
        &*self.0
    }
}

#[cfg(test)]
mod tests;
