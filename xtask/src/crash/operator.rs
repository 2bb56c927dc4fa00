//! Somebody who may ask the brokers everything: one question, one answer, over a connection made for it. It speaks as much
//! of the protocol as that takes, and knows the names of streams and subjects, not what lies in them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(2);
const INBOX: &str = "_INBOX.operator";

/// Where to ask: as `nats://user:password@host:port`, any of them.
pub(crate) struct Operator {
    urls: Vec<String>,
}

impl Operator {
    pub(crate) fn new(urls: Vec<String>) -> Self {
        Self { urls }
    }

    /// Deliveries that were begun and are not finished in all of their mailboxes.
    pub(crate) fn pending(&self, prefix: &str, body_shards: usize) -> Result<usize> {
        let mut pending = 0;
        for shard in 0..body_shards {
            let call = format!("STREAM.INFO.{prefix}-body-{shard}");
            let info = self.ask(&call, &json!({ "subjects_filter": format!("{prefix}.x.>") }))?;
            pending += info["state"]["subjects"].as_object().map_or(0, serde_json::Map::len);
        }
        Ok(pending)
    }

    /// Delete a stream with all that is in it.
    pub(crate) fn delete(&self, stream: &str) -> Result<()> {
        self.ask(&format!("STREAM.DELETE.{stream}"), &Value::Null).map(|_| ())
    }

    /// The answer of the brokers' API, by the first server that gives one. A refusal is an error.
    fn ask(&self, call: &str, body: &Value) -> Result<Value> {
        let payload = if body.is_null() { String::new() } else { body.to_string() };
        let mut last = None;
        for url in &self.urls {
            match asked(url, &format!("$JS.API.{call}"), &payload) {
                Ok(answer) if answer["error"].is_null() => return Ok(answer),
                Ok(answer) => last = Some(anyhow::anyhow!("{call} was refused: {}", answer["error"])),
                Err(error) => last = Some(error.context(format!("{call} was not answered"))),
            }
        }
        Err(last.context("there is nobody to ask")?)
    }
}

fn asked(url: &str, subject: &str, payload: &str) -> Result<Value> {
    let (login, address) = url.trim_start_matches("nats://").rsplit_once('@').unwrap_or(("", url));
    let address: SocketAddr =
        address.trim_start_matches("nats://").parse().with_context(|| format!("{url}: where?"))?;
    let (user, pass) = login.split_once(':').unwrap_or_default();
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let hello = json!({ "user": user, "pass": pass, "verbose": false, "pedantic": false, "lang": "rust",
                        "version": "0", "headers": true, "no_responders": true, "protocol": 1 });
    write!(stream, "CONNECT {hello}\r\nSUB {INBOX} 1\r\nPUB {subject} {INBOX} {}\r\n{payload}\r\n", payload.len())?;
    answer(&mut BufReader::new(stream))
}

/// The first message that comes.
fn answer(stream: &mut BufReader<TcpStream>) -> Result<Value> {
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        ensure!(!line.is_empty(), "the connection ended while an answer was due");
        let words: Vec<_> = line.split_whitespace().collect();
        match words.as_slice() {
            ["PING"] => stream.get_mut().write_all(b"PONG\r\n")?,
            ["MSG", .., size] => {
                let mut body = vec![0; size.parse()?];
                stream.read_exact(&mut body)?;
                return serde_json::from_slice(&body).context("the answer is no JSON");
            }
            // Only a refusal of the server itself comes with a header: nobody is there to answer.
            ["HMSG", ..] => bail!("nobody answers now"),
            ["-ERR", ..] => bail!("the server said {}", line.trim()),
            _ => {}
        }
    }
}
