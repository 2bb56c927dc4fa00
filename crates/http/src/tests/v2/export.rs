//! A mailbox as one file.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{House, letter};
use crate::Settings;

/// The body behind the head, put together from its chunks; whether it came whole.
fn dechunk(raw: &[u8]) -> (Vec<u8>, bool) {
    let head = raw.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let (mut rest, mut body) = (&raw[head..], Vec::new());
    loop {
        let Some(line) = rest.windows(2).position(|two| two == b"\r\n") else { return (body, false) };
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).unwrap();
        rest = &rest[line + 2..];
        if length == 0 {
            return (body, true);
        }
        body.extend_from_slice(&rest[..length]);
        rest = &rest[length + 2..];
    }
}

async fn exported(house: &House, query: &str) -> Vec<u8> {
    let request = format!(
        "GET /api/v2/mailboxes/alice/export{query} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        house.addr
    );
    let raw = house.exchange(request).await;
    assert!(raw.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&raw));
    let (body, is_whole) = dechunk(&raw);
    assert!(is_whole);
    body
}

#[tokio::test]
async fn an_mbox_has_every_message_quoted() {
    let house = House::open().await;
    assert_eq!(exported(&house, "").await, b"");
    house.deliver("alice", "Subject: a\r\n\r\nFrom here\r\n>From there\r\n").await;
    house.deliver("alice", "Subject: b\r\n\r\nno end").await;
    let text = String::from_utf8(exported(&house, "?format=mbox").await).unwrap();
    let separators: Vec<&str> = text.lines().filter(|line| line.starts_with("From ")).collect();
    assert_eq!(separators.len(), 2);
    assert!(separators[0].starts_with("From sender@origin.test ") && separators[1].ends_with(" open"), "{text}");
    assert!(text.contains("\r\n>From here\r\n>>From there\r\n\nFrom "), "{text}");
}

#[tokio::test]
async fn a_zip_has_a_file_for_each_message() {
    let house = House::open().await;
    let mut ids = Vec::new();
    for number in 0..450 {
        ids.push(house.deliver("alice", letter(&format!("n{number}"))).await);
    }
    let zip = exported(&house, "?format=zip").await;
    let count = zip.windows(4).filter(|four| four == b"PK\x01\x02").count();
    assert_eq!(count, 450);
    assert!(zip.starts_with(b"PK\x03\x04"));
    let end = &zip[zip.len() - 22..];
    assert_eq!((&end[..4], u16::from_le_bytes([end[10], end[11]])), (&b"PK\x05\x06"[..], 450));
    let directory = u32::from_le_bytes(end[16..20].try_into().unwrap()) as usize;
    assert_eq!(&zip[directory..directory + 4], b"PK\x01\x02");
    let text = String::from_utf8_lossy(&zip);
    assert!(text.contains(&format!("{}.eml", ids[0])) && text.contains("Subject: n449"));
    house.get("/api/v2/mailboxes/alice/export?format=tar").await.expect_problem(400, "bad-request");
}

#[tokio::test]
async fn an_export_that_is_not_taken_holds_little_and_ends() {
    let settings = Settings { request_timeout: std::time::Duration::from_secs(1), ..Settings::default() };
    let house = House::with(settings).await;
    let large = format!("Subject: x\r\n\r\n{}", "x".repeat(4 << 20));
    for _ in 0..8 {
        house.deliver("alice", large.clone()).await;
    }
    let mut stream = house.connect().await;
    let request = format!("GET /api/v2/mailboxes/alice/export HTTP/1.1\r\nHost: {}\r\n\r\n", house.addr);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut some = [0; 1000];
    stream.read_exact(&mut some).await.unwrap();
    // Nothing more is taken: the server gives up on this reader and lets go of everything.
    house.is_sound().await;
}
