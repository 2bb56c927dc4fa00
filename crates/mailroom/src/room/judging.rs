//! The questions of a transaction: may this sender send, may mail go to this recipient? Access is asked first, then
//! faults on demand, then those who have a say, then policy, and last the rate.

use mail::{Address, Mailbox, mailbox::BadName};

use super::faulting::AtRcpt;
use super::{Mailroom, refusal_of};
use crate::access::{Target, Verb};
use crate::caller::Caller;
use crate::counters::COUNTERS;
use crate::hooks::{Moment, Opinion, Visit};
use crate::pace;
use crate::route::Facts;
use crate::verdict::{Decision, Verdict};

impl Mailroom {
    /// May this sender send?
    pub async fn judge_sender(&self, visit: &Visit<'_>) -> Verdict {
        let verdict = match self.access.permit(visit.caller, Verb::Deliver, Target::Transaction) {
            Ok(_) => self.sender_behind_access(visit).await,
            Err(denied) => refusal_of(&denied),
        };
        count(&verdict);
        verdict
    }

    async fn sender_behind_access(&self, visit: &Visit<'_>) -> Verdict {
        let fault = self.faults_of_sender(visit).await;
        if fault.is_final() {
            return fault.verdict();
        }
        fault.told(match self.opinion_of_sender(visit).await {
            Opinion::Defer => self.policy.sender(visit.sender),
            Opinion::Allow => Verdict::ACCEPT,
            Opinion::Judge(verdict) => verdict,
        })
    }

    /// May mail go to this recipient, and to which mailbox does it lead?
    ///
    /// Where a rule asks for the header, which has not come yet, it may still lead to another, which is judged then.
    /// The answer is the same whether that mailbox holds mail or not. A refusal names the mailbox too, when there is
    /// one, so that it can be told to [`Mailroom::refused`].
    pub async fn judge_recipient(&self, visit: &Visit<'_>, recipient: &Address) -> (Verdict, Option<Mailbox>) {
        let mailbox = match self.leads_to(visit.caller, recipient) {
            Ok(mailbox) => mailbox,
            Err(bad) => return (Verdict::refuse(553, (5, 1, 3), bad.to_string()), None),
        };
        let verdict = match self.access.permit(visit.caller, Verb::Deliver, Target::Mailbox(&mailbox)) {
            Ok(_) => self.recipient_behind_access(visit, recipient, &mailbox).await,
            Err(denied) => refusal_of(&denied),
        };
        count(&verdict);
        (self.paced(verdict, &mailbox), Some(mailbox))
    }

    async fn recipient_behind_access(&self, visit: &Visit<'_>, recipient: &Address, mailbox: &Mailbox) -> Verdict {
        let AtRcpt { outcome: fault, is_fault } = self.faults_of_recipient(visit, recipient, mailbox).await;
        if fault.is_final() {
            return fault.verdict();
        }
        fault.told(match self.opinion_of_recipient(visit, recipient).await {
            Opinion::Defer if is_fault => Verdict::ACCEPT,
            Opinion::Defer => self.policy.recipient(recipient),
            Opinion::Allow => Verdict::ACCEPT,
            Opinion::Judge(verdict) => verdict,
        })
    }

    /// The mailbox of a recipient, as far as it can be told before the message is there.
    pub(crate) fn leads_to(&self, caller: &Caller, recipient: &Address) -> Result<Mailbox, BadName> {
        self.routes.mailbox(Facts::at_rcpt(caller, recipient))
    }

    async fn opinion_of_sender(&self, visit: &Visit<'_>) -> Opinion {
        match self.listening(Moment::MailFrom) {
            Some(hooks) => hooks.mail_from(visit).await,
            None => Opinion::Defer,
        }
    }

    async fn opinion_of_recipient(&self, visit: &Visit<'_>, recipient: &Address) -> Opinion {
        match self.listening(Moment::RcptTo) {
            Some(hooks) => hooks.rcpt_to(visit, recipient).await,
            None => Opinion::Defer,
        }
    }

    /// What is accepted counts against its mailbox, and is refused for now when that gets too much (T023).
    fn paced(&self, verdict: Verdict, mailbox: &Mailbox) -> Verdict {
        match verdict.decision {
            Decision::Accept => self.pace.take(mailbox).map_or_else(pace::too_much_for_mailbox, |()| verdict),
            Decision::Discard | Decision::Refuse(_) => verdict,
        }
    }
}

fn count(verdict: &Verdict) {
    match (&verdict.decision, &verdict.fault) {
        (Decision::Refuse(_), Some(_)) => COUNTERS.refused_by_fault.increment(1),
        (Decision::Refuse(_), None) => COUNTERS.refused_by_policy.increment(1),
        _ => {}
    }
}
