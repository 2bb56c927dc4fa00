//! The verbs that put mail in: a delivery, with faults on demand, the say of others and the jobs that are written with it; and an import,
//! which goes round both.

use std::sync::Arc;

use jiff::Timestamp;
use mail::Mailbox;
use store::{Delivery, Filed};

use super::Mailroom;
use super::faulting::AtData;
use crate::access::{Shape, Target, Verb};
use crate::caller::Caller;
use crate::counters::COUNTERS;
use crate::error::{Error, Result};
use crate::hooks::{After, Arriving, Handling, Moment};
use crate::import::Import;
use crate::pace;
use crate::parcel::{self, Delivered, Parcel};
use crate::recent;
use crate::verdict::Decision;

impl Mailroom {
    /// Put a message into all its mailboxes, or none. Once this returned the message is kept as the engine promises;
    /// after an error there is no copy, no event and no job, except that [`store::Error::UnknownOutcome`] knows neither.
    pub async fn deliver(&self, caller: &Caller, parcel: Parcel) -> Result<Delivered> {
        let mut permit = self.access.permit(caller, Verb::Deliver, Target::Transaction)?;
        let mut delivery = self.routed(parcel)?.sort();
        let AtData { outcome: fault, back } = self.faults_of_message(caller, &delivery.envelope).await;
        if fault.is_final() {
            COUNTERS.refused_by_fault.increment(1);
            return Err(Error::Refused(Box::new(fault.verdict())));
        }
        self.heard(&mut delivery).await?;
        if delivery.copies.is_empty() {
            return Ok(Delivered { filed: Vec::new(), delay: fault.delay() });
        }
        for copy in &mut delivery.copies {
            permit = self.access.permit(caller, Verb::Deliver, Target::Mailbox(&copy.mailbox))?;
            copy.expires = self.end_of(&copy.mailbox);
        }
        delivery.jobs = self.outgoing.on_deliver(&delivery, &|| self.begin());
        let (octets, noted, has_jobs) =
            (delivery.raw.len() as u64, self.recent.note(&delivery), !delivery.jobs.is_empty());
        let back = self.comes_back(back, &delivery);
        let told = self.listening(Moment::Delivered).map(|_| recent::items(&delivery));
        let filed = self.vault.open(&permit).append(delivery).await?;
        self.recent.keep(noted, &filed);
        if has_jobs {
            let left_out = self.vault.open(&permit).outbox().left_out() + self.outgoing.left_out();
            COUNTERS.jobs_left_out.absolute(left_out);
            self.outgoing.written();
        }
        self.tell_delivered(told, &filed);
        COUNTERS.messages.increment(1);
        COUNTERS.octets.increment(octets);
        if let Some(back) = back {
            self.send_back(back).await;
        }
        Ok(Delivered { filed, delay: fault.delay() })
    }

    /// Each recipient led to where the message itself says, now that it is there. A mailbox that nobody was asked about
    /// when the recipients were named has its rate as any other; whether the caller may is asked for all of them.
    fn routed(&self, mut parcel: Parcel) -> Result<Parcel> {
        let Some(settled) = self.routes.settle(&parcel) else { return Ok(parcel) };
        for mailbox in &settled.others {
            self.pace.take(mailbox).map_err(pace::too_often_for_mailbox)?;
        }
        parcel.envelope = Arc::new(settled.envelope);
        Ok(parcel)
    }

    /// Those who have a say are asked, and what they say is done.
    async fn heard(&self, delivery: &mut Delivery) -> Result<()> {
        let Some(hooks) = self.listening(Moment::Message) else { return Ok(()) };
        let arriving = Arriving {
            raw: delivery.raw.clone(),
            envelope: Arc::clone(&delivery.envelope),
            digest: delivery.digest.clone(),
            received_at: delivery.received_at,
            mailboxes: delivery.copies.iter().map(|copy| copy.mailbox.clone()).collect(),
        };
        let Handling { verdict, mailboxes, tags, from, subject } = hooks.message(arriving).await;
        if verdict.is_refusal() || verdict.hang_up {
            return Err(Error::Refused(Box::new(verdict)));
        }
        if let Some(mailboxes) = mailboxes {
            self.led(delivery, mailboxes)?;
        }
        if verdict.decision == Decision::Discard {
            delivery.copies.clear();
        }
        delivery.tags.extend(tags);
        delivery.digest.from = from.or(delivery.digest.from.take());
        if let Some(subject) = subject {
            delivery.digest.subject = subject;
        }
        Ok(())
    }

    /// The message goes there instead. A mailbox that no recipient led to is one that all of them lead to now, and has its
    /// rate as any other.
    fn led(&self, delivery: &mut Delivery, mailboxes: Vec<Mailbox>) -> Result<()> {
        let mut before = std::mem::take(&mut delivery.copies);
        for mailbox in mailboxes {
            if delivery.copies.iter().any(|copy| copy.mailbox == mailbox) {
                continue;
            }
            let copy = match before.iter().position(|copy| copy.mailbox == mailbox) {
                Some(place) => before.swap_remove(place),
                None => {
                    self.pace.take(&mailbox).map_err(pace::too_often_for_mailbox)?;
                    parcel::copy_for_all(mailbox, &delivery.envelope.recipients)
                }
            };
            delivery.copies.push(copy);
        }
        Ok(())
    }

    fn tell_delivered(&self, told: Option<Vec<store::Item>>, filed: &[Filed]) {
        let (Some(hooks), Some(items)) = (self.listening(Moment::Delivered), told) else { return };
        for item in recent::named(items, filed) {
            hooks.after(After::Delivered(item.mailbox, item.summary));
        }
    }

    /// Put a message that was received before into one mailbox, as it is: no trace field, no policy, no hook. What an
    /// error means is the same as for a delivery.
    pub async fn import(&self, caller: &Caller, import: Import) -> Result<Filed> {
        let permit = self.access.permit(caller, Verb::Import, Target::Mailbox(&import.mailbox))?;
        let mut delivery = import.sort(self.begin(), self.naming, self.now());
        delivery.copies.iter_mut().for_each(|copy| copy.expires = self.end_of(&copy.mailbox));
        let mut filed = self.vault.open(&permit).append(delivery).await?;
        let unnamed = || store::Error::UnknownOutcome { why: "the engine named no place for the message".to_owned() };
        Ok(filed.pop().ok_or_else(unnamed)?)
    }

    /// When mail for this mailbox goes by itself: an inbox's with the inbox.
    fn end_of(&self, mailbox: &Mailbox) -> Option<Timestamp> {
        match self.access.inboxes.shape(mailbox) {
            Shape::Inbox(end) => Some(end),
            Shape::Ordinary | Shape::Mistyped => None,
        }
    }
}
