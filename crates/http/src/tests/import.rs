//! Mail of before comes in as it is, and only as it should.

use mail::{Door, MessageId};
use mailroom::{Caller, Stored, Which};

use super::{Answer, House};
use crate::Settings;

const MESSAGE: &str = "Content-Type: message/rfc822\r\n";

/// Post a body there with these further fields.
async fn post(house: &House, query: &str, fields: &str, body: &[u8]) -> Answer {
    let head = format!(
        "POST /api/v2/import?{query} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{fields}\r\n",
        house.addr,
        body.len()
    );
    Answer::read(&house.exchange([head.as_bytes(), body].concat()).await)
}

async fn stored(house: &House, mailbox: &str, answer: &Answer) -> Stored {
    assert_eq!(answer.status, 201, "{}", answer.text());
    let json: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(json["mailbox"], mailbox);
    let id: MessageId = json["id"].as_str().unwrap().parse().unwrap();
    let mailbox = house.mailroom.named(mailbox).unwrap();
    house.mailroom.read(&Caller::Program, &mailbox, Which::Id(id)).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_message_comes_in_as_it_is() {
    let house = House::open().await;
    let raw: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for raw in [&b""[..], b"Subject: x\n\nno end", b"\0\r\r\n.\r\n", &raw] {
        let now = mailroom::SystemClock;
        let received = mailroom::Clock::now(&now).to_string();
        let query = format!(
            "mailbox=Alice%2Btag&receivedAt={received}&mailFrom=ann+x@x.test&rcptTo=alice@x.test&rcptTo=b@x.test"
        );
        let stored = stored(&house, "alice", &post(&house, &query, MESSAGE, raw).await).await;
        assert_eq!(stored.raw, raw);
        assert_eq!(stored.summary.received_at.to_string(), received);
        assert_eq!(stored.envelope.reverse_path.0.as_ref().unwrap().to_string(), "ann+x@x.test");
        assert_eq!(stored.envelope.transport.door, Door::Import);
        assert_eq!((stored.summary.rcpt_to.len(), stored.summary.other_recipients), (1, 1));
    }
    let fields = "Content-Type: Message/RFC822; charset=x\r\n";
    let stored =
        stored(&house, "bob", &post(&house, "mailbox=bob&mailFrom=", fields, b"Return-Path: <a@x.test>\n\n").await)
            .await;
    assert_eq!(stored.envelope.reverse_path.0, None);
    house.is_sound().await;
}

#[tokio::test]
async fn what_is_not_understood_is_refused_and_nothing_is_kept() {
    let house = House::open().await;
    for (query, slug) in [
        ("", "bad-query"),
        ("mailbox=", "bad-mailbox"),
        ("mailbox=+", "bad-mailbox"),
        ("mailbox=a&mailbox=a", "bad-query"),
        ("mailbox=a&receivedAt=yesterday", "bad-query"),
        ("mailbox=a&receivedat=2026-11-15T07:10:58Z", "bad-query"),
        ("mailbox=a&mailFrom=x", "bad-query"),
        ("mailbox=a&rcptTo=", "bad-query"),
        ("mailbox=%ff", "bad-query"),
    ] {
        let answer = post(&house, query, MESSAGE, b"x").await;
        answer.expect_problem(400, slug);
    }
    post(&house, "mailbox=a", "", b"x").await.expect_problem(415, "no-message");
    post(&house, "mailbox=a", "Content-Type: text/plain\r\n", b"x").await.expect_problem(415, "no-message");
    house.ask("POST", "/api/v2/import?mailbox=a", MESSAGE).await.expect_problem(411, "length-required");
    house.ask("GET", "/api/v2/import?mailbox=a", "").await.expect_problem(405, "method-not-allowed");
    let foreign = format!("{MESSAGE}Origin: http://evil.example\r\n");
    post(&house, "mailbox=a", &foreign, b"x").await.expect_problem(403, "origin-refused");
    assert_eq!(house.count("a").await, 0);
}

#[tokio::test]
async fn t058_an_import_is_bounded_by_the_size_of_a_message() {
    let house = House::with(Settings { import_max: 2 << 20, ..Settings::default() }).await;
    let fits = post(&house, "mailbox=a", MESSAGE, &vec![b'x'; 2 << 20]).await;
    assert_eq!(fits.status, 201);
    let over = post(&house, "mailbox=a", MESSAGE, &vec![b'x'; (2 << 20) + 1]).await;
    over.expect_problem(413, "body-too-large");
    let busy = House::with(Settings { answers_max: 1 << 20, ..Settings::default() }).await;
    post(&busy, "mailbox=a", MESSAGE, &vec![b'x'; 2 << 20]).await.expect_problem(503, "overloaded");
    assert_eq!((house.count("a").await, busy.count("a").await), (1, 0));
    busy.is_sound().await;
}

#[tokio::test]
async fn below_a_prefix_it_is_there_too() {
    let public_url = Some("https://mail.example.com/post".into());
    let house = House::with(Settings { public_url, ..Settings::default() }).await;
    let body = vec![b'x'; 2 << 20];
    let head = format!(
        "POST /post/api/v2/import?mailbox=a HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{MESSAGE}\r\n",
        house.addr,
        body.len()
    );
    let answer = Answer::read(&house.exchange([head.as_bytes(), &body].concat()).await);
    assert_eq!(stored(&house, "a", &answer).await.raw, body);
}

#[tokio::test]
async fn half_a_message_is_none() {
    let house = House::open().await;
    let head = format!(
        "POST /api/v2/import?mailbox=a HTTP/1.1\r\nHost: {}\r\nContent-Length: 100\r\n{MESSAGE}\r\nhalf",
        house.addr
    );
    let mut stream = house.connect().await;
    tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.unwrap();
    tokio::io::AsyncWriteExt::shutdown(&mut stream).await.unwrap();
    super::read_all(&mut stream).await;
    assert_eq!(house.count("a").await, 0);
    house.is_sound().await;
}
