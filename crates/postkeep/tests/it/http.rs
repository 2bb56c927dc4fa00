//! A raw HTTP client: one request on its own connection, the answer as it came.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::program::{PATIENCE, until};

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The value of a header field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

/// Send a request with this Host and read the answer to its end.
pub(crate) fn ask(addr: SocketAddr, method: &str, path: &str, host: &str) -> Answer {
    exchange(addr, path, &format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
}

/// The same with a body.
pub(crate) fn send(addr: SocketAddr, method: &str, path: &str, media_type: &str, body: &str) -> Answer {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\nContent-Type: {media_type}\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    exchange(addr, path, &(head + body))
}

fn exchange(addr: SocketAddr, path: &str, request: &str) -> Answer {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut raw = Vec::new();
    stream.read_to_end(&mut raw).unwrap();
    let end = raw.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or_else(|| panic!("no answer to {path}"));
    let head = String::from_utf8(raw[..end].to_vec()).unwrap();
    let answer = Answer { status: head[9..12].parse().unwrap(), head, body: raw[end + 4..].to_vec() };
    let length = answer.field("content-length").map(|length| length.parse().unwrap());
    assert!(answer.status == 204 || length == Some(answer.body.len()), "{}", answer.head);
    answer
}

pub(crate) fn get(addr: SocketAddr, path: &str) -> Answer {
    ask(addr, "GET", path, &addr.to_string())
}

pub(crate) fn delete(addr: SocketAddr, path: &str) -> Answer {
    ask(addr, "DELETE", path, &addr.to_string())
}

/// The list of a mailbox.
pub(crate) fn list(addr: SocketAddr, mailbox: &str) -> Vec<Value> {
    let answer = get(addr, &format!("/api/v1/mailbox/{mailbox}"));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json().as_array().unwrap().clone()
}

/// The subjects in a mailbox, in its order.
pub(crate) fn subjects(addr: SocketAddr, mailbox: &str) -> Vec<String> {
    list(addr, mailbox).iter().map(|message| message["subject"].as_str().unwrap().to_owned()).collect()
}

/// Wait until a mailbox holds so many messages.
pub(crate) fn wait_for_count(addr: SocketAddr, mailbox: &str, count: usize) {
    until(&format!("{count} messages in {mailbox}"), || (list(addr, mailbox).len() == count).then_some(()));
}

/// The source of the newest message of a mailbox, without our two trace fields.
pub(crate) fn latest_as_sent(addr: SocketAddr, mailbox: &str) -> Vec<u8> {
    let answer = get(addr, &format!("/api/v1/mailbox/{mailbox}/latest/source"));
    assert_eq!(answer.status, 200, "{answer:?}");
    as_sent(&answer.body).to_vec()
}

/// What stands below `Return-Path` and `Received`, their folds included.
pub(crate) fn as_sent(source: &[u8]) -> &[u8] {
    let mut rest = source;
    for field in [&b"Return-Path: "[..], b"Received: "] {
        assert!(rest.starts_with(field), "{:?}", String::from_utf8_lossy(source));
        loop {
            let end = rest.windows(2).position(|bytes| bytes == b"\r\n").unwrap();
            rest = &rest[end + 2..];
            if !rest.starts_with(b"\t") && !rest.starts_with(b" ") {
                break;
            }
        }
    }
    rest
}
