//! A client of HTTP over a kept connection: requests without a body, answers with a length.

use anyhow::{Context, Result, ensure};

use crate::door::Door;
use crate::wire::Wire;

/// A connection that carries one request after the other.
#[derive(Debug)]
pub struct Client {
    /// The connection.
    pub wire: Wire,
    host: String,
}

impl Client {
    /// Connect.
    pub async fn open(door: &Door) -> Result<Self> {
        Ok(Self { wire: door.open().await?, host: door.to.to_string() })
    }

    /// Fetch a path, which must be there.
    pub async fn get(&mut self, path: &str) -> Result<Vec<u8>> {
        let (status, body) = self.ask("GET", path).await?;
        ensure!(status == 200, "GET {path}: {status}");
        Ok(body)
    }

    /// Send a request; status and body of its answer.
    pub async fn ask(&mut self, method: &str, path: &str) -> Result<(u16, Vec<u8>)> {
        ask(&mut self.wire, &self.host, method, path).await
    }
}

/// Send a request to this host; status and body of its answer.
pub async fn ask(wire: &mut Wire, host: &str, method: &str, path: &str) -> Result<(u16, Vec<u8>)> {
    wire.send(format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await?;
    let first = wire.line().await?;
    let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.with_context(|| format!("the answer begins with {first:?}"))?;
    let mut length = None;
    loop {
        let line = wire.line().await?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(text) = line.strip_prefix("content-length:") {
            length = Some(text.trim().parse::<usize>().context("the length is no number")?);
        }
    }
    // 204 has none.
    let length = if status == 204 { 0 } else { length.context("the answer has no length")? };
    Ok((status, wire.exactly(length).await?.to_vec()))
}
