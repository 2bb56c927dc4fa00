//! What SMTP said about a message, which its header may contradict. Kept whole beside the bytes.

use std::net::IpAddr;

use crate::address::Address;
use crate::id::TransactionId;
use crate::mailbox::Mailbox;

#[cfg(test)]
mod tests;

/// The sender of MAIL FROM: an address, or the null sender `<>`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ReversePath(pub Option<Address>);

/// One accepted RCPT TO and the mailbox it leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recipient {
    /// The address as given.
    pub address: Address,
    /// Where it leads by the naming policy.
    pub mailbox: Mailbox,
}

/// The whole envelope: every recipient, those of a blind copy included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// The transaction that brought the message.
    pub transaction: TransactionId,
    /// MAIL FROM.
    pub reverse_path: ReversePath,
    /// Every RCPT TO that was accepted, in order.
    pub recipients: Vec<Recipient>,
    /// How the message came.
    pub transport: Transport,
}

/// How a message came in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transport {
    /// Through which door.
    pub door: Door,
    /// Whether the client asked for SMTPUTF8 (RFC 6531).
    pub utf8: bool,
    /// The name given with EHLO or HELO; it holds no control character.
    pub helo: String,
    /// The client's address; none for a Unix socket or an import.
    pub peer: Option<IpAddr>,
    /// TLS version and cipher suite, when there was TLS.
    pub tls: Option<String>,
    /// The user name of AUTH, when there was one.
    pub auth_user: Option<String>,
}

/// The doors through which mail comes in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Door {
    /// SMTP after HELO.
    Smtp,
    /// SMTP after EHLO.
    Esmtp,
    /// LMTP.
    Lmtp,
    /// REST.
    Http,
    /// `store import`.
    Import,
}

impl Transport {
    /// The registered word behind `with` in the trace field (RFC 3848, RFC 6531 §4.3): `ESMTPS`, `UTF8SMTPA`, …
    pub fn protocol(&self) -> &'static str {
        let words: [&'static str; 4] = match (self.door, self.utf8) {
            // HELO has no extensions, so nothing of them is told.
            (Door::Smtp, _) => return "SMTP",
            (Door::Http, _) => return "HTTP",
            (Door::Import, _) => return "local",
            (Door::Esmtp, false) => ["ESMTP", "ESMTPA", "ESMTPS", "ESMTPSA"],
            (Door::Esmtp, true) => ["UTF8SMTP", "UTF8SMTPA", "UTF8SMTPS", "UTF8SMTPSA"],
            (Door::Lmtp, false) => ["LMTP", "LMTPA", "LMTPS", "LMTPSA"],
            (Door::Lmtp, true) => ["UTF8LMTP", "UTF8LMTPA", "UTF8LMTPS", "UTF8LMTPSA"],
        };
        words[2 * usize::from(self.tls.is_some()) + usize::from(self.auth_user.is_some())]
    }
}
