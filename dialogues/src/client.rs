//! A client that sends bytes as given and reads replies line by line. It does not know what a reply means, and waits for
//! nothing longer than [`PATIENCE`].

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::certificate;

/// Nothing in a test takes longer.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// What a client can talk over.
pub trait Ends: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Ends for S {}

/// A client of the server at this port of loopback.
pub async fn dial(port: u16) -> Client {
    Client::new(Box::new(tcp(port).await))
}

/// The same, with a handshake first.
pub async fn dial_secured(port: u16) -> Client {
    let stream = certificate::connect(tcp(port).await).await;
    Client::new(Box::new(stream.expect("the server shakes hands")))
}

async fn tcp(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.expect("the server listens");
    stream.set_nodelay(true).expect("the socket is open");
    stream
}

/// One client.
pub struct Client {
    stream: BufReader<Box<dyn Ends>>,
}

impl Client {
    /// A client at this end.
    pub fn new(stream: Box<dyn Ends>) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    /// Go on under TLS, or hear that the server does not; what was read ahead is nobody's.
    pub async fn secure(self) -> io::Result<Self> {
        let secured = timeout(PATIENCE, certificate::connect(self.stream.into_inner())).await;
        Ok(Self::new(Box::new(secured.expect("the server says something")?)))
    }

    /// Send bytes as given; false when the server is gone.
    pub async fn send(&mut self, bytes: &[u8]) -> bool {
        let sent = async { self.stream.write_all(bytes).await.is_ok() && self.stream.flush().await.is_ok() };
        timeout(PATIENCE, sent).await.expect("the server takes what is sent")
    }

    /// The next line with its CRLF; nothing at the end.
    pub async fn octets(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        let read = timeout(PATIENCE, self.stream.read_until(b'\n', &mut line)).await;
        // A connection that was reset has ended as well.
        let _ = read.expect("the server says something");
        assert!(line.is_empty() || line.ends_with(b"\r\n"), "\"{}\" ends in CRLF", line.escape_ascii());
        line
    }

    /// The next line without its CRLF; none at the end.
    pub async fn line(&mut self) -> Option<String> {
        let line = self.octets().await;
        let text = line.strip_suffix(b"\r\n")?;
        Some(String::from_utf8(text.to_vec()).expect("replies are UTF-8"))
    }

    /// Every line until the end.
    pub async fn lines(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = self.line().await {
            lines.push(line);
        }
        lines
    }

    /// How many bytes come next, whatever they are; none at the end.
    pub async fn raw(&mut self) -> usize {
        let mut bytes = [0; 1024];
        timeout(PATIENCE, self.stream.read(&mut bytes)).await.expect("the server ends").unwrap_or(0)
    }

    /// Everything until the end, whatever it is.
    pub async fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let read = timeout(PATIENCE, self.stream.read_to_end(&mut bytes)).await;
        let _ = read.expect("the server ends");
        bytes
    }

    /// No more will be sent.
    pub async fn end(&mut self) {
        let _ = self.stream.get_mut().shutdown().await;
    }
}
