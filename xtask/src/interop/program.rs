//! What every mail program of the trial is: something with a name and a version that is handed letters and a server, and
//! says of each letter how it went. It knows nothing of how any of them is called.

use std::fmt;

use anyhow::Result;

use super::corpus::Letter;
use super::site::Site;

/// How a program reaches the server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Transport {
    /// Without TLS.
    Plain,
    /// Plain at first, then upgraded: STARTTLS in SMTP, STLS in POP3.
    StartTls,
    /// TLS from the first octet, at a door of its own.
    Tls,
}

impl Transport {
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::StartTls, Self::Tls];

    /// A word for mailboxes, files and job descriptions.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::StartTls => "starttls",
            Self::Tls => "tls",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::StartTls => "STARTTLS",
            Self::Tls => "TLS",
        })
    }
}

/// How one letter went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// What was kept, or read, is to the octet what was sent.
    Equal,
    /// This program cannot send or read such a letter, and why.
    Unable(String),
    /// What differs: a defect, ours or theirs.
    Wrong(String),
}

/// A mail program.
pub(crate) trait Program: Sync {
    /// As people call it; also a part of mailboxes' names, so in small letters, digits and dashes.
    fn name(&self) -> &'static str;

    /// Its version, or why it is not here.
    fn version(&self) -> Result<String, String>;

    /// Send or read these letters; one outcome for each, in their order.
    fn run(&self, site: &Site, transport: Transport, letters: &[Letter]) -> Result<Vec<Outcome>>;

    /// Why it cannot go this way at all, if so.
    fn refuses(&self, _transport: Transport) -> Option<&'static str> {
        None
    }

    /// Bring it onto this machine. Called only when it is not here.
    fn install(&self) -> Result<()>;
}
