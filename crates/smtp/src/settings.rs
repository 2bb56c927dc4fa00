//! The keys of the section `smtp`, ready to use.

use std::time::Duration;

use mail::trace::Peer;
use net::Plaintext;
use net::tls::TlsUse;

/// How the SMTP server behaves. Each field is the key of the same name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The name in the greeting and in trace fields.
    pub hostname: String,
    /// Octets of a message after unstuffing, without our trace fields.
    pub message_max: u64,
    /// Octets of a message that is too large which are read and dropped, so that the client hears why.
    pub oversize_drain_max: u64,
    /// Recipients of one transaction.
    pub recipients_max: usize,
    /// Octets of a command line without its CRLF.
    pub line_max: usize,
    /// Connections at once.
    pub connections_max: usize,
    /// Connections at once from one address; 0 is no limit.
    pub connections_per_ip_max: usize,
    /// Octets of unfinished messages over all connections.
    pub in_flight_max: u64,
    /// Commands in error before the session ends; delivered mail resets the count.
    pub errors_max: u32,
    /// Commands that bring no mail (NOOP, RSET, VRFY, HELP) before the session ends; delivered mail resets the count.
    pub idle_commands_max: u32,
    /// `Received` fields in a message; more is a loop.
    pub received_max: usize,
    /// Time for the next command to begin.
    pub idle_timeout: Duration,
    /// Time from the first octet of a command line to its end.
    pub line_timeout: Duration,
    /// Time between two pieces of a message.
    pub data_timeout: Duration,
    /// Time from MAIL to the end of its message.
    pub transaction_timeout: Duration,
    /// Time for a client to take what is said to it.
    pub write_timeout: Duration,
    /// Wait before the greeting; a client that speaks first is then turned away. Zero is no wait.
    pub greeting_delay: Duration,
    /// Wait before each refusal. Zero is no wait.
    pub tarpit: Duration,
    /// What becomes of a CR or LF on its own in DATA.
    pub bare_newlines: BareNewlines,
    /// Whether trace fields name the client (`smtp.trace_peer`).
    pub trace_peer: Peer,
    /// What becomes of TLS, where there is a certificate.
    pub tls: TlsUse,
    /// Whether AUTH is offered (`smtp.auth` is not `off`); who may sign in is the mailroom's business.
    pub auth: bool,
    /// Whether MAIL needs AUTH before it.
    pub auth_required: bool,
    /// Where a password may come in the clear.
    pub auth_plaintext: Plaintext,
}

/// What becomes of a CR or LF on its own in DATA.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BareNewlines {
    /// The message is refused and the connection closed.
    #[default]
    Reject,
    /// A bare LF becomes CRLF, but never an end of data.
    Normalize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hostname: "localhost".into(),
            message_max: 25 << 20,
            oversize_drain_max: 64 << 20,
            recipients_max: 1000,
            line_max: 2048,
            connections_max: 12_000,
            connections_per_ip_max: 500,
            in_flight_max: 256 << 20,
            errors_max: 20,
            idle_commands_max: 100,
            received_max: 50,
            idle_timeout: Duration::from_secs(300),
            line_timeout: Duration::from_secs(60),
            data_timeout: Duration::from_secs(180),
            transaction_timeout: Duration::from_secs(900),
            write_timeout: Duration::from_secs(60),
            greeting_delay: Duration::ZERO,
            tarpit: Duration::ZERO,
            bare_newlines: BareNewlines::Reject,
            trace_peer: Peer::Shown,
            tls: TlsUse::Offer,
            auth: true,
            auth_required: false,
            auth_plaintext: Plaintext::Private,
        }
    }
}
