//! The keys of the section `pop3`, ready to use.

use std::time::Duration;

use net::Plaintext;

pub use net::tls::TlsUse;

/// How the POP3 server behaves. Each field but the host name is the key of the same name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The name in the greeting; the same as SMTP's.
    pub hostname: String,
    /// Messages that one session sees, the newest of its mailbox.
    pub messages_max: usize,
    /// Octets of a command line without its CRLF.
    pub line_max: usize,
    /// Connections at once.
    pub connections_max: usize,
    /// Connections at once from one address; 0 is no limit.
    pub connections_per_ip_max: usize,
    /// Octets of messages and lists that are held for all sessions at once.
    pub answers_max: u64,
    /// Commands in error before the session ends.
    pub errors_max: u32,
    /// Time for the next command to begin (RFC 1939 §3 wants ten minutes at least).
    pub idle_timeout: Duration,
    /// Time from the first octet of a command line to its end.
    pub line_timeout: Duration,
    /// Time for a client to take one piece of an answer.
    pub write_timeout: Duration,
    /// Time for a client to take a whole answer.
    pub answer_timeout: Duration,
    /// Whether STLS is offered, or wanted before anybody signs in.
    pub tls: TlsUse,
    /// Where a password may come in the clear.
    pub auth_plaintext: Plaintext,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hostname: "localhost".into(),
            messages_max: 10_000,
            line_max: 512,
            connections_max: 2000,
            connections_per_ip_max: 500,
            answers_max: 256 << 20,
            errors_max: 20,
            idle_timeout: Duration::from_secs(600),
            line_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            answer_timeout: Duration::from_secs(900),
            tls: TlsUse::Offer,
            auth_plaintext: Plaintext::Private,
        }
    }
}
