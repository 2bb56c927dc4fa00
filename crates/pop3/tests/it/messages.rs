//! Messages come out as they went in: byte for byte but for newlines on their own, however large and however many.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use pop3::Settings;

use crate::rig::{Pop3, Rig, dial, settings};

/// What a message is on the wire: every line end CRLF, one at the end.
fn normalised(raw: &[u8]) -> Vec<u8> {
    let (mut text, mut place) = (Vec::new(), 0);
    while place < raw.len() {
        match raw[place..] {
            [b'\r', b'\n', ..] => place += 2,
            [b'\r' | b'\n', ..] => place += 1,
            _ => {
                text.push(raw[place]);
                place += 1;
                continue;
            }
        }
        text.extend_from_slice(b"\r\n");
    }
    if !text.is_empty() && !text.ends_with(b"\r\n") {
        text.extend_from_slice(b"\r\n");
    }
    text
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let unit = prop_oneof![
        Just(&b"\r\n"[..]),
        Just(&b"."[..]),
        Just(&b"\n"[..]),
        Just(&b"\r"[..]),
        Just(&b"some text that is not short"[..]),
        Just(&b"\0\xff"[..]),
    ];
    prop::collection::vec(unit, 0..400).prop_map(|units| units.concat())
}

#[tokio::test]
async fn t002_t089_random_messages_come_out_as_they_went_in() {
    let rig = Rig::new(settings());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), random);
    let bodies: Vec<_> = (0..300).map(|_| body().new_tree(&mut runner).unwrap().current()).collect();
    for raw in &bodies {
        rig.put("box", raw.clone()).await;
    }
    let mut client = dial(rig.listen()).await;
    client.sign_in("box").await;
    let all: String = (1..=bodies.len()).map(|message| format!("RETR {message}\r\n")).collect();
    client.send(all.as_bytes()).await;
    for (raw, message) in bodies.iter().zip(1..) {
        assert_eq!(client.line().await, Some(format!("+OK {} octets", raw.len())));
        assert_eq!(client.body().await, normalised(raw), "message {message}");
    }
    assert_eq!(client.ask("QUIT").await, "+OK Bye");
}

#[tokio::test]
async fn the_largest_message_comes_whole_through_a_narrow_pipe() {
    let rig = Rig::new(settings());
    let line = b".seventy bytes of text, so that many dots at many borders are doubled\r\n";
    let raw = line.repeat((25 << 20) / line.len());
    rig.put("box", raw.clone()).await;
    let mut client = rig.pipe_from(None, 3000);
    client.sign_in("box").await;
    assert!(client.ok("RETR 1").await);
    assert!(client.body().await == raw, "byte for byte");
    assert_eq!(client.ask("STAT").await, format!("+OK 1 {}", raw.len()));
}

#[tokio::test]
async fn a_mailbox_of_many_pages_is_listed_in_order() {
    let rig = Rig::new(Settings { messages_max: 2300, ..settings() });
    for _ in 0..2500 {
        rig.put("box", &b"Subject: x\r\n\r\n"[..]).await;
    }
    let ids = rig.ids("box").await;
    let mut client = dial(rig.listen()).await;
    client.sign_in("box").await;
    assert!(client.ok("UIDL").await);
    let listed = String::from_utf8(client.body().await).unwrap();
    let expected: String = ids[200..].iter().zip(1..).map(|(id, number)| format!("{number} {id}\r\n")).collect();
    assert!(listed == expected, "the newest 2300, the oldest of them first");
    assert!(client.ok("LIST").await);
    assert_eq!(client.body().await.split(|byte| *byte == b'\n').count(), 2301);
}

#[tokio::test]
async fn several_sessions_read_one_mailbox_at_once() {
    let rig = Rig::new(settings());
    rig.put("box", &b"Subject: x\r\n\r\nbody\r\n"[..]).await;
    let port = rig.listen();
    let mut clients = Vec::new();
    for _ in 0..10 {
        let mut client = dial(port).await;
        client.sign_in("box").await;
        clients.push(client);
    }
    for client in &mut clients {
        assert!(client.ok("RETR 1").await);
        assert_eq!(client.body().await, b"Subject: x\r\n\r\nbody\r\n");
    }
}
