//! One GET at a time over plain HTTP/1.1, head and body handed back as they came.

use std::io::{Read, Write};
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
