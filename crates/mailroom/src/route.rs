//! Which mailbox mail goes to when its address is not what names it: ordered rules, of which the first that fits decides.
//!
//! Pure: it asks nobody whether that mailbox may be used; whoever applies it does.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::str::FromStr;

use mail::mailbox::BadName;
use mail::{Address, Envelope, Mailbox, Naming, Recipient, header};

use crate::caller::Caller;
use crate::glob;
use crate::parcel::Parcel;

/// Octets of a header field's value that a rule looks at. A mailbox's name is shorter.
const VALUE_MAX: usize = 1024;

/// A rule: `[[mailbox.route]]`. All of its conditions must hold; without any it holds for all mail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// `login`: the name that was signed in with.
    pub login: Option<Glob>,
    /// `peer`: where it came from. Empty: from anywhere.
    pub peer: Vec<RangeInclusive<IpAddr>>,
    /// `recipient`: the address that it is for.
    pub recipient: Option<Glob>,
    /// `header`: a field and its value.
    pub header: Option<Header>,
    /// `mailbox`: where it goes.
    pub mailbox: Template,
}

/// A header field that a rule asks for; of one that stands several times the first counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Its name, in any case.
    pub name: String,
    /// Its value, decoded and without folds.
    pub value: Glob,
}

/// A pattern that letters match in either case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glob(String);

/// The name of a mailbox with places to fill: `{login}`, `{local}`, `{domain}`, `{header}`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template(Vec<Piece>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    Text(String),
    Place(Place),
}

/// What a place is filled with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The name that was signed in with.
    Login,
    /// What stands before the @ of the recipient.
    Local,
    /// What stands behind it.
    Domain,
    /// The value of the header field that the rule asks for.
    Header,
}

/// This text is no template.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadTemplate {
    /// Nothing at all.
    #[error("is empty; write the name of a mailbox")]
    Empty,
    /// A place that there is not.
    #[error("has a place {{{0}}}; there are {{login}}, {{local}}, {{domain}} and {{header}}")]
    Unknown(String),
    /// A brace that opens or closes nothing.
    #[error("has a brace on its own; write a place as {{login}}")]
    Brace,
}

/// All rules, and the naming for what none of them fits.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    rules: Vec<Route>,
    naming: Naming,
}

/// What is known of a message that a rule may ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    login: Option<&'a str>,
    peer: Option<IpAddr>,
    recipient: &'a Address,
    /// None: it has not come yet, and rules that ask for its header do not fit.
    raw: Option<&'a [u8]>,
}

impl<'a> Facts<'a> {
    /// When a recipient is named.
    pub(crate) fn at_rcpt(caller: &'a Caller, recipient: &'a Address) -> Self {
        let (login, peer) = match caller {
            Caller::Sender { user, peer } => (user.as_deref(), *peer),
            Caller::User { name, peer } => (Some(name.as_str()), *peer),
            Caller::Anonymous { peer } => (None, *peer),
            Caller::Token { .. } | Caller::Inbox { .. } | Caller::Program => (None, None),
        };
        Self { login, peer, recipient, raw: None }
    }

    /// When the message is there.
    pub(crate) fn at_data(envelope: &'a Envelope, recipient: &'a Recipient, raw: &'a [u8]) -> Self {
        let transport = &envelope.transport;
        let (login, peer) = (transport.auth_user.as_deref(), transport.peer);
        Self { login, peer, recipient: &recipient.address, raw: Some(raw) }
    }
}

impl Routes {
    pub(crate) fn new(rules: Vec<Route>, naming: Naming) -> Self {
        Self { rules, naming }
    }

    /// Where it goes. What a rule says that can be no name is as if no rule had fitted.
    pub(crate) fn mailbox(&self, facts: Facts<'_>) -> Result<Mailbox, BadName> {
        let led = self.rules.iter().find_map(|rule| rule.leads(facts)).and_then(|name| self.naming.named(&name).ok());
        led.map_or_else(|| self.naming.mailbox(facts.recipient), Ok)
    }
}

/// An envelope of which each recipient leads to where the message itself says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Settled {
    pub(crate) envelope: Envelope,
    /// The mailboxes that it did not lead to before, each once.
    pub(crate) others: BTreeSet<Mailbox>,
}

impl Routes {
    /// Lead each recipient that is not discarded to its mailbox; none when all stays as it is. The addresses stay as they
    /// were given.
    pub(crate) fn settle(&self, parcel: &Parcel) -> Option<Settled> {
        if self.rules.is_empty() {
            return None;
        }
        let (mut envelope, mut others) = (Envelope::clone(&parcel.envelope), BTreeSet::new());
        for (index, recipient) in envelope.recipients.iter_mut().enumerate() {
            let facts = Facts::at_data(&parcel.envelope, &parcel.envelope.recipients[index], &parcel.raw);
            match self.mailbox(facts) {
                Ok(mailbox) if mailbox != recipient.mailbox => {
                    if !parcel.discarded.contains(&index) {
                        others.insert(mailbox.clone());
                    }
                    recipient.mailbox = mailbox;
                }
                _ => {}
            }
        }
        if envelope == *parcel.envelope {
            return None;
        }
        let judged: BTreeSet<&Mailbox> = parcel.envelope.recipients.iter().map(|known| &known.mailbox).collect();
        others.retain(|mailbox| !judged.contains(mailbox));
        Some(Settled { envelope, others })
    }
}

impl Route {
    /// The name that it leads to, if it fits and has something for every place.
    fn leads(&self, facts: Facts<'_>) -> Option<String> {
        let by_login = |glob: &Glob| facts.login.is_some_and(|login| glob.matches(login));
        let by_recipient = |glob: &Glob| glob.matches(&plain(facts.recipient));
        let by_peer = facts.peer.is_some_and(|peer| self.peer.iter().any(|range| range.contains(&peer.to_canonical())));
        let fits = self.login.as_ref().is_none_or(by_login)
            && (self.peer.is_empty() || by_peer)
            && self.recipient.as_ref().is_none_or(by_recipient);
        let value = match &self.header {
            Some(wanted) if fits => Some(wanted.find(facts.raw?)?),
            _ => None,
        };
        if fits { self.mailbox.fill(facts, value.as_deref()) } else { None }
    }
}

impl Header {
    /// The value of the field, if it is there and fits.
    fn find(&self, raw: &[u8]) -> Option<String> {
        let field = header::fields(raw).find(|field| field.is(&self.name))?;
        let flat = header::unfold(&field.value[..field.value.len().min(VALUE_MAX)]);
        let value = header::decode_words(&flat);
        self.value.matches(value.trim()).then(|| value.trim().to_owned())
    }
}

/// The address without quotes.
fn plain(address: &Address) -> String {
    format!("{}@{}", address.local(), address.domain())
}

impl Glob {
    /// A pattern as it is written; none matches nothing but the empty text.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_lowercase())
    }

    /// Whether a text is one of these.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let is_lower = !text.chars().any(char::is_uppercase);
        let text = if is_lower { Cow::Borrowed(text) } else { Cow::Owned(text.to_lowercase()) };
        glob::matches(&self.0, &text)
    }
}

impl Template {
    /// Whether it has this place.
    pub fn has(&self, place: Place) -> bool {
        self.0.contains(&Piece::Place(place))
    }

    fn fill(&self, facts: Facts<'_>, header: Option<&str>) -> Option<String> {
        let mut name = String::new();
        for piece in &self.0 {
            name.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Place(Place::Login) => facts.login?,
                Piece::Place(Place::Local) => facts.recipient.local(),
                Piece::Place(Place::Domain) => facts.recipient.domain(),
                Piece::Place(Place::Header) => header?,
            });
        }
        Some(name)
    }
}

impl FromStr for Template {
    type Err = BadTemplate;

    fn from_str(text: &str) -> Result<Self, BadTemplate> {
        let (mut pieces, mut rest) = (Vec::new(), text.trim());
        while let Some(at) = rest.find(['{', '}']) {
            if at > 0 {
                pieces.push(Piece::Text(rest[..at].to_owned()));
            }
            let place = rest[at..].strip_prefix('{').ok_or(BadTemplate::Brace)?;
            let (name, behind) = place.split_once('}').ok_or(BadTemplate::Brace)?;
            pieces.push(Piece::Place(Place::named(name)?));
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        if pieces.is_empty() { Err(BadTemplate::Empty) } else { Ok(Self(pieces)) }
    }
}

impl Place {
    fn named(name: &str) -> Result<Self, BadTemplate> {
        match name {
            "login" => Ok(Self::Login),
            "local" => Ok(Self::Local),
            "domain" => Ok(Self::Domain),
            "header" => Ok(Self::Header),
            other => Err(BadTemplate::Unknown(other.to_owned())),
        }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
