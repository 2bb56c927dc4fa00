//! Who may do what: the one authorisation layer, between every verb of the mailroom and the engine.
//!
//! For now it knows the mode `open`, in which everybody may do everything. It knows callers, verbs and mailboxes, and
//! neither protocols nor what a verb does.
//!
//! That no verb goes round it is the compiler's business: the engine lies in a `Vault`, which opens only to a
//! [`Permit`], and only [`Access::permit`] makes one.

use std::sync::Arc;

use mail::Mailbox;
use store::{Scope, Store};

use crate::caller::Caller;
use crate::error::{Error, Result};

/// Which rules hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Everybody may do everything.
    #[default]
    Open,
    /// Nobody may do anything: to see that every verb asks.
    #[cfg(test)]
    Shut,
    /// Everybody may do everything on one mailbox: to see that every verb asks for the right one.
    #[cfg(test)]
    Only(&'static str),
}

/// What is asked for. Several verbs of the mailroom may be one here: whoever may list may also ask for a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is a verb of the house")]
pub enum Verb {
    Deliver,
    Import,
    List,
    Read,
    Delete,
    Purge,
    Watch,
}

/// What a verb is asked for on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target<'a> {
    /// A delivery as such, whatever its recipients.
    Transaction,
    /// One mailbox.
    Mailbox(&'a Mailbox),
    /// All mailboxes at once.
    All,
}

/// The word of [`Access`] that a caller may do what it asked. It costs nothing to carry.
#[derive(Clone, Copy, Debug)]
pub struct Permit(());

/// The rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Access {
    mode: Mode,
}

/// Holds the engine, and shows it to nobody without a permit.
#[derive(Clone)]
pub(crate) struct Vault(Arc<dyn Store>);

impl Access {
    /// The rules of a mode.
    pub fn new(mode: Mode) -> Self {
        Self { mode }
    }

    /// May this caller do this there?
    pub fn permit(&self, caller: &Caller, verb: Verb, target: Target<'_>) -> Result<Permit> {
        if self.allows(caller, verb, target) { Ok(Permit(())) } else { Err(Error::Denied { verb: verb.name() }) }
    }

    /// The rules of each mode.
    fn allows(&self, _caller: &Caller, _verb: Verb, _target: Target<'_>) -> bool {
        match self.mode {
            Mode::Open => true,
            #[cfg(test)]
            Mode::Shut => false,
            #[cfg(test)]
            Mode::Only(name) => match _target {
                Target::Transaction => true,
                Target::Mailbox(mailbox) => mailbox.as_str() == name,
                Target::All => false,
            },
        }
    }
}

impl Verb {
    /// As it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deliver => "deliver",
            Self::Import => "import",
            Self::List => "list",
            Self::Read => "read",
            Self::Delete => "delete",
            Self::Purge => "purge",
            Self::Watch => "watch",
        }
    }
}

impl<'a> From<&'a Scope> for Target<'a> {
    fn from(scope: &'a Scope) -> Self {
        match scope {
            Scope::Mailbox(mailbox) => Self::Mailbox(mailbox),
            Scope::All => Self::All,
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
