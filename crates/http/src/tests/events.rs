//! Streams of server-sent events: what they tell, how they are gone on from, and what bounds them.

use std::time::Duration;

use mail::View;
use mailroom::{Caller, Which};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use super::{Answer, House, PATIENCE, letter};
use crate::Settings;
use crate::live::{Events, Kept};

/// A client of a stream.
struct Reader {
    stream: TcpStream,
    head: Answer,
    came: Vec<u8>,
    /// The id that it would come back with.
    last: String,
}

/// One event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Told {
    event: String,
    id: String,
    data: Value,
}

fn events(change: impl FnOnce(&mut Events)) -> Settings {
    let mut settings = Settings::default();
    change(&mut settings.events);
    settings
}

impl Reader {
    async fn open(house: &House, query: &str, fields: &str) -> Self {
        Self::over(house.connect().await, house, query, fields).await
    }

    async fn over(mut stream: TcpStream, house: &House, query: &str, fields: &str) -> Self {
        let raw = format!("GET /api/v2/events{query} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n", house.addr);
        stream.write_all(raw.as_bytes()).await.unwrap();
        let mut came = Vec::new();
        while !came.windows(4).any(|four| four == b"\r\n\r\n") {
            assert_ne!(timeout(PATIENCE, stream.read_buf(&mut came)).await.unwrap().unwrap(), 0, "an answer comes");
        }
        let head = Answer::read(&came);
        let end = came.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        came.drain(..end);
        Self { stream, head, came, last: String::new() }
    }

    /// The body as far as it came, out of its chunks.
    fn body(&self) -> Vec<u8> {
        let (mut body, mut rest) = (Vec::new(), &self.came[..]);
        while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
            let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
            let Some(chunk) = rest.get(end + 2..end + 2 + size) else { break };
            body.extend_from_slice(chunk);
            rest = rest.get(end + 2 + size + 2..).unwrap_or_default();
        }
        body
    }

    /// The lines of the next block; none when the stream has ended.
    async fn block(&mut self, number: usize) -> Option<Vec<String>> {
        loop {
            let body = String::from_utf8(self.body()).unwrap();
            let blocks: Vec<&str> = body.split_inclusive("\n\n").filter(|block| block.ends_with("\n\n")).collect();
            if let Some(block) = blocks.get(number) {
                return Some(block.trim_end().lines().map(str::to_owned).collect());
            }
            match timeout(PATIENCE, self.stream.read_buf(&mut self.came)).await.expect("something comes") {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }
}

/// Reads a stream block by block.
pub(super) struct Stream {
    reader: Reader,
    read: usize,
}

impl Stream {
    async fn open(house: &House, query: &str) -> Self {
        Self::resume(house, query, "").await
    }

    async fn resume(house: &House, query: &str, last: &str) -> Self {
        let field = if last.is_empty() { String::new() } else { format!("Last-Event-ID: {last}\r\n") };
        Self::with(house, query, &field).await
    }

    /// A request with these further fields.
    pub(super) async fn with(house: &House, query: &str, fields: &str) -> Self {
        let reader = Reader::open(house, query, fields).await;
        assert_eq!(reader.head.status, 200, "{:?}", reader.head);
        Self { reader, read: 0 }
    }

    async fn block(&mut self) -> Option<Vec<String>> {
        let block = self.reader.block(self.read).await?;
        self.read += 1;
        if let Some(id) = block.iter().find_map(|line| line.strip_prefix("id: ")) {
            self.reader.last = id.to_owned();
        }
        Some(block)
    }

    /// The next event; heartbeats are none.
    pub(super) async fn next(&mut self) -> Option<Told> {
        loop {
            let block = self.block().await?;
            let field = |name: &str| block.iter().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
            let Some(data) = field("data: ") else { continue };
            let data = serde_json::from_str(&data).unwrap();
            return Some(Told { event: field("event: ").unwrap(), id: field("id: ").unwrap(), data });
        }
    }

    /// The next event is of this name; its data.
    pub(super) async fn expect(&mut self, event: &str) -> Value {
        let told = self.next().await.expect("the stream goes on");
        assert_eq!(told.event, event, "{told:?}");
        told.data
    }

    fn last(&self) -> &str {
        &self.reader.last
    }
}

#[tokio::test]
async fn what_happens_is_told_in_order_and_what_it_takes_to_follow_before_it() {
    let kept = Kept { retention: Some(Duration::from_secs(7 * 86_400)), messages_max: 500 };
    let house = House::with(Settings { kept, ..Settings::default() }).await;
    let mut stream = Stream::open(&house, "?mailbox=box").await;
    let head = &stream.reader.head;
    assert_eq!(head.field("content-type"), Some("text/event-stream"));
    assert_eq!((head.field("cache-control"), head.field("connection")), (Some("no-store"), Some("close")));
    let hello = stream.next().await.unwrap();
    assert_eq!(hello.event, "hello");
    assert_eq!(hello.data, json!({"cursor": hello.id, "retention": "7d", "messagesMax": 500}));

    let id = house.deliver("box", letter("first\u{2028}line")).await;
    house.deliver("other", letter("not here")).await;
    let told = stream.expect("deliver").await;
    assert_eq!((&told["mailbox"], &told["id"]), (&json!("box"), &json!(id.to_string())));
    let message = &told["message"];
    assert_eq!(message["subject"], "first\u{2028}line");
    assert_eq!(message["from"], json!({"name": "Jane Doe", "email": "jane@host.test"}));
    assert_eq!(message["envelope"], json!({"mailFrom": "sender@origin.test", "rcptTo": ["box@example.test"]}));

    let mailbox = house.mailroom.named("box").unwrap();
    house.mailroom.delete(&Caller::Program, &mailbox, Which::Id(id)).await.unwrap();
    assert_eq!(stream.expect("delete").await, json!({"mailbox": "box", "id": id.to_string()}));
    let last = house.deliver("box", letter("second")).await;
    house.mailroom.purge(&Caller::Program, &mailbox).await.unwrap();
    stream.expect("deliver").await;
    let purge = stream.expect("purge").await;
    assert_eq!(purge["mailbox"], "box");
    assert!(purge["upTo"].as_str().unwrap() >= last.to_string().as_str(), "{purge}");
}

#[tokio::test]
async fn no_name_is_all_mailboxes() {
    let house = House::open().await;
    let mut stream = Stream::open(&house, "").await;
    stream.expect("hello").await;
    for name in ["a", "b"] {
        house.deliver(name, letter("x")).await;
        assert_eq!(stream.expect("deliver").await["mailbox"], name);
    }
    let last = stream.last().to_owned();
    house.deliver("c", letter("missed")).await;
    let mut back = Stream::resume(&house, "", &last).await;
    back.expect("hello").await;
    assert_eq!(back.expect("deliver").await["mailbox"], "c");
}

#[tokio::test]
async fn a_stream_of_several_is_gone_on_from_in_each_of_them() {
    let house = House::open().await;
    let mut stream = Stream::open(&house, "?mailbox=b&mailbox=a&mailbox=c&mailbox=A%40x.test").await;
    stream.expect("hello").await;
    let start = stream.last().to_owned();
    assert_eq!(start.split('.').count(), 3, "a place each: {start}");
    for name in ["a", "b", "a"] {
        house.deliver(name, letter("seen")).await;
        assert_eq!(stream.expect("deliver").await["mailbox"], name);
    }
    let last = stream.last().to_owned();
    drop(stream);
    for name in ["c", "a"] {
        house.deliver(name, letter("missed")).await;
    }
    // The header wins, and the order of the names does not matter.
    let mut back = Stream::resume(&house, &format!("?mailbox=c&mailbox=a&mailbox=b&since={start}"), &last).await;
    back.expect("hello").await;
    let mut names = [back.expect("deliver").await, back.expect("deliver").await];
    names.sort_by_key(|told| told["mailbox"].to_string());
    let names: Vec<_> = names.iter().map(|told| (&told["mailbox"], &told["message"]["subject"])).collect();
    assert_eq!(names, [(&json!("a"), &json!("missed")), (&json!("c"), &json!("missed"))]);
    house.deliver("b", letter("new")).await;
    assert_eq!(back.expect("deliver").await["message"]["subject"], "new");

    let mut all = Stream::open(&house, &format!("?mailbox=a&mailbox=b&mailbox=c&since={start}")).await;
    all.expect("hello").await;
    for _ in 0..6 {
        all.expect("deliver").await;
    }
}

#[tokio::test]
async fn a_cursor_that_is_too_old_or_of_another_life_is_answered_with_resync() {
    let house = House::with(events(|events| events.resume_window = Duration::ZERO)).await;
    house.deliver("box", letter("x")).await;
    let mut stream = Stream::open(&house, "?mailbox=box").await;
    stream.expect("hello").await;
    let last = stream.last().to_owned();
    let other = House::open().await;
    for (house, reason) in [(&house, "expired"), (&other, "restarted")] {
        let mut back = Stream::resume(house, "?mailbox=box", &last).await;
        back.expect("hello").await;
        let resync = back.next().await.unwrap();
        assert_eq!(resync.event, "resync");
        assert_eq!(resync.data, json!({"reason": reason, "cursor": resync.id}));
        house.deliver("box", letter("later")).await;
        assert_eq!(back.expect("deliver").await["message"]["subject"], "later");
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused() {
    let house = House::with(events(|events| events.mailboxes_max = 2)).await;
    let mut stream = Stream::open(&house, "?mailbox=box").await;
    stream.expect("hello").await;
    let cursor = stream.last().to_owned();
    let rows = [
        ("?mailbox=a&mailbox=b&mailbox=c".to_owned(), "bad-request"),
        ("?mailboxes=a".to_owned(), "bad-request"),
        ("?since=a&since=b".to_owned(), "bad-request"),
        ("?mailbox=a%20b".to_owned(), "bad-mailbox"),
        ("?mailbox=box&since=2026-11-15T00:00:00Z".to_owned(), "bad-cursor"),
        (format!("?mailbox=other&since={cursor}"), "bad-cursor"),
        (format!("?since={cursor}"), "bad-cursor"),
        (format!("?mailbox=box&mailbox=other&since={cursor}"), "bad-cursor"),
    ];
    for (query, slug) in rows {
        house.get(&format!("/api/v2/events{query}")).await.expect_problem(400, slug);
    }
    // The same name twice is one.
    Stream::open(&house, "?mailbox=a&mailbox=b&mailbox=A").await.expect("hello").await;
}

#[tokio::test]
async fn silence_is_a_heartbeat_that_can_be_gone_on_from() {
    let house = House::with(events(|events| events.heartbeat = Duration::from_millis(20))).await;
    let mut stream = Stream::open(&house, "?mailbox=box").await;
    stream.expect("hello").await;
    let beat = stream.block().await.unwrap();
    assert_eq!(beat.len(), 2);
    assert_eq!(beat[0], ":", "a comment");
    let last = beat[1].strip_prefix("id: ").unwrap().to_owned();
    drop(stream);
    house.deliver("box", letter("missed")).await;
    let mut back = Stream::resume(&house, "?mailbox=box", &last).await;
    back.expect("hello").await;
    assert_eq!(back.expect("deliver").await["message"]["subject"], "missed");
}

#[tokio::test]
async fn streams_are_limited_in_all_and_for_one_address() {
    for settings in [events(|events| events.streams_max = 1), events(|events| events.per_ip_max = 1)] {
        let house = House::with(settings).await;
        let mut held = Stream::open(&house, "?mailbox=a").await;
        held.expect("hello").await;
        let answer = house.get("/api/v2/events").await;
        answer.expect_problem(503, "overloaded");
        assert!(answer.field("retry-after").is_some());
        drop(held);
        let again = async {
            while house.get("/api/v2/events?mailbox=%20").await.status == 503 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, again).await.expect("the place comes back");
    }
}

#[tokio::test]
async fn a_stream_lives_so_long() {
    let house = House::with(events(|events| events.life_max = Duration::from_millis(100))).await;
    let mut stream = Stream::open(&house, "").await;
    stream.expect("hello").await;
    assert_eq!(stream.next().await, None);
    house.is_sound().await;
}

#[tokio::test]
async fn a_stop_ends_every_stream() {
    let house = House::open().await;
    let mut stream = Stream::open(&house, "").await;
    stream.expect("hello").await;
    let begun = tokio::time::Instant::now();
    assert!(house.close().await, "it ends by itself");
    assert!(begun.elapsed() < PATIENCE / 2, "at once");
    assert_eq!(stream.next().await, None);
}

/// One that does not read, with as little room on the way to it as there can be.
async fn stalled(house: &House) -> Reader {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let stream = socket.connect(house.addr).await.unwrap();
    Reader::over(stream, house, "?mailbox=box", "").await
}

/// Each large enough that a few hundred fill what lies between a server and a client.
fn large(number: usize) -> String {
    letter(&format!("{number} {}", "x".repeat(30_000)))
}

#[tokio::test]
async fn t062_a_reader_that_stalls_is_given_up_and_holds_up_nobody() {
    let house = House::with(events(|events| events.write_max = Duration::from_millis(300))).await;
    let (one, two) = (stalled(&house).await, stalled(&house).await);
    let mut good = Stream::open(&house, "?mailbox=box").await;
    good.expect("hello").await;
    for number in 0..400 {
        let delivered = timeout(PATIENCE, house.deliver("box", large(number))).await;
        delivered.expect("a delivery waits for no reader");
        let subject = good.expect("deliver").await["message"]["subject"].to_string();
        assert!(subject.starts_with(&format!("\"{number} ")), "the good one sees all");
        good.reader.came.clear();
        good.read = 0;
    }
    let given_up = async {
        while house.gate.open() > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, given_up).await.expect("those that stall are given up");
    house.deliver("box", letter("after")).await;
    assert_eq!(good.expect("deliver").await["message"]["subject"], "after", "and nobody else is");
    drop((one, two));
}

#[tokio::test]
async fn t062_who_reads_too_slowly_is_told_to_list_anew() {
    let settings = mailroom::Settings { queue_max: 4, ..mailroom::Settings::default() };
    let memory = store::Memory::new(store::memory::Settings::default(), std::sync::Arc::new(mailroom::SystemClock));
    let mailroom = mailroom::Mailroom::new(std::sync::Arc::new(memory), settings);
    let house = House::over(mailroom, Settings::default(), View::of, None);
    let reader = stalled(&house).await;
    let mut last = String::new();
    for number in 0..400 {
        last = house.deliver("box", large(number)).await.to_string();
    }
    let mut slow = Stream { reader, read: 0 };
    slow.expect("hello").await;
    let (mut resync, mut newest) = (None, String::new());
    while newest != last {
        let told = slow.next().await.expect("the stream goes on");
        match told.event.as_str() {
            "resync" => resync = Some(told.data["reason"].clone()),
            _ => newest = told.data["id"].as_str().unwrap().to_owned(),
        }
    }
    assert_eq!(resync, Some(json!("lagged")), "and behind the gap all is there");
}

#[tokio::test]
async fn t053_a_page_of_another_site_gets_no_stream() {
    let house = House::open().await;
    let own = format!("Origin: http://{}\r\n", house.addr);
    let port = house.addr.port();
    let foreign = [
        "Origin: http://evil.example\r\n".to_owned(),
        "Origin: null\r\n".to_owned(),
        format!("Origin: http://127.0.0.1:{}\r\n", port.wrapping_add(1)),
        format!("Origin: HTTP://EVIL.EXAMPLE:{port}\r\n"),
        format!("Origin: http://127.0.0.1.evil.example:{port}\r\n"),
        "Sec-Fetch-Site: cross-site\r\n".to_owned(),
        format!("{own}Sec-Fetch-Site: same-site\r\n"),
    ];
    let monitors = ["/api/v1/monitor/messages", "/api/v2/monitor/messages/box"];
    for path in ["/api/v2/events", "/api/v2/events?mailbox=box"].iter().chain(&monitors) {
        for origin in &foreign {
            let fields = format!("{origin}{}", super::monitor::HANDSHAKE);
            house.ask("GET", path, &fields).await.expect_problem(403, "origin-refused");
        }
    }
    let reader = Reader::open(&house, "", &own).await;
    assert_eq!(reader.head.status, 200, "our own page");
    assert!(reader.head.field("access-control-allow-origin").is_none());
}
