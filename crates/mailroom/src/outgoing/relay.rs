//! Who may be written to, and which mail goes on by itself: `relay.allow` and `[[relay.rule]]`. Pure: it asks nobody and
//! sends nothing.

use std::time::Duration;

use mail::{Address, Mailbox};
use rate::Quota;
use store::Delivery;

use crate::route::Glob;

/// The keys of the section `relay` that the mailroom minds. How the smart host is spoken to is the courier's business.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Whether there is a smart host (`relay.host`). Default: none, and nothing leaves.
    pub enabled: bool,
    /// `relay.allow`: to whom mail may be sent. Default: to nobody.
    pub allow: Vec<Allowed>,
    /// `relay.from`: the sender of the envelope; none: whoever the message came from.
    pub from: Option<Address>,
    /// `relay.rate`: to how many recipients mail may be sent in a time. Default 60 a minute.
    pub rate: Option<Quota>,
    /// `relay.recipients_max`: recipients of one release. Default 20.
    pub recipients_max: usize,
    /// `relay.kept`: how long it is told what became of a release. Default 7 days.
    pub kept: Duration,
    /// `relay.kept_max`: of how many. Default 2000.
    pub kept_max: usize,
    /// `[[relay.rule]]`, of which the first that fits a recipient decides.
    pub rules: Vec<Rule>,
}

/// Mail that goes on by itself. Both conditions must hold; a rule without any holds for all mail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// What it is called.
    pub name: String,
    /// `mailbox`: where it came to.
    pub mailbox: Option<Glob>,
    /// `recipient`: the address that it was for.
    pub recipient: Option<Glob>,
    /// `to`: who gets it; empty: the one that it was for.
    pub to: Vec<Address>,
}

/// An address, or a pattern of addresses: `alice@example.com`, `*@example.com`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allowed {
    glob: Glob,
    is_pattern: bool,
}

/// This says of nobody that mail may go there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("an address or a pattern with one @, as alice@example.com or *@example.com; no pattern stands for all domains")]
pub struct BadAllowed;

/// What a rule wants to go on, of one delivery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Forward<'a> {
    pub(crate) rule: &'a Rule,
    /// Where the message lies.
    pub(crate) mailbox: &'a Mailbox,
    pub(crate) to: Vec<Address>,
}

impl Rules {
    /// Whether mail may be sent to this address.
    pub fn allows(&self, address: &Address) -> bool {
        self.allow.iter().any(|allowed| allowed.covers(address))
    }

    /// What goes on by itself: once for each rule, whatever mailboxes it lies in, and to nobody who may not be written to.
    pub(crate) fn forwards<'a>(&'a self, delivery: &'a Delivery) -> Vec<Forward<'a>> {
        let mut forwards: Vec<Forward<'a>> = Vec::new();
        if !self.enabled || self.rules.is_empty() {
            return forwards;
        }
        for (mailbox, address) in led(delivery) {
            let Some(rule) = self.rules.iter().find(|rule| rule.fits(mailbox, address)) else { continue };
            let wanted = if rule.to.is_empty() { std::slice::from_ref(address) } else { &rule.to };
            let place = forwards.iter().position(|known| std::ptr::eq(known.rule, rule)).unwrap_or_else(|| {
                forwards.push(Forward { rule, mailbox, to: Vec::new() });
                forwards.len() - 1
            });
            for address in wanted {
                let to = &mut forwards[place].to;
                if self.allows(address) && !to.contains(address) && to.len() < self.recipients_max {
                    to.push(address.clone());
                }
            }
        }
        forwards.retain(|forward| !forward.to.is_empty());
        forwards
    }
}

/// Each mailbox with the addresses that led there. Where none did, as somebody else decided on it, all do.
fn led(delivery: &Delivery) -> impl Iterator<Item = (&Mailbox, &Address)> {
    let recipients = &delivery.envelope.recipients;
    delivery.copies.iter().flat_map(move |copy| {
        let is_named = recipients.iter().any(|recipient| recipient.mailbox == copy.mailbox);
        let here = recipients.iter().filter(move |recipient| !is_named || recipient.mailbox == copy.mailbox);
        here.map(move |recipient| (&copy.mailbox, &recipient.address))
    })
}

impl Rule {
    fn fits(&self, mailbox: &Mailbox, address: &Address) -> bool {
        self.mailbox.as_ref().is_none_or(|glob| glob.matches(mailbox.as_str()))
            && self.recipient.as_ref().is_none_or(|glob| glob.matches(&plain(address)))
    }
}

impl Allowed {
    /// Read one.
    pub fn parse(text: &str) -> Result<Self, BadAllowed> {
        let text = text.trim();
        let (local, domain) = text.rsplit_once('@').ok_or(BadAllowed)?;
        let is_pattern = text.contains(['*', '?']);
        let names_a_domain = domain.contains(|letter: char| letter.is_alphanumeric());
        let is_sound = !local.is_empty() && names_a_domain && !text.contains(char::is_whitespace);
        if !is_sound || is_pattern && local.contains('@') {
            return Err(BadAllowed);
        }
        Ok(Self { glob: Glob::new(text), is_pattern })
    }

    /// Whether mail may go there. A pattern covers no address whose local part would send a forgiving server elsewhere:
    /// `"eve@evil.test"@example.com`, `eve%evil.test@example.com`, `evil.test!eve@example.com`.
    fn covers(&self, address: &Address) -> bool {
        let leads_on = address.local().contains(['@', '%', '!']);
        !(self.is_pattern && leads_on) && self.glob.matches(&plain(address))
    }
}

/// The address without quotes.
fn plain(address: &Address) -> String {
    format!("{}@{}", address.local(), address.domain())
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.glob.fmt(out)
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            enabled: false,
            allow: Vec::new(),
            from: None,
            rate: Some(Quota { count: 60, per: Duration::from_secs(60) }),
            recipients_max: 20,
            kept: Duration::from_secs(7 * 24 * 60 * 60),
            kept_max: 2000,
            rules: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
