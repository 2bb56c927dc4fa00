//! Who asks.

use std::net::IpAddr;
use std::sync::Arc;

use mail::Mailbox;

use crate::access::Grant;

/// On whose behalf a verb is called. Edges say who it is; [`crate::access`] says what they may.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Caller {
    /// Nobody has shown a credential.
    Anonymous {
        /// Where they came from; none for a Unix socket.
        peer: Option<IpAddr>,
    },
    /// Somebody who said a name, with a password that nobody looked at.
    User {
        /// The name.
        name: String,
        /// Where they came from; none for a Unix socket.
        peer: Option<IpAddr>,
    },
    /// Whoever brings mail over SMTP or LMTP. Whom that door lets in is said by its own keys.
    Sender {
        /// The name they signed in with, if they did.
        user: Option<String>,
        /// Where they came from; none for a Unix socket.
        peer: Option<IpAddr>,
    },
    /// The bearer of a token.
    Token {
        /// What it is good for, as long as it is.
        grant: Arc<Grant>,
    },
    /// The bearer of an inbox's own secret.
    Inbox {
        /// The inbox.
        mailbox: Mailbox,
    },
    /// Postkeep itself.
    Program,
}

/// What somebody shows to say who they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Credential<'a> {
    /// Nothing.
    Nothing,
    /// A token, or an inbox's secret.
    Secret(&'a str),
    /// What the cookie of a login holds.
    Cookie(&'a str),
    /// A name, by the word of a proxy that is trusted.
    User(&'a str),
}
