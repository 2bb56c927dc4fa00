//! TLS for every listener: one certificate, handed over to each new handshake as it is at that moment.
//!
//! A handshake costs as much as hundreds of turns of a dialogue. In a lane it would hold up the sessions that run there,
//! so handshakes have a thread of their own, below the others in priority: whoever storms the door waits at it, and
//! those inside do not notice. How many are under way is bounded by the connections; one that stalls holds up nobody.

mod certificate;
mod desk;
mod keyring;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use tokio_rustls::TlsAcceptor;

use crate::ahead::Ahead;
use crate::counters::COUNTERS;
use crate::stream::Stream;
pub use certificate::{BadCertificate, Certificate};
use desk::Desk;
use keyring::Keyring;

/// How handshakes are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Time for a handshake, the wait for its turn included.
    pub handshake_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { handshake_timeout: Duration::from_secs(10) }
    }
}

/// What becomes of TLS on a connection that begins in the clear, where there is a certificate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TlsUse {
    /// It is offered.
    #[default]
    Offer,
    /// Nothing of worth is said without it; a Unix socket needs none.
    Require,
    /// It is not offered.
    Off,
}

/// What a handshake agreed on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Secured {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// The cipher suite by its registered name.
    pub cipher: String,
}

/// The server's side of TLS, for one protocol.
#[derive(Debug)]
pub struct Tls {
    keyring: Arc<Keyring>,
    config: Arc<ServerConfig>,
    shared: Arc<Shared>,
}

/// What the handshakes of all protocols share.
#[derive(Debug)]
struct Shared {
    desk: Desk,
    handshake_timeout: Duration,
}

impl Tls {
    /// TLS that speaks with this certificate; without one no handshake succeeds until [`Tls::replace`] brings it.
    pub fn new(certificate: Option<Certificate>, settings: Settings) -> io::Result<Arc<Self>> {
        let keyring = Arc::new(Keyring::new(certificate));
        let shared = Shared { desk: Desk::open()?, handshake_timeout: settings.handshake_timeout };
        Ok(Arc::new(Self { config: config(&keyring, &[])?, keyring, shared: Arc::new(shared) }))
    }

    /// The same for a protocol with a name of its own (RFC 7301): a client that names other protocols only is turned
    /// away, so that no browser can be led to a server that does not speak its language.
    pub fn speaking(&self, protocol: &str) -> io::Result<Arc<Self>> {
        let config = config(&self.keyring, &[protocol])?;
        Ok(Arc::new(Self { keyring: Arc::clone(&self.keyring), config, shared: Arc::clone(&self.shared) }))
    }

    /// Handshakes from now on show this certificate; sessions that run go on.
    pub fn replace(&self, certificate: Certificate) {
        self.keyring.replace(certificate);
    }

    /// Whether there is a certificate to show.
    pub fn is_ready(&self) -> bool {
        self.keyring.is_ready()
    }

    /// Go on under TLS, or lose the connection.
    pub async fn accept(&self, stream: Stream) -> io::Result<(Stream, Secured)> {
        let Stream::Plain(raw) = stream else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the connection is under TLS already"));
        };
        let handshake = self.shared.desk.run(raw, TlsAcceptor::from(Arc::clone(&self.config)));
        let shaken = match tokio::time::timeout(self.shared.handshake_timeout, handshake).await {
            Ok(shaken) => shaken.map(sealed),
            Err(_elapsed) => Err(io::Error::new(io::ErrorKind::TimedOut, "the handshake took too long")),
        };
        let counter = if shaken.is_ok() { &COUNTERS.handshakes } else { &COUNTERS.handshakes_failed };
        counter.increment(1);
        shaken
    }
}

fn config(keyring: &Arc<Keyring>, protocols: &[&str]) -> io::Result<Arc<ServerConfig>> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(io::Error::other)?.with_no_client_auth();
    let mut config = builder.with_cert_resolver(Arc::clone(keyring) as _);
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    // A client that comes back skips half of the work, and nothing is kept here for it: the ticket holds it all.
    config.ticketer = aws_lc_rs::Ticketer::new().map_err(io::Error::other)?;
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    config.send_tls13_tickets = 1;
    Ok(Arc::new(config))
}

fn sealed(stream: Box<tokio_rustls::server::TlsStream<Ahead>>) -> (Stream, Secured) {
    let (_, connection) = stream.get_ref();
    let version = match connection.protocol_version() {
        Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
        _ => "TLSv1.3",
    };
    let suite = connection.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str());
    let cipher = suite.unwrap_or_default().replacen("TLS13_", "TLS_", 1);
    (Stream::Tls(stream), Secured { version, cipher })
}

#[cfg(test)]
mod tests;
