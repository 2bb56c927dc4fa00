//! What was refused: kept as it happens, and shown to those who may know of it.

use mail::Mailbox;
use store::Scope;

use super::Mailroom;
use crate::access::{Target, Verb};
use crate::caller::Caller;
use crate::error::Result;
use crate::refusals::{Refusal, RefusalWatch, Refusals};

impl Mailroom {
    /// Something inside a transaction was refused.
    pub fn refused(&self, caller: &Caller, refusal: Refusal) {
        if self.access.permit(caller, Verb::Deliver, Target::Transaction).is_ok() {
            self.refusals.keep(refusal);
        }
    }

    /// What was refused, newest first, and only by this process: where the caller may list one of the recipients. What was
    /// refused before there was any is for those who may list everything.
    pub fn refusals(&self, caller: &Caller, scope: &Scope, limit: usize) -> Result<Refusals> {
        self.access.permit(caller, Verb::List, scope.into())?;
        Ok(self.refusals.list(scope, limit, |mailboxes| self.sees_refusal(caller, mailboxes)))
    }

    /// Follow what is refused by this process from now on, whatever it was about.
    pub fn watch_refusals(&self, caller: &Caller) -> Result<RefusalWatch> {
        self.access.permit(caller, Verb::List, Target::All)?;
        Ok(self.refusals.watch())
    }

    /// Whether a caller may follow what is refused.
    pub fn may_watch_refusals(&self, caller: &Caller) -> bool {
        self.access.permit(caller, Verb::List, Target::All).is_ok()
    }

    /// Whether a caller may see a refusal of mail to these mailboxes.
    pub(crate) fn sees_refusal(&self, caller: &Caller, mailboxes: &[Mailbox]) -> bool {
        self.access.sees_all(caller)
            || self.access.permit(caller, Verb::List, Target::All).is_ok()
            || mailboxes.iter().any(|mailbox| self.may(caller, Verb::List, mailbox))
    }
}
