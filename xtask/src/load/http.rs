//! Requests over plain HTTP/1.1, answers handed back as they came: a GET on its own, or one after the other over a
//! connection that is kept.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

/// An answer with status 200.
pub(crate) struct Answer {
    /// Status line and header fields, without the empty line.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// Fetch a path; anything but 200 is an error.
pub(crate) fn get(address: SocketAddr, path: &str) -> Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut raw = Vec::new();
    stream.read_to_end(&mut raw)?;
    let end = raw.windows(4).position(|window| window == b"\r\n\r\n").context("the answer has no end of its head")?;
    let head = String::from_utf8(raw[..end].to_vec()).context("the head is not UTF-8")?;
    ensure!(head.starts_with("HTTP/1.1 200 "), "{path} answered {:?}", head.lines().next().unwrap_or_default());
    ensure!(!head.to_ascii_lowercase().contains("transfer-encoding:"), "{path} answered without a length");
    Ok(Answer { head, body: raw.split_off(end + 4) })
}

/// A connection that carries one request after the other.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    host: SocketAddr,
}

impl Connection {
    pub(crate) fn open(host: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::with_capacity(16 * 1024, stream), host })
    }

    /// Send a request without a body. After an error the connection is of no further use.
    pub(crate) fn send(&mut self, method: &str, path: &str) -> Result<()> {
        let request = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host);
        self.stream.get_mut().write_all(request.as_bytes()).context("the connection broke while sending")
    }

    /// Status and body of its answer.
    pub(crate) fn receive(&mut self) -> Result<(u16, Vec<u8>)> {
        let first = self.line()?;
        let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let status = status.with_context(|| format!("the answer begins with {first:?}"))?;
        let mut length = None;
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(text) = line.strip_prefix("content-length:") {
                length = Some(text.trim().parse::<usize>().context("the length is no number")?);
            }
        }
        let mut body = vec![0; length.context("the answer has no length")?];
        self.stream.read_exact(&mut body)?;
        Ok((status, body))
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        ensure!(line.ends_with("\r\n"), "the connection ended while an answer was due");
        line.truncate(line.len() - 2);
        Ok(line)
    }
}
