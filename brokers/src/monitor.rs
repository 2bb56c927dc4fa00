//! Asking a server's monitoring port: one GET, one JSON document. Not a client for anything else.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

/// A server that is paused takes the connection and never answers.
const PATIENCE: Duration = Duration::from_secs(1);

/// Status and document at this path.
pub(crate) fn ask(address: SocketAddr, path: &str) -> Result<(u16, Value)> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // In HTTP/1.0 the answer ends with the connection and comes in one piece.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("the answer has no end of its head")?;
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).context("the answer has no status")?;
    Ok((status, serde_json::from_str(body).unwrap_or(Value::Null)))
}

/// Whether it says that it is well: it serves, knows the cluster's leader, and is up to date with its streams.
pub(crate) fn is_healthy(address: SocketAddr) -> bool {
    ask(address, "/healthz").is_ok_and(|(status, _)| status == 200)
}

/// Who leads the cluster of this many servers, as this one sees it; nobody while it does not see all.
pub(crate) fn meta_leader(address: SocketAddr, servers: usize) -> Option<String> {
    let (_, answer) = ask(address, "/jsz").ok()?;
    let cluster = &answer["meta_cluster"];
    let complete = cluster["cluster_size"].as_u64() == Some(servers as u64);
    cluster["leader"].as_str().filter(|name| complete && !name.is_empty()).map(str::to_owned)
}

/// The streams that the server of this name leads, by its own word. One without a cluster leads what it has.
pub(crate) fn leads(address: SocketAddr, name: &str) -> Vec<String> {
    let Ok((_, answer)) = ask(address, "/jsz?streams=true") else { return Vec::new() };
    let accounts = answer["account_details"].as_array().into_iter().flatten();
    let streams = accounts.flat_map(|account| account["stream_detail"].as_array().into_iter().flatten());
    let own = streams.filter(|stream| stream["cluster"]["leader"].as_str().is_none_or(|leader| leader == name));
    own.filter_map(|stream| stream["name"].as_str().map(str::to_owned)).collect()
}
