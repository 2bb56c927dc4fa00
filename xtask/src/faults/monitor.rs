//! What brokers tell about their connections.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(2);

/// Whether the server with this monitoring port has a client from this address.
pub(super) fn serves(monitor: SocketAddr, client: Ipv4Addr) -> bool {
    let Ok(answer) = ask(monitor, "/connz") else { return false };
    let connections = answer["connections"].as_array().into_iter().flatten();
    let client = client.to_string();
    connections.into_iter().any(|connection| connection["ip"] == client)
}

fn ask(monitor: SocketAddr, path: &str) -> Result<Value> {
    let mut stream = TcpStream::connect_timeout(&monitor, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // In HTTP/1.0 the answer ends with the connection and comes in one piece.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {monitor}\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").context("the answer has no end of its head")?;
    serde_json::from_str(body).context("the answer is no JSON")
}
