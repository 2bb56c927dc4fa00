//! The monitor: Inbucket's frames, to a real client and to hostile ones.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use mailroom::{Caller, Which};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::{Answer, House, PATIENCE, letter};
use crate::Settings;
use crate::live::Monitor;

/// What every client of WebSockets says.
pub(super) const HANDSHAKE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
     Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

type Client = WebSocketStream<TcpStream>;

/// A connection behind its handshake, and what came with the answer.
async fn upgrade(house: &House, path: &str, ahead: &[u8]) -> TcpStream {
    let mut stream = house.connect().await;
    let mut raw = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{HANDSHAKE}\r\n", house.addr).into_bytes();
    raw.extend_from_slice(ahead);
    stream.write_all(&raw).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(PATIENCE, stream.read_u8()).await.unwrap().unwrap());
    }
    let answer = Answer::read(&head);
    assert_eq!(answer.status, 101, "{answer:?}");
    assert_eq!(answer.field("sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    assert_eq!(answer.field("sec-websocket-extensions"), None, "no compression");
    stream
}

async fn open(house: &House, path: &str) -> Client {
    WebSocketStream::from_raw_socket(upgrade(house, path, b"").await, Role::Client, None).await
}

async fn next(client: &mut Client) -> Value {
    loop {
        match timeout(PATIENCE, client.next()).await.expect("a frame comes").expect("the connection stays").unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Ping(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

fn header(value: &Value) -> Vec<&String> {
    value.as_object().unwrap().keys().collect()
}

const HEADER: [&str; 9] = ["mailbox", "id", "from", "to", "subject", "date", "posix-millis", "size", "seen"];

#[tokio::test]
async fn the_first_dialect_tells_the_header_of_each_message() {
    let house = House::open().await;
    let old = house.deliver("box", letter("old")).await;
    let mut client = open(&house, "/api/v1/monitor/messages").await;
    let first = next(&mut client).await;
    assert_eq!(header(&first), HEADER);
    assert_eq!((&first["id"], &first["subject"]), (&json!(old.to_string()), &json!("old")));
    let new = house.deliver("other", letter("new")).await;
    // Deletes have no word here.
    house.mailroom.delete(&Caller::Program, &house.mailroom.named("box").unwrap(), Which::Latest).await.unwrap();
    let second = next(&mut client).await;
    assert_eq!(second["id"], new.to_string());
    assert_eq!(second["from"], "Jane Doe <jane@host.test>");
    assert_eq!(second["to"], json!(["<other@example.test>"]));
    assert_eq!((&second["mailbox"], &second["seen"]), (&json!("other"), &json!(false)));
    let at: jiff::Timestamp = second["date"].as_str().unwrap().parse().unwrap();
    assert_eq!(second["posix-millis"], at.as_millisecond());
    house.deliver("box", letter("third")).await;
    assert_eq!(next(&mut client).await["subject"], "third");
}

#[tokio::test]
async fn the_second_dialect_tells_of_deletes_too_and_a_name_limits_it() {
    let house = House::open().await;
    let mut client = open(&house, "/api/v2/monitor/messages/Box%40x.test").await;
    house.deliver("other", letter("not here")).await;
    let id = house.deliver("box", letter("here")).await;
    let stored = next(&mut client).await;
    assert_eq!(header(&stored), ["variant", "identifier", "header"]);
    assert_eq!((&stored["variant"], &stored["identifier"]), (&json!("message-stored"), &Value::Null));
    assert_eq!(header(&stored["header"]), HEADER);
    house.mailroom.delete(&Caller::Program, &house.mailroom.named("box").unwrap(), Which::Latest).await.unwrap();
    let deleted =
        json!({"variant": "message-deleted", "identifier": {"mailbox": "box", "id": id.to_string()}, "header": null});
    assert_eq!(next(&mut client).await, deleted);
}

#[tokio::test]
async fn so_many_messages_are_told_at_the_beginning_oldest_first_and_none_twice() {
    let monitor = Monitor { history_max: 3, ..Monitor::default() };
    let house = House::with(Settings { monitor, ..Settings::default() }).await;
    for number in 0..5 {
        house.deliver("box", letter(&number.to_string())).await;
    }
    for path in ["/api/v1/monitor/messages", "/api/v1/monitor/messages/box"] {
        let mut client = open(&house, path).await;
        for expected in ["2", "3", "4"] {
            assert_eq!(next(&mut client).await["subject"], expected, "{path}");
        }
    }
    // One that comes while they are told comes once, whether they were listed with it or without.
    let mut client = open(&house, "/api/v1/monitor/messages").await;
    house.deliver("box", letter("5")).await;
    house.deliver("box", letter("6")).await;
    let mut last = next(&mut client).await["subject"].as_str().unwrap().parse::<u32>().unwrap();
    while last < 6 {
        assert_eq!(next(&mut client).await["subject"], (last + 1).to_string());
        last += 1;
    }
}

#[tokio::test]
async fn what_is_no_handshake_is_answered_as_http() {
    let house = House::open().await;
    let path = "/api/v1/monitor/messages";
    house.get(path).await.expect_problem(400, "bad-request");
    assert_eq!(house.ask("HEAD", path, HANDSHAKE).await.status, 400);
    let old = HANDSHAKE.replace("13", "8");
    house.ask("GET", path, &old).await.expect_problem(400, "bad-request");
    house.ask("GET", &format!("{path}/a%20b"), HANDSHAKE).await.expect_problem(400, "bad-mailbox");
    let monitor = Monitor { enabled: false, ..Monitor::default() };
    let house = House::with(Settings { monitor, ..Settings::default() }).await;
    house.ask("GET", path, HANDSHAKE).await.expect_problem(404, "route-unknown");
    house.is_sound().await;
}

#[tokio::test]
async fn a_stop_says_goodbye() {
    let house = House::open().await;
    let mut client = open(&house, "/api/v2/monitor/messages").await;
    let stopping = tokio::spawn(house.close());
    let goodbye = timeout(PATIENCE, client.next()).await.unwrap().unwrap().unwrap();
    assert!(matches!(&goodbye, Message::Close(Some(frame)) if u16::from(frame.code) == 1001), "{goodbye:?}");
    drop(client);
    assert!(stopping.await.unwrap());
}

/// A frame as a client sends it.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut raw = vec![first];
    match payload.len() {
        small @ 0..126 => raw.push(0x80 | small as u8),
        long => raw.extend([0x80 | 126].into_iter().chain((long as u16).to_be_bytes())),
    }
    raw.extend([0; 4]);
    raw.extend_from_slice(payload);
    raw
}

/// The code that the connection is closed with when these bytes are sent, before or behind the handshake.
async fn closed_with(house: &House, ahead: &[u8], behind: &[u8]) -> u16 {
    let mut stream = upgrade(house, "/api/v1/monitor/messages", ahead).await;
    let _ = stream.write_all(behind).await;
    let mut client = WebSocketStream::from_raw_socket(stream, Role::Client, None).await;
    loop {
        match timeout(PATIENCE, client.next()).await.expect("it is closed") {
            Some(Ok(Message::Close(Some(frame)))) => return frame.code.into(),
            Some(Ok(_)) => {}
            other => panic!("no goodbye: {other:?}"),
        }
    }
}

const TEXT: u8 = 0x81;
const PING: u8 = 0x89;

#[tokio::test]
async fn t063_frames_that_are_too_large_or_too_many_or_none_end_the_connection() {
    let house = House::open().await;
    let unmasked = [TEXT, 2, b'h', b'i'];
    let huge = [&[TEXT, 0x80 | 127][..], &u64::MAX.to_be_bytes(), &[0; 4]].concat();
    let pieces: Vec<u8> = (0..9).flat_map(|at| frame(if at == 0 { 0x01 } else { 0x00 }, &[b'x'; 600])).collect();
    let floods: Vec<u8> = (0..200).flat_map(|_| frame(PING, b"ping")).collect();
    let rows: [(&str, u16, Vec<u8>); 8] = [
        ("larger than the limit", 1009, frame(TEXT, &[b'x'; 4097])),
        ("a length of 2^64", 1009, huge),
        ("larger in pieces", 1009, pieces),
        ("a flood of pings", 1008, floods),
        ("without a mask", 1002, unmasked.to_vec()),
        ("compressed", 1002, frame(TEXT | 0x40, b"x")),
        ("an unknown kind", 1002, frame(0x83, b"x")),
        ("a large control frame", 1002, frame(PING, &[b'x'; 126])),
    ];
    for (what, code, bytes) in rows {
        assert_eq!(closed_with(&house, b"", &bytes).await, code, "{what}");
        assert_eq!(closed_with(&house, &bytes, b"").await, code, "{what}, together with the handshake");
    }
    house.is_sound().await;
}

#[tokio::test]
async fn t063_what_is_within_the_limits_is_heard_and_forgotten() {
    let house = House::open().await;
    let mut client = open(&house, "/api/v1/monitor/messages").await;
    client.send(Message::text("x".repeat(4096))).await.unwrap();
    client.send(Message::Ping("are you there".into())).await.unwrap();
    let pong = timeout(PATIENCE, client.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(pong, Message::Pong("are you there".into()));
    house.deliver("box", letter("still here")).await;
    assert_eq!(next(&mut client).await["subject"], "still here");
    let huge = format!("GET /api/v1/monitor/messages HTTP/1.1\r\nHost: a\r\nX: {}\r\n", "x".repeat(1 << 20));
    let answer = Answer::read(&house.exchange(huge).await);
    assert_eq!(answer.status, 431);
}

#[tokio::test]
async fn t062_a_monitor_that_stalls_is_given_up() {
    let mut settings = Settings::default();
    settings.events.write_max = Duration::from_millis(200);
    let house = House::with(settings).await;
    let stalled = upgrade(&house, "/api/v1/monitor/messages/box", b"").await;
    let subject = "x".repeat(50_000);
    let given_up = async {
        while house.gate.open() > 0 {
            house.deliver("box", letter(&subject)).await;
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, given_up).await.expect("a delivery waits for no monitor, which is given up");
    drop(stalled);
}
