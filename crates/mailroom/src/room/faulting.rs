//! Faults on demand, asked at each stage of a transaction; and what comes back to the sender of a message that was taken.
//!
//! An address decides before a plan. Plans are asked in the order in which they were made, each counts what it meets, and
//! the first that refuses ends it.

use std::pin::Pin;
use std::sync::Arc;

use mail::trace::Peer;
use mail::{Address, Door, Envelope, Mailbox, Recipient, ReversePath, Transport};

use super::Mailroom;
use crate::caller::Caller;
use crate::faults::act::{Act, Outcome};
use crate::faults::attempts::{Attempts, Met};
use crate::faults::plans::Known;
use crate::faults::reports::Taken;
use crate::faults::{Back, Side};
use crate::hooks::Visit;
use crate::parcel::Parcel;
use crate::refusals::{Acted, ByFault, Stage};
use crate::verdict::Status;

const UNCOUNTED: &str = "The attempts of a fault plan cannot be counted now; try again soon";

/// What faults make of a recipient.
pub(super) struct AtRcpt {
    pub(super) outcome: Outcome,
    /// The address itself asks for something: it is taken whatever policy says of its domain.
    pub(super) is_fault: bool,
}

/// What faults make of a message.
#[derive(Default)]
pub(super) struct AtData {
    pub(super) outcome: Outcome,
    /// What comes back from whom, once the message is kept.
    pub(super) back: Vec<(Address, Vec<Back>)>,
}

/// A message whose sender hears something of it.
pub(super) struct ComesBack {
    raw: bytes::Bytes,
    envelope: Arc<Envelope>,
    asked: Vec<(Address, Vec<Back>)>,
}

impl Mailroom {
    pub(super) async fn faults_of_sender(&self, visit: &Visit<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(sender) = &visit.sender.0 {
            self.ask_address(sender, Side::Sender, Stage::Mail, &mut outcome);
        }
        self.ask_plans(Stage::Mail, visit.sender, &[], &mut outcome).await;
        self.tell_acted(Stage::Mail, visit.sender, Vec::new, &outcome.acted);
        outcome
    }

    pub(super) async fn faults_of_recipient(
        &self,
        visit: &Visit<'_>,
        recipient: &Address,
        mailbox: &Mailbox,
    ) -> AtRcpt {
        let mut outcome = Outcome::default();
        let is_fault = self.ask_address(recipient, Side::Recipient, Stage::Rcpt, &mut outcome);
        self.ask_plans(Stage::Rcpt, visit.sender, &[(recipient, mailbox)], &mut outcome).await;
        self.tell_acted(Stage::Rcpt, visit.sender, || vec![recipient.clone()], &outcome.acted);
        AtRcpt { outcome, is_fault }
    }

    /// What Postkeep itself delivers meets no faults.
    pub(super) async fn faults_of_message(&self, caller: &Caller, envelope: &Envelope) -> AtData {
        let mut met = AtData::default();
        if *caller == Caller::Program {
            return met;
        }
        for recipient in &envelope.recipients {
            if let Some(Ok(asked)) = self.faults.asked(&recipient.address, Side::Recipient) {
                met.outcome.add(ByFault::Address(recipient.address.to_string()), Stage::Data, &asked.data);
                met.back.push((recipient.address.clone(), asked.back));
            }
        }
        let recipients: Vec<_> = match self.faults.plans.in_force() {
            Some(_) => envelope.recipients.iter().map(|one| (&one.address, &one.mailbox)).collect(),
            None => Vec::new(),
        };
        self.ask_plans(Stage::Data, &envelope.reverse_path, &recipients, &mut met.outcome).await;
        let named = || envelope.recipients.iter().take(crate::refusals::RECIPIENTS_MAX);
        let addresses = || named().map(|one| one.address.clone()).collect();
        self.tell_acted(Stage::Data, &envelope.reverse_path, addresses, &met.outcome.acted);
        met
    }

    /// What an address asks for at a stage; whether it asks for anything at all.
    fn ask_address(&self, address: &Address, side: Side, stage: Stage, outcome: &mut Outcome) -> bool {
        let Some(asked) = self.faults.asked(address, side) else { return false };
        let fault = ByFault::Address(address.to_string());
        match asked {
            Ok(asked) => outcome.add(fault, stage, asked.at(stage)),
            Err(bad) => {
                let enhanced = if side == Side::Sender { (5, 1, 7) } else { (5, 1, 1) };
                let reply = Some(Status { code: 550, enhanced, text: format!("No such fault: {bad}") });
                outcome.add(fault, stage, &Act { reply, ..Act::default() });
            }
        }
        true
    }

    /// Every plan that is met counts one attempt, however many of the recipients it meets.
    async fn ask_plans(
        &self,
        stage: Stage,
        sender: &ReversePath,
        recipients: &[(&Address, &Mailbox)],
        outcome: &mut Outcome,
    ) {
        let Some(plans) = self.faults.plans.in_force() else { return };
        let now = self.now();
        for known in plans.iter().filter(|known| known.plan.stage == stage && known.plan.is_live(now)) {
            if outcome.is_final() {
                return;
            }
            let whom = &known.plan.whom;
            let is_met = |(_, mailbox): &&(&Address, &Mailbox)| whom.meets(sender, Some(mailbox));
            let met = recipients.iter().find(is_met).map(|(address, _)| *address);
            if met.is_some() || stage == Stage::Mail && whom.meets(sender, None) {
                self.ask_plan(known, sender, met, outcome).await;
            }
        }
    }

    async fn ask_plan(&self, known: &Known, sender: &ReversePath, met: Option<&Address>, outcome: &mut Outcome) {
        let plan = &known.plan;
        let text = |address: Option<&Address>| address.map(ToString::to_string).unwrap_or_default();
        let (sender, recipient) = (text(sender.0.as_ref()), text(met));
        let by = |attempt: String| ByFault::Plan { id: plan.id.clone(), attempt };
        match self.count_attempt(known, Met { sender: &sender, recipient: &recipient }).await {
            Ok((attempt, true)) => outcome.add(by(plan.when.told(attempt)), plan.stage, &plan.act),
            Ok((_, false)) => {}
            Err(error) => {
                tracing::warn!(plan = plan.id, error = &error as &dyn std::error::Error, "an attempt was not counted");
                let reply = Some(Status { code: 451, enhanced: (4, 3, 0), text: UNCOUNTED.to_owned() });
                outcome.add(by("not counted".to_owned()), plan.stage, &Act { reply, ..Act::default() });
            }
        }
    }

    async fn count_attempt(&self, known: &Known, met: Met<'_>) -> crate::error::Result<(u64, bool)> {
        let registry = self.vault.open(&self.program()?).registry();
        let attempts = Attempts { registry, plan: &known.plan, pairs_max: self.faults.settings.pairs_max };
        let _turn = known.turn.lock().await;
        Ok(attempts.one_more(met).await?)
    }

    fn tell_acted(
        &self,
        stage: Stage,
        sender: &ReversePath,
        rcpt_to: impl Fn() -> Vec<Address>,
        acted: &[(ByFault, String)],
    ) {
        for (fault, what) in acted {
            let (at, mail_from, rcpt_to) = (self.now(), sender.clone(), rcpt_to());
            let (fault, what) = (fault.clone(), what.clone());
            self.refusals.tell(Acted { at, stage, mail_from, rcpt_to, fault, what });
        }
    }

    /// What comes back for a message, if anything: kept aside while the message is.
    pub(super) fn comes_back(&self, asked: Vec<(Address, Vec<Back>)>, delivery: &store::Delivery) -> Option<ComesBack> {
        let is_asked = asked.iter().any(|(_, back)| !back.is_empty());
        is_asked.then(|| ComesBack { raw: delivery.raw.clone(), envelope: Arc::clone(&delivery.envelope), asked })
    }

    /// Put what comes back into the sender's mailbox, as mail from nobody: a relay rule may send it on, nothing else does.
    /// The message that it is about is kept already, so nothing fails by it.
    pub(super) fn send_back(&self, message: ComesBack) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            let ComesBack { raw, envelope, asked } = message;
            let asked: Vec<(&Address, &[Back])> = asked.iter().map(|(address, back)| (address, &**back)).collect();
            let settings = &self.faults.settings;
            let at = self.now();
            let (domain, return_max) = (&*settings.domain, settings.return_max);
            let taken = Taken { domain, return_max, envelope: &envelope, raw: &raw, at };
            for report in taken.reports(&asked) {
                let what = match report {
                    Ok(report) => match self.deliver_report(&envelope, &report.raw).await {
                        Ok(()) => report.what,
                        Err(error) => {
                            tracing::warn!(%error, "what a fault address asked for did not come back to the sender");
                            format!("nothing came back: {error}")
                        }
                    },
                    Err(why) => why.to_owned(),
                };
                let asking = asked.iter().find(|(_, back)| !back.is_empty()).map(|(address, _)| address.to_string());
                let fault = ByFault::Address(asking.unwrap_or_default());
                let rcpt_to = || asked.iter().map(|(address, _)| Address::clone(address)).collect();
                self.tell_acted(Stage::Data, &envelope.reverse_path, rcpt_to, &[(fault, what)]);
            }
        })
    }

    async fn deliver_report(&self, about: &Envelope, report: &[u8]) -> crate::error::Result<()> {
        let Some(sender) = about.reverse_path.0.clone() else { return Ok(()) };
        let nowhere = |bad: mail::mailbox::BadName| store::Error::try_later(bad.to_string());
        let mailbox = self.leads_to(&Caller::Program, &sender).map_err(nowhere)?;
        let domain = &self.faults.settings.domain;
        let transport = Transport {
            door: Door::Import,
            utf8: about.transport.utf8,
            helo: domain.clone(),
            peer: None,
            tls: None,
            auth_user: None,
        };
        let envelope = Envelope {
            transaction: self.begin(),
            reverse_path: ReversePath(None),
            recipients: vec![Recipient { address: sender, mailbox }],
            transport,
        };
        let received_at = self.now();
        let mut raw = Vec::with_capacity(report.len() + 256);
        mail::trace::write(&mut raw, &envelope, domain, Peer::Hidden, received_at);
        raw.extend_from_slice(report);
        let parcel = Parcel { raw: raw.into(), envelope: Arc::new(envelope), discarded: Vec::new(), received_at };
        self.deliver(&Caller::Program, parcel).await.map(drop)
    }
}
