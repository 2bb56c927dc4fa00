//! What scripts are asked and told, owned by the event so that it can go to another thread.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use mail::{Address, Author, Letter, Mailbox, ReversePath, Summary};
use mailroom::Caller;
use mailroom::hooks::{After, Arriving, Handling, Moment, Opinion, Visit};

use crate::settings::Settings;

/// Something that scripts are asked or told.
#[derive(Clone)]
pub(crate) enum Event {
    MailFrom(Arc<Transaction>),
    RcptTo(Arc<Transaction>),
    Message(Arc<Paper>),
    Delivered(Arc<Kept>),
    Deleted(Arc<Kept>),
}

/// What scripts make of it.
#[derive(Debug)]
pub(crate) enum Said {
    Opinion(Opinion),
    Handling(Box<Handling>),
    Nothing,
}

/// A transaction as far as it has come.
pub(crate) struct Transaction {
    pub(crate) sender: ReversePath,
    pub(crate) accepted: Vec<Address>,
    /// Whom the question is about.
    pub(crate) recipient: Option<Address>,
    pub(crate) client: Client,
}

/// Who brings mail.
#[derive(Clone, Default)]
pub(crate) struct Client {
    pub(crate) helo: Option<String>,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) user: Option<String>,
}

/// A message that is not kept yet, taken apart only when somebody asks for its inside.
pub(crate) struct Paper {
    pub(crate) arriving: Arriving,
    letter: OnceLock<Letter>,
}

/// A message that was kept, or was until now.
pub(crate) struct Kept {
    pub(crate) mailbox: Mailbox,
    pub(crate) summary: Arc<Summary>,
}

impl Event {
    pub(crate) fn moment(&self) -> Moment {
        match self {
            Self::MailFrom(_) => Moment::MailFrom,
            Self::RcptTo(_) => Moment::RcptTo,
            Self::Message(_) => Moment::Message,
            Self::Delivered(_) => Moment::Delivered,
            Self::Deleted(_) => Moment::Deleted,
        }
    }

    pub(crate) fn of(after: After) -> Self {
        match after {
            After::Delivered(mailbox, summary) => Self::Delivered(Arc::new(Kept { mailbox, summary })),
            After::Deleted(mailbox, summary) => Self::Deleted(Arc::new(Kept { mailbox, summary })),
        }
    }

    /// Whether it has happened already, so that nobody waits for what scripts make of it.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self, Self::Delivered(_) | Self::Deleted(_))
    }

    /// What is said when no script has anything to say.
    pub(crate) fn usual(&self) -> Said {
        match self {
            Self::MailFrom(_) | Self::RcptTo(_) => Said::Opinion(Opinion::Defer),
            Self::Message(_) => Said::Handling(Box::new(Handling::USUAL)),
            Self::Delivered(_) | Self::Deleted(_) => Said::Nothing,
        }
    }
}

impl Transaction {
    pub(crate) fn of(visit: &Visit<'_>, recipient: Option<&Address>) -> Self {
        Self {
            sender: visit.sender.clone(),
            accepted: visit.accepted.iter().map(|recipient| recipient.address.clone()).collect(),
            recipient: recipient.cloned(),
            client: Client::of(visit.caller, visit.helo),
        }
    }
}

impl Client {
    fn of(caller: &Caller, helo: Option<&str>) -> Self {
        let (user, peer) = match caller {
            Caller::Anonymous { peer } => (None, *peer),
            Caller::User { name, peer } => (Some(name.clone()), *peer),
            Caller::Sender { user, peer } => (user.clone(), *peer),
            Caller::Token { .. } | Caller::Inbox { .. } | Caller::Program => (None, None),
        };
        Self { helo: helo.map(str::to_owned), peer, user }
    }
}

impl Paper {
    pub(crate) fn new(arriving: Arriving) -> Self {
        Self { arriving, letter: OnceLock::new() }
    }

    /// The bytes as far as scripts see them; whether that is all.
    pub(crate) fn source(&self, settings: &Settings) -> (&[u8], bool) {
        let raw = &self.arriving.raw;
        (&raw[..raw.len().min(settings.source_max)], raw.len() <= settings.source_max)
    }

    /// The message taken apart, as far as scripts see it.
    pub(crate) fn letter(&self, settings: &Settings) -> &Letter {
        self.letter.get_or_init(|| Letter::of(self.source(settings).0, &settings.letter.without_finds()))
    }

    /// The first address of From, else the envelope's sender.
    pub(crate) fn author(&self) -> Author {
        let sender = || Author { name: String::new(), email: written(&self.arriving.envelope.reverse_path) };
        self.arriving.digest.from.clone().unwrap_or_else(sender)
    }
}

/// A sender as text; empty for the null sender.
pub(crate) fn written(sender: &ReversePath) -> String {
    sender.0.as_ref().map(ToString::to_string).unwrap_or_default()
}
