//! REST v2 on the real binary with each engine: one table, and what differs from engine to engine is written in it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::program::{PATIENCE, Program};

/// A request and what each kind of engine answers: one that sees everything, and a node of a cluster.
struct Ask {
    method: &'static str,
    path: &'static str,
    body: Option<(&'static str, &'static str)>,
    whole: u16,
    node: u16,
}

const fn ask(method: &'static str, path: &'static str, status: u16) -> Ask {
    Ask { method, path, body: None, whole: status, node: status }
}

const fn send(path: &'static str, kind: &'static str, body: &'static str, status: u16) -> Ask {
    Ask { method: "POST", path, body: Some((kind, body)), whole: status, node: status }
}

/// What a node of a cluster cannot.
const fn whole(method: &'static str, path: &'static str, status: u16) -> Ask {
    Ask { method, path, body: None, whole: status, node: 501 }
}

const JSON: &str = "application/json";
const MAIL: &str = "message/rfc822";
const BOX: &str = "/api/v2/mailboxes/box";

const TABLE: &[Ask] = &[
    ask("GET", "/api/v2", 200),
    ask("GET", "/api/v2/openapi.json", 200),
    send("/api/v2/messages?rcptTo=box@x.test", MAIL, "Subject: one\r\n\r\ncode 884201\r\n", 201),
    send("/api/v2/messages", JSON, "{\"to\":\"box@x.test\",\"subject\":\"two\",\"html\":\"<p>hello\"}", 201),
    send("/api/v2/messages", JSON, "{\"to\":\"box@x.test\",\"sbject\":\"x\"}", 400),
    send("/api/v2/import?mailbox=box", MAIL, "Subject: three\r\n\r\n", 201),
    ask("GET", BOX, 200),
    ask("GET", "/api/v2/mailboxes/box/messages", 200),
    ask("GET", "/api/v2/mailboxes/box/messages?order=oldest&limit=1&fields=*", 200),
    ask("GET", "/api/v2/mailboxes/box/messages?ids=0000000000000&ids=x&fields=preview", 200),
    ask("GET", "/api/v2/mailboxes/box/messages?ids=x&limit=1", 400),
    ask("GET", "/api/v2/messages?ids=box/0000000000000", 200),
    ask("GET", "/api/v2/mailboxes/box/messages?since=nonsense", 400),
    ask("GET", "/api/v2/mailboxes/box/messages/latest", 200),
    ask("GET", "/api/v2/mailboxes/box/messages/0000000000000", 404),
    ask("GET", "/api/v2/mailboxes/box/messages/latest/source", 200),
    ask("GET", "/api/v2/mailboxes/box/messages/latest/html", 404),
    ask("GET", "/api/v2/mailboxes/box/messages/latest/html?remote=true", 404),
    ask("DELETE", "/api/v2/mailboxes/box/messages?until=nonsense", 400),
    ask("GET", "/api/v2/mailboxes/box/messages/latest/parts/1", 200),
    ask("GET", "/api/v2/mailboxes/box/messages/latest/parts/7?view=true", 404),
    ask("GET", "/api/v2/mailboxes/box/export", 200),
    ask("GET", "/api/v2/mailboxes/box/export?format=zip", 200),
    ask("GET", "/api/v2/mailboxes/box/wait?subject=two&timeout=5s", 200),
    ask("GET", "/api/v2/mailboxes/box/wait?subject=nothing&timeout=0s", 409),
    ask("GET", "/api/v2/mailboxes", 200),
    send("/api/v2/mailboxes/box/messages/delete", JSON, "{\"ids\":[\"0000000000000\"]}", 200),
    ask("DELETE", "/api/v2/mailboxes/box/messages/latest", 204),
    ask("DELETE", "/api/v2/mailboxes/box/messages/0000000000000", 404),
    ask("DELETE", "/api/v2/mailboxes/box/messages", 204),
    whole("DELETE", "/api/v2/messages?all=true", 204),
];

/// Status, head and body; the body may come in chunks, which nobody looks into.
fn exchange(addr: SocketAddr, ask: &Ask, more: &str) -> (u16, String, Vec<u8>) {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (kind, body) = ask.body.unwrap_or(("application/json", ""));
    let fields = if ask.body.is_some() {
        format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len())
    } else {
        String::new()
    };
    write!(
        stream,
        "{} {} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n{more}{fields}\r\n{body}",
        ask.method, ask.path
    )
    .unwrap();
    let mut raw = Vec::new();
    stream.read_to_end(&mut raw).unwrap();
    let end =
        raw.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| panic!("no answer to {}", ask.path));
    let head = String::from_utf8(raw[..end].to_vec()).unwrap();
    (head[9..12].parse().unwrap(), head, raw[end + 4..].to_vec())
}

fn walk(program: &Program, is_node: bool) {
    for ask in TABLE {
        let (status, head, body) = exchange(program.http, ask, "");
        let expected = if is_node { ask.node } else { ask.whole };
        assert_eq!(status, expected, "{} {}: {}", ask.method, ask.path, String::from_utf8_lossy(&body));
        if head.contains("application/problem+json") {
            let problem: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(problem["status"], status);
            assert!(problem["requestId"].is_string() && problem["detail"].is_string(), "{problem}");
            assert_eq!(status == 501, problem["instead"].is_string(), "{problem}");
        }
    }
    once(program.http);
    cursor(program.http);
}

/// The same key delivers once, by the records of this engine.
fn once(addr: SocketAddr) {
    let ask = send("/api/v2/messages", JSON, "{\"to\":\"once@x.test\"}", 201);
    let key = "Idempotency-Key: k1\r\n";
    let (first, again) = (exchange(addr, &ask, key), exchange(addr, &ask, key));
    assert_eq!((first.0, first.2), (201, again.2));
    let other = send("/api/v2/messages", JSON, "{\"to\":\"once@x.test\",\"text\":\"x\"}", 409);
    assert_eq!(exchange(addr, &other, key).0, 409);
    let held: Value =
        serde_json::from_slice(&exchange(addr, &self::ask("GET", "/api/v2/mailboxes/once", 200), "").2).unwrap();
    assert_eq!(held["messages"], 1);
}

/// A cursor of an empty mailbox is a place to go on from, and up to which it can be emptied; a message is listed by its id.
fn cursor(addr: SocketAddr) {
    let held = |path: &str| -> Value {
        let path: &'static str = path.to_owned().leak();
        serde_json::from_slice(&exchange(addr, &self::ask("GET", path, 200), "").2).unwrap()
    };
    let cursor = held("/api/v2/mailboxes/fresh")["cursor"].as_str().unwrap().to_owned();
    exchange(addr, &send("/api/v2/messages?rcptTo=fresh@x.test", MAIL, "Subject: new\r\n\r\n", 201), "");
    let new = held(&format!("/api/v2/mailboxes/fresh/messages?since={cursor}"));
    assert_eq!(new["items"].as_array().unwrap().len(), 1, "{new}");
    let purge = |until: &str| {
        let path: &'static str = format!("/api/v2/mailboxes/fresh/messages?until={until}").leak();
        assert_eq!(exchange(addr, &self::ask("DELETE", path, 204), "").0, 204, "{until}");
    };
    let id = new["items"][0]["id"].as_str().unwrap();
    let count = |path: String| held(&path)["items"].as_array().unwrap().len();
    purge(&cursor);
    assert_eq!(count(format!("/api/v2/mailboxes/fresh/messages?ids={id}&ids=0000000000001")), 1, "it came behind");
    assert_eq!(count(format!("/api/v2/messages?ids=fresh/{id}")), 1);
    purge(new["cursor"].as_str().unwrap());
    assert_eq!(count(format!("/api/v2/mailboxes/fresh/messages?ids={id}")), 0);
}

#[test]
fn v2_on_memory() {
    walk(&Program::start(&[]), false);
}

#[test]
fn v2_on_disk() {
    walk(&Program::start(&["store.engine=disk", "store.disk.path=mail", "store.disk.free_min=0"]), false);
}

#[test]
#[cfg(feature = "jetstream")]
fn v2_on_brokers() {
    use brokers::{Cluster, Plan};
    if brokers::nats_server().unwrap().is_none() {
        return;
    }
    let cluster = Cluster::start(Plan::of(1)).unwrap();
    let urls = format!("store.jetstream.urls={}", cluster.url(0));
    let settings = ["store.engine=jetstream", "store.jetstream.replicas=1", &urls];
    walk(&Program::start(&settings), true);
}
