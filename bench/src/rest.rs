//! A client of HTTP over a kept connection: requests with or without a body of JSON, answers with a length.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

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
        Ok(Self::over(door, door.open().await?))
    }

    /// On a connection that was made.
    #[must_use]
    pub fn over(door: &Door, wire: Wire) -> Self {
        Self { wire, host: door.to.to_string() }
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

    /// Send a request with what it carries; the status must be this one, and the body is JSON, or nothing.
    pub async fn call(&mut self, call: &Call<'_>, wanted: u16) -> Result<Value> {
        self.send(call).await?;
        self.expect(call, wanted).await
    }

    /// Send a request, and no more.
    pub async fn send(&mut self, call: &Call<'_>) -> Result<()> {
        send(&mut self.wire, &self.host, call).await
    }

    /// The answer to a request that was sent.
    pub async fn expect(&mut self, call: &Call<'_>, wanted: u16) -> Result<Value> {
        let (status, body) = answer(&mut self.wire).await?;
        let Call { method, path, .. } = call;
        ensure!(status == wanted, "{method} {path}: {status} {}", String::from_utf8_lossy(&body));
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).with_context(|| format!("{method} {path} answered no JSON"))
    }
}

/// A request, with what it may carry.
#[derive(Debug, Clone, Copy, Default)]
pub struct Call<'a> {
    /// GET, POST, DELETE.
    pub method: &'a str,
    /// The path, and what is asked behind it.
    pub path: &'a str,
    /// A token or a secret, sent as Bearer.
    pub token: Option<&'a str>,
    /// A body of JSON.
    pub json: Option<&'a str>,
}

/// Send a request to this host; status and body of its answer.
pub async fn ask(wire: &mut Wire, host: &str, method: &str, path: &str) -> Result<(u16, Vec<u8>)> {
    send(wire, host, &Call { method, path, ..Call::default() }).await?;
    answer(wire).await
}

/// Send a request, and no more.
pub async fn send(wire: &mut Wire, host: &str, call: &Call<'_>) -> Result<()> {
    let mut text = format!("{} {} HTTP/1.1\r\nHost: {host}\r\n", call.method, call.path);
    if let Some(token) = call.token {
        text += &format!("Authorization: Bearer {token}\r\n");
    }
    if let Some(json) = call.json {
        text += &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", json.len());
    }
    text += "\r\n";
    text += call.json.unwrap_or_default();
    wire.send(text.as_bytes()).await
}

/// Status and body of the answer that is due.
pub async fn answer(wire: &mut Wire) -> Result<(u16, Vec<u8>)> {
    let (status, fields) = head(wire).await?;
    // 204 has none.
    if status == 204 {
        return Ok((status, Vec::new()));
    }
    let length = fields.iter().find_map(|field| field.strip_prefix("content-length:"));
    let length = length.context("the answer has no length")?.trim().parse().context("the length is no number")?;
    Ok((status, wire.exactly(length).await?.to_vec()))
}

/// Status and header fields of the answer that is due, in small letters.
pub async fn head(wire: &mut Wire) -> Result<(u16, Vec<String>)> {
    let first = wire.line().await?;
    let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.with_context(|| format!("the answer begins with {first:?}"))?;
    let mut fields = Vec::new();
    loop {
        let line = wire.line().await?;
        if line.is_empty() {
            return Ok((status, fields));
        }
        fields.push(line.to_ascii_lowercase());
    }
}
