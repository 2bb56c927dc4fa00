//! What was refused, kept in a bounded ring: the answer to "why did my mail not arrive?".
//!
//! It belongs to this process: an engine knows nothing of it, and it goes with the program.

mod watch;

use std::collections::VecDeque;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use mail::{Address, Mailbox, ReversePath};
use serde::{Deserialize, Serialize};
use store::Scope;

use crate::verdict::Status;

use watch::Watchers;
pub use watch::{RefusalWatch, Refused};

/// So many recipients, and so many mailboxes, of one refusal are kept: the last ones, so the refused one is there.
/// An edge need not hand in more.
pub const RECIPIENTS_MAX: usize = 16;

/// Where in a transaction a refusal happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is the SMTP command")]
pub enum Stage {
    Mail,
    Rcpt,
    Data,
}

impl Stage {
    /// As SMTP writes it.
    pub const fn command(self) -> &'static str {
        match self {
            Self::Mail => "MAIL",
            Self::Rcpt => "RCPT",
            Self::Data => "DATA",
        }
    }
}

/// One refusal, with the envelope as far as it was known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// When.
    pub at: Timestamp,
    /// At which command.
    pub stage: Stage,
    /// MAIL FROM, when one was accepted or is what was refused.
    pub mail_from: Option<ReversePath>,
    /// Recipients accepted so far, and the refused one last.
    pub rcpt_to: Vec<Address>,
    /// Where those recipients lead.
    pub mailboxes: Vec<Mailbox>,
    /// What the client called itself, where it did.
    pub helo: Option<String>,
    /// The client's address, where it has one.
    pub peer: Option<IpAddr>,
    /// What the client was told.
    pub reply: Status,
    /// The fault on demand that it was, where it was one.
    pub fault: Option<ByFault>,
}

/// A fault on demand that did something, and refused nothing by it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Acted {
    /// When.
    pub at: Timestamp,
    /// At which command.
    pub stage: Stage,
    /// The sender.
    pub mail_from: ReversePath,
    /// Whom it was about; none at MAIL.
    pub rcpt_to: Vec<Address>,
    /// Which one.
    pub fault: ByFault,
    /// What it did, in words.
    pub what: String,
}

/// A fault on demand, as those are told who wonder where their mail is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ByFault {
    /// The address itself asked for it.
    Address(String),
    /// A plan.
    Plan {
        /// What it goes by.
        id: String,
        /// Which attempt it was, as `2 of 2`.
        attempt: String,
    },
}

impl ByFault {
    /// The plan's id, or the address.
    pub fn name(&self) -> &str {
        match self {
            Self::Address(name) | Self::Plan { id: name, .. } => name,
        }
    }
}

impl fmt::Display for ByFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(out, "the fault address {address}"),
            Self::Plan { id, attempt } => write!(out, "the fault plan {id} ({attempt})"),
        }
    }
}

/// Some of what was refused.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refusals {
    /// The newest first.
    pub items: Vec<Refusal>,
    /// How many older ones, of any mailbox, are no longer remembered.
    pub forgotten: u64,
}

/// The ring.
pub(crate) struct Ring {
    kept: Mutex<Kept>,
    refusals_max: usize,
    watchers: Watchers,
}

#[derive(Default)]
struct Kept {
    /// The oldest first.
    refusals: VecDeque<Refusal>,
    forgotten: u64,
}

impl Ring {
    /// So many are remembered, and so many wait for one who watches.
    pub(crate) fn new(refusals_max: usize, queue_max: usize) -> Self {
        Self { kept: Mutex::default(), refusals_max, watchers: Watchers::new(queue_max) }
    }

    /// Follow what is refused from now on.
    pub(crate) fn watch(&self) -> RefusalWatch {
        self.watchers.enter()
    }

    #[cfg(test)]
    fn watchers(&self) -> usize {
        self.watchers.count()
    }

    /// Remember one more, and forget the oldest when there is no room.
    pub(crate) fn keep(&self, mut refusal: Refusal) {
        keep_last(&mut refusal.rcpt_to);
        keep_last(&mut refusal.mailboxes);
        self.watchers.tell(|| Refused::One(Arc::new(refusal.clone())));
        let mut kept = self.lock();
        kept.refusals.push_back(refusal);
        if kept.refusals.len() > self.refusals_max {
            kept.refusals.pop_front();
            kept.forgotten += 1;
        }
    }

    /// Tell those who follow that a fault acted. It is not remembered: nothing was refused.
    pub(crate) fn tell(&self, acted: Acted) {
        self.watchers.tell(|| Refused::Acted(Arc::new(acted)));
    }

    /// Those that had a recipient in scope; those without any recipient are in no mailbox.
    pub(crate) fn list(&self, scope: &Scope, limit: usize, is_seen: impl Fn(&[Mailbox]) -> bool) -> Refusals {
        let kept = self.lock();
        let in_scope = |refusal: &&Refusal| match scope {
            Scope::Mailbox(mailbox) => refusal.mailboxes.contains(mailbox),
            Scope::All => true,
        };
        let items = kept
            .refusals
            .iter()
            .rev()
            .filter(in_scope)
            .filter(|refusal| is_seen(&refusal.mailboxes))
            .take(limit)
            .cloned()
            .collect();
        Refusals { items, forgotten: kept.forgotten }
    }

    /// A holder that panicked left the ring whole: every change to it is complete in itself.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keep_last<T>(list: &mut Vec<T>) {
    list.drain(..list.len().saturating_sub(RECIPIENTS_MAX));
    list.shrink_to_fit();
}

#[cfg(test)]
mod tests;
