//! Why somebody may not do what was asked. Each edge tells these apart.

use jiff::Timestamp;
use mail::Mailbox;

use super::Target;
use super::verb::Verb;

/// The scope that would have been enough, as `list:alice`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Need(String);

/// Why not, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Denial {
    /// Nobody has shown who asks, where that must be shown for anything.
    #[error("nothing is to be had here without a token: send one as \"Authorization: Bearer pkt_…\"")]
    Nobody,
    /// Nobody has shown who asks, or what they showed is good no more.
    #[error("{0} is not allowed without a token here: send one as \"Authorization: Bearer pkt_…\"")]
    Unauthorized(Need),
    /// What was shown is not good for this.
    #[error("the token that was shown is not good for {0}: ask whoever runs this server for one that is")]
    Forbidden(Need),
    /// It is an inbox, which has a secret of its own. A name that only looks like one is told apart by nothing.
    #[error("this is an inbox: show the secret that came with it when it was opened (pki_…), or an admin's token")]
    SecretRequired,
    /// Nobody may this in public mode without a token.
    #[error("{0} is not for everybody in public mode: show a token that is good for it")]
    NotInPublicMode(Need),
    /// What would outlive the open mode is not written in it.
    #[error("{verb} is not done in open mode, where everybody could: set access.mode, or use \"postkeep token new\"")]
    NotInOpenMode {
        /// What was asked.
        verb: &'static str,
    },
    /// What leaves the open mode for real people needs more than that somebody asks.
    #[error(
        "in open mode mail is released only from the server's own machine, or with a token that is good for it: send one as \
         \"Authorization: Bearer pkt_…\""
    )]
    ReleaseNeedsToken,
    /// The inbox was one until this moment.
    #[error("this inbox has expired: open another")]
    InboxExpired {
        /// When it did.
        at: Timestamp,
    },
    /// Mail for a name that looks like an inbox and is none.
    #[error("there is no such inbox: its name is mistyped, or the key that made it is gone")]
    NoInbox,
}

impl Need {
    pub(crate) fn of(verb: Verb, target: Target<'_>) -> Self {
        let verb = verb.scoped().name();
        Self(match target {
            Target::Mailbox(mailbox) => format!("{verb}:{mailbox}"),
            Target::Transaction | Target::Any | Target::All => format!("{verb}:*"),
        })
    }

    /// As a scope is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Need {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl Denial {
    /// The scope that would have been enough, where one would.
    pub fn needs(&self) -> Option<&str> {
        match self {
            Self::Unauthorized(need) | Self::Forbidden(need) | Self::NotInPublicMode(need) => Some(need.as_str()),
            _ => None,
        }
    }

    /// What only an admin may.
    pub(crate) fn admin(mailbox: &Mailbox) -> Need {
        Need::of(Verb::Admin, Target::Mailbox(mailbox))
    }
}
