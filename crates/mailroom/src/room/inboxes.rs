//! The verbs about inboxes. Opening one stores nothing: its name says it all.

use std::net::IpAddr;
use std::time::Duration;

use jiff::Timestamp;
use mail::address::Charset;
use mail::{Address, Mailbox, Naming};
use store::Position;

use super::Mailroom;
use crate::access::inbox::{self, LABEL_MAX, Shape};
use crate::access::{Target, Verb};
use crate::caller::Caller;
use crate::error::{Error, Result};

/// How an inbox is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NewInbox {
    /// What its name begins with.
    pub label: Option<String>,
    /// How long it lives.
    pub ttl: Option<Duration>,
    /// The domain of its address.
    pub domain: Option<String>,
}

/// An inbox that was opened. `Debug` does not show its secret.
#[derive(Clone, PartialEq, Eq)]
pub struct OpenedInbox {
    /// What is known of it to whoever knows its name.
    pub inbox: Inbox,
    /// What it opens to.
    pub secret: String,
}

/// An inbox.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inbox {
    /// Its mailbox.
    pub mailbox: Mailbox,
    /// Where to write to.
    pub address: Address,
    /// Until when it lives.
    pub expires: Timestamp,
}

impl Mailroom {
    /// Open an inbox. Nothing is stored: its name says it all.
    pub fn open_inbox(&self, caller: &Caller, new: &NewInbox, peer: Option<IpAddr>) -> Result<OpenedInbox> {
        self.access.permit(caller, Verb::Open, Target::Transaction)?;
        if let Some(wait) = peer.and_then(|peer| self.inboxes_pace.take(&rate::host(peer)).err()) {
            return Err(Error::TooOften { what: "inboxes opened from this address (inbox.rate_per_ip)", wait });
        }
        self.judge_inbox(new)?;
        let rules = &self.access.rules.inbox;
        let (ttl, domain) = (new.ttl.unwrap_or(rules.ttl_default), new.domain.as_deref().unwrap_or(&rules.domain));
        let domain = self.domain(domain)?;
        let made = self.access.inboxes.make(new.label.as_deref(), &domain, self.now(), ttl)?;
        let (local, expires) = made.ok_or_else(|| self.no_inboxes())?;
        let inbox = self.at(&format!("{local}@{domain}"), expires)?;
        let refused = self.policy.recipient(&inbox.address).is_refusal();
        if refused {
            return Err(Error::BadInbox(format!(
                "mail for {domain} is refused by [policy] of this server; name another domain, or set inbox.domain"
            )));
        }
        let secret = self.access.inboxes.secret(&inbox.mailbox).ok_or_else(|| self.no_inboxes())?;
        Ok(OpenedInbox { inbox, secret })
    }

    fn judge_inbox(&self, new: &NewInbox) -> Result<()> {
        let ttl_max = self.access.rules.inbox.ttl_max;
        match new {
            NewInbox { label: Some(label), .. } if !inbox::is_label(label) => Err(Error::BadInbox(format!(
                "a label is 1 to {LABEL_MAX} of the characters a to z, 0 to 9 and -; choose another, or leave it out"
            ))),
            NewInbox { ttl: Some(ttl), .. } if *ttl > ttl_max || ttl.is_zero() => Err(Error::BadInbox(format!(
                "an inbox lives up to {} s here (inbox.ttl_max); ask for less, and open another when it is over",
                ttl_max.as_secs()
            ))),
            _ => Ok(()),
        }
    }

    /// A domain as it stands in a mailbox's name.
    fn domain(&self, text: &str) -> Result<String> {
        let canonical = Naming::Domain.named(text).map_err(|_| Error::BadInbox(format!("{text:?} is no domain")))?;
        Ok(canonical.as_str().to_owned())
    }

    fn no_inboxes(&self) -> Error {
        let instead = match self.naming {
            Naming::Domain => "set mailbox.naming to \"local\" or \"full\"",
            _ => "set access.key_file to the same file on every node",
        };
        store::Error::Unsupported { what: "open inboxes", instead }.into()
    }

    fn at(&self, address: &str, expires: Timestamp) -> Result<Inbox> {
        let bad = |_| Error::BadInbox("the address would be too long; choose a shorter label or domain".to_owned());
        let address = Address::parse(address, Charset::Utf8).map_err(bad)?;
        let mailbox = self.naming.mailbox(&address).map_err(|why| Error::BadInbox(why.to_string()))?;
        Ok(Inbox { mailbox, address, expires })
    }

    /// What an inbox is, for whoever may list it; none when it is none.
    pub fn read_inbox(&self, caller: &Caller, mailbox: &Mailbox) -> Result<Option<Inbox>> {
        self.access.permit(caller, Verb::List, Target::Mailbox(mailbox))?;
        let Shape::Inbox(expires) = self.access.inboxes.shape(mailbox) else { return Ok(None) };
        let address = match self.naming {
            Naming::Full => mailbox.as_str().to_owned(),
            _ => format!("{mailbox}@{}", self.domain(&self.access.rules.inbox.domain)?),
        };
        self.at(&address, expires).map(Some)
    }

    /// Empty an inbox for good as far as its test goes: mail is taken for it until it expires. None when it is none.
    pub async fn close_inbox(&self, caller: &Caller, mailbox: &Mailbox) -> Result<Option<u64>> {
        let permit = self.access.permit(caller, Verb::Purge, Target::Mailbox(mailbox))?;
        let Shape::Inbox(_) = self.access.inboxes.shape(mailbox) else { return Ok(None) };
        Ok(Some(self.empty(self.vault.open(&permit), mailbox, Position::END).await?))
    }

    /// What a mailbox is by its name: an inbox, something that looks like one, or neither.
    pub fn shape(&self, mailbox: &Mailbox) -> Shape {
        self.access.inboxes.shape(mailbox)
    }
}

impl std::fmt::Debug for OpenedInbox {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inbox.fmt(out)
    }
}
