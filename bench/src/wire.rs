//! One connection: bytes out, lines and whole answers in, each within a deadline. It knows no protocol.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// So long a client waits for anything; a server that takes longer has failed.
pub const PATIENCE: Duration = Duration::from_secs(30);
const CHUNK: usize = 32 * 1024;
/// What one of many reads at once: their memory would add up.
const CHUNK_OF_MANY: usize = 2 * 1024;

/// What carries the bytes.
trait Carrier: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Carrier for T {}

/// A connection with what was read ahead.
pub struct Wire {
    carrier: Box<dyn Carrier>,
    read: Vec<u8>,
    /// So much of `read` has been handed out.
    used: usize,
    patience: Duration,
    chunk: usize,
    /// The certificate that the server showed, as DER.
    pub shown: Option<Vec<u8>>,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").field("ahead", &(self.read.len() - self.used)).finish_non_exhaustive()
    }
}

impl Wire {
    /// A connection without TLS.
    #[must_use]
    pub fn plain(stream: TcpStream) -> Self {
        Self::over(Box::new(stream))
    }

    fn over(carrier: Box<dyn Carrier>) -> Self {
        Self { carrier, read: Vec::new(), used: 0, patience: PATIENCE, chunk: CHUNK, shown: None }
    }

    /// As one of many that mostly wait: it reads little at once, and is so patient.
    #[must_use]
    pub fn waiting(self, patience: Duration) -> Self {
        Self { patience, chunk: CHUNK_OF_MANY, ..self }
    }

    /// The same connection with TLS from now on. Nothing may have been read ahead.
    pub async fn secure(self, tls: &Arc<ClientConfig>) -> Result<Self> {
        ensure!(self.read.len() == self.used, "the server spoke before the handshake");
        let name = ServerName::try_from("localhost").context("localhost is a name")?;
        let handshake = TlsConnector::from(Arc::clone(tls)).connect(name, self.carrier);
        let stream = timeout(PATIENCE, handshake).await.context("no handshake in time")?.context("the handshake")?;
        let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first()).map(|leaf| leaf.to_vec());
        Ok(Self { shown, ..Self::over(Box::new(stream)) })
    }

    /// Send these bytes.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let sending = async {
            self.carrier.write_all(bytes).await?;
            self.carrier.flush().await
        };
        timeout(PATIENCE, sending).await.context("the server takes nothing any more")?.context("while sending")
    }

    /// Say that nothing more will come.
    pub async fn end(&mut self) -> Result<()> {
        timeout(PATIENCE, self.carrier.shutdown()).await.context("the end was not taken")?.context("at the end")
    }

    /// Read once more; an error at the end.
    async fn fill(&mut self) -> Result<()> {
        if self.used == self.read.len() {
            self.read.clear();
            self.used = 0;
        }
        self.read.reserve(self.chunk);
        let reading = self.carrier.read_buf(&mut self.read);
        match timeout(self.patience, reading).await.context("no answer in time")?.context("while an answer was due")? {
            0 => bail!("the connection ended while an answer was due"),
            _ => Ok(()),
        }
    }

    /// The next line, without its CRLF.
    pub async fn line(&mut self) -> Result<String> {
        let mut looked = 0;
        loop {
            let ahead = &self.read[self.used..];
            if let Some(at) = ahead[looked..].iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8_lossy(&ahead[..looked + at]).trim_end_matches('\r').to_owned();
                self.used += looked + at + 1;
                return Ok(line);
            }
            looked = ahead.len();
            self.fill().await?;
        }
    }

    /// Everything up to and with these bytes, which are the last that the server sends for now.
    pub async fn answer(&mut self, end: &[u8]) -> Result<&[u8]> {
        while !self.read[self.used..].ends_with(end) {
            self.fill().await?;
        }
        let from = std::mem::replace(&mut self.used, self.read.len());
        Ok(&self.read[from..])
    }

    /// So many bytes.
    pub async fn exactly(&mut self, count: usize) -> Result<&[u8]> {
        while self.read.len() - self.used < count {
            self.fill().await?;
        }
        self.used += count;
        Ok(&self.read[self.used - count..self.used])
    }

    /// Whether nothing more came, nor comes within so long.
    pub async fn quiet_for(&mut self, time: Duration) -> bool {
        self.used == self.read.len() && timeout(time, self.carrier.read(&mut [0; 1])).await.is_err()
    }

    /// Whether the server closed, waiting so long for it; what it says before is dropped.
    pub async fn closed_within(&mut self, time: Duration) -> bool {
        let mut rest = [0; 1024];
        let reading = async { while !matches!(self.carrier.read(&mut rest).await, Ok(0) | Err(_)) {} };
        timeout(time, reading).await.is_ok()
    }
}
