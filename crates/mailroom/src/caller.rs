//! Who asks.

use std::net::IpAddr;

use mail::Mailbox;

/// On whose behalf a verb is called. Edges say who it is; [`crate::access`] says what they may.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Caller {
    /// Nobody has shown a credential.
    Anonymous {
        /// Where they came from; none for a Unix socket.
        peer: Option<IpAddr>,
    },
    /// Somebody who signed in with a name and a password.
    User {
        /// The name.
        name: String,
        /// Where they came from; none for a Unix socket.
        peer: Option<IpAddr>,
    },
    /// The bearer of a token.
    Token {
        /// The token's id, never its secret.
        id: String,
    },
    /// The bearer of an inbox's own secret.
    Inbox {
        /// The inbox.
        mailbox: Mailbox,
    },
    /// Postkeep itself.
    Program,
}
