//! How much of a message's envelope is shown, and to whom.

use mail::{Address, Envelope, Mailbox, Recipient};

use super::Mailroom;
use crate::access::{Mode, Target, Verb};
use crate::caller::Caller;

/// How much of a message's envelope is shown to a caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen<'a> {
    /// The recipients that led to this mailbox, and those others whose mailboxes the caller may list.
    pub rcpt_to: Vec<&'a Address>,
    /// How many others there are; none: that is not told.
    pub others: Option<usize>,
    /// Whether it is told how the message came.
    pub transport: bool,
}

impl Mailroom {
    /// How much of an envelope a caller sees who may read a message of this mailbox.
    pub fn seen<'a>(&self, caller: &Caller, mailbox: &Mailbox, envelope: &'a Envelope) -> Seen<'a> {
        let transport = self.sees_transport(caller, mailbox);
        let is_shown = |recipient: &&Recipient| {
            recipient.mailbox == *mailbox || transport && self.may_themselves(caller, Verb::List, &recipient.mailbox)
        };
        let rcpt_to: Vec<&Address> =
            envelope.recipients.iter().filter(is_shown).map(|recipient| &recipient.address).collect();
        Seen { others: transport.then(|| envelope.recipients.len() - rcpt_to.len()), rcpt_to, transport }
    }

    /// What a caller may do on one mailbox at least.
    pub fn verbs(&self, caller: &Caller) -> Vec<&'static str> {
        let able = Verb::ALL.into_iter().filter(|verb| self.access.may_somewhere(caller, *verb));
        able.map(Verb::name).collect()
    }

    /// Whether a caller is told how mail came to this mailbox, and who else got it.
    pub fn sees_transport(&self, caller: &Caller, mailbox: &Mailbox) -> bool {
        self.may_themselves(caller, Verb::Read, mailbox)
    }

    /// Whether a caller may, and not only because everybody may in public mode.
    fn may_themselves(&self, caller: &Caller, verb: Verb, mailbox: &Mailbox) -> bool {
        let themselves = match caller {
            _ if self.access.rules.mode != Mode::Public => true,
            Caller::Token { grant } => grant.grants(verb, Target::Mailbox(mailbox)),
            Caller::Inbox { mailbox: own } => own == mailbox,
            Caller::Program => true,
            _ => false,
        };
        themselves && self.may(caller, verb, mailbox)
    }
}
