//! The connection to a server: lines and content out, replies in, each within a time. It knows nothing of their meaning.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use memchr::memchr;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::reply::{LINE_MAX, Reply};

/// So many octets are handed on at a time, each within the time allowed.
const PIECE: usize = 64 << 10;
/// Time for a goodbye, which changes nothing any more, and for last words after a connection broke.
const GOODBYE: Duration = Duration::from_secs(2);

/// Why nothing came or went: to be read by people.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error("{0}")]
    Lost(String),
    #[error("what answers there is no SMTP server; check relay.host, relay.port and relay.tls")]
    Strange,
    #[error("TLS failed: {0}")]
    Tls(String),
}

pub(super) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Socket for S {}

/// A connection.
pub(super) struct Link {
    socket: Box<dyn Socket>,
    /// Read and not yet taken.
    ahead: Vec<u8>,
    timeout: Duration,
    /// By when all must be over.
    end: Instant,
    pub(super) is_encrypted: bool,
    /// Whether it leads to this machine and nowhere else.
    pub(super) is_local: bool,
}

impl Link {
    /// Connect, to the first address of a host that answers.
    pub(super) async fn connect(host: &str, port: u16, timeout: Duration, end: Instant) -> Result<Self, Broken> {
        let lost = |what: &dyn std::fmt::Display| Broken::Lost(format!("{host}:{port} cannot be reached: {what}"));
        let step = end.min(Instant::now() + timeout);
        let late = || lost(&format!("no answer within {} s", timeout.as_secs()));
        let found = timeout_at(step, tokio::net::lookup_host((host, port))).await.map_err(|_| late())?;
        let mut last = lost(&"this host has no address");
        for address in found.map_err(|error| lost(&error))? {
            match timeout_at(step, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    let _ = stream.set_nodelay(true);
                    return Ok(Self::over(Box::new(stream), timeout, end, address.ip().to_canonical().is_loopback()));
                }
                Ok(Err(error)) => last = lost(&error),
                Err(_) => return Err(late()),
            }
        }
        Err(last)
    }

    /// A connection that is there.
    pub(super) fn over(socket: Box<dyn Socket>, timeout: Duration, end: Instant, is_local: bool) -> Self {
        Self { socket, ahead: Vec::new(), timeout, end, is_encrypted: false, is_local }
    }

    /// The same connection under TLS, with whoever has a certificate for this name. What was said in the clear and not
    /// yet heard may have been put there by anybody: it ends the connection.
    pub(super) async fn encrypt(self, tls: Arc<ClientConfig>, name: ServerName<'static>) -> Result<Self, Broken> {
        if !self.ahead.is_empty() {
            return Err(Broken::Tls("the server spoke on in the clear before the handshake".to_owned()));
        }
        let Self { socket, timeout, end, is_local, .. } = self;
        let step = end.min(Instant::now() + timeout);
        match timeout_at(step, TlsConnector::from(tls).connect(name, socket)).await {
            Ok(Ok(stream)) => Ok(Self { is_encrypted: true, ..Self::over(Box::new(stream), timeout, end, is_local) }),
            Ok(Err(error)) => Err(Broken::Tls(error.to_string())),
            Err(_) => Err(Broken::Tls(format!("no handshake within {} s", timeout.as_secs()))),
        }
    }

    /// Read one reply.
    pub(super) async fn reply(&mut self) -> Result<Reply, Broken> {
        let step = self.step();
        let mut reply = Reply::default();
        loop {
            let line = self.line(step).await?;
            if reply.take(&line).map_err(|_| Broken::Strange)? {
                return Ok(reply);
            }
        }
    }

    /// Send a line and hear what the server says to it.
    pub(super) async fn ask(&mut self, line: &str) -> Result<Reply, Broken> {
        self.say(line).await?;
        self.reply().await
    }

    /// Send a line that is not answered yet.
    pub(super) async fn say(&mut self, line: &str) -> Result<(), Broken> {
        self.write(format!("{line}\r\n").as_bytes()).await
    }

    /// Send these octets, and hear what the server says to them. One that wants no more of them may say so and close
    /// before it has read them all: then that is what counts.
    pub(super) async fn hand_over(&mut self, octets: &[u8]) -> Result<Reply, Broken> {
        match self.write(octets).await {
            Ok(()) => self.reply().await,
            Err(broken) => {
                self.timeout = self.timeout.min(GOODBYE);
                self.reply().await.ok().filter(|reply| reply.code >= 400).ok_or(broken)
            }
        }
    }

    /// Take leave. Whatever happens, all is done that had to be done.
    pub(super) async fn quit(mut self) {
        self.timeout = self.timeout.min(GOODBYE);
        let _ = self.ask("QUIT").await;
        let _ = timeout_at(self.step(), self.socket.shutdown()).await;
    }

    fn step(&self) -> Instant {
        self.end.min(Instant::now() + self.timeout)
    }

    /// A line without its end.
    async fn line(&mut self, step: Instant) -> Result<Vec<u8>, Broken> {
        loop {
            if let Some(end) = memchr(b'\n', &self.ahead) {
                let line: Vec<u8> = self.ahead.drain(..=end).collect();
                return Ok(line.trim_ascii_end().to_vec());
            }
            if self.ahead.len() > LINE_MAX {
                return Err(Broken::Strange);
            }
            let mut piece = [0; 1024];
            match timed(step, self.timeout, self.socket.read(&mut piece)).await? {
                0 => return Err(Broken::Lost("the server closed the connection".to_owned())),
                count => self.ahead.extend_from_slice(&piece[..count]),
            }
        }
    }

    async fn write(&mut self, octets: &[u8]) -> Result<(), Broken> {
        for piece in octets.chunks(PIECE) {
            let step = self.step();
            timed(step, self.timeout, self.socket.write_all(piece)).await?;
        }
        let step = self.step();
        timed(step, self.timeout, self.socket.flush()).await
    }
}

async fn timed<T>(step: Instant, allowed: Duration, work: impl Future<Output = io::Result<T>>) -> Result<T, Broken> {
    match timeout_at(step, work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(Broken::Lost(format!("the connection was lost ({error})"))),
        Err(_) => Err(Broken::Lost(format!("the server did not answer within {} s", allowed.as_secs()))),
    }
}
