//! Life and death: what panics, what is too much, what stops.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mail::View;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Answer, House, PATIENCE, letter, read_all};
use crate::Settings;

/// A reader that a certain message kills.
fn poisoned(raw: &[u8]) -> View {
    assert!(!raw.windows(6).any(|six| six == b"poison"), "killed by a message");
    View::of(raw)
}

#[tokio::test]
async fn t037_a_message_that_kills_the_reader_can_be_listed_fetched_and_deleted() {
    let house = House::with_view(Settings::default(), poisoned).await;
    house.deliver("box", letter("good")).await;
    let small = house.deliver("box", letter("poison")).await;
    let large = house.deliver("box", letter("poison") + &"x\r\n".repeat(200_000)).await;
    for id in [small, large] {
        let path = format!("/api/v1/mailbox/box/{id}");
        house.get(&path).await.expect_problem(500, "internal");
        house.get(&format!("/mailbox/vattach/box/{id}/0/a")).await.expect_problem(500, "internal");
        assert_eq!(house.get(&format!("{path}/source")).await.status, 200);
    }
    assert_eq!(house.json("/api/v1/mailbox/box").await.as_array().unwrap().len(), 3);
    for id in [small, large] {
        assert_eq!(house.ask("DELETE", &format!("/api/v1/mailbox/box/{id}"), "").await.status, 200);
    }
    assert_eq!(house.json("/api/v1/mailbox/box/latest").await["subject"], "good");
    house.is_sound().await;
}

#[tokio::test]
async fn f26_a_panic_is_one_answer_and_not_the_connection() {
    let house = House::with_view(Settings::default(), poisoned).await;
    house.deliver("box", letter("poison")).await;
    let mut stream = house.connect().await;
    let raw = "GET /api/v1/mailbox/box/latest HTTP/1.1\r\nHost: a\r\n\r\n\
               GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    stream.write_all(raw.as_bytes()).await.unwrap();
    let came = read_all(&mut stream).await;
    let (first, rest) = Answer::read_one(&came);
    first.expect_problem(500, "internal");
    assert_eq!(Answer::read(rest).text(), "ok\n");
}

#[tokio::test]
async fn too_many_connections_are_told_so() {
    let house = House::with(Settings { connections_max: 2, ..Settings::default() }).await;
    let held = (house.connect().await, house.connect().await);
    while house.gate.open() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut third = house.connect().await;
    let answer = Answer::read(&read_all(&mut third).await);
    answer.expect_problem(503, "overloaded");
    assert_eq!(answer.field("content-length"), Some(&*answer.body.len().to_string()));
    assert_eq!(answer.field("retry-after"), Some("2"));
    drop(held);
    while house.gate.open() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    house.is_sound().await;
}

#[tokio::test]
async fn probes_tell_life_and_readiness() {
    let house = House::open().await;
    for (path, text) in [("/livez", "ok\n"), ("/readyz", "ready\n")] {
        let answer = house.get(path).await;
        assert_eq!((answer.status, answer.text()), (200, text));
        assert_eq!(answer.field("content-type"), Some("text/plain; charset=utf-8"));
    }
}

#[tokio::test]
async fn what_stops_is_not_ready() {
    let (stopper, stop) = net::stop::channel();
    let memory = store::Memory::new(store::memory::Settings::default(), Arc::new(mailroom::SystemClock));
    let room = mailroom::Mailroom::new(Arc::new(memory), mailroom::Settings::default());
    let shared = crate::shared::Shared::new(Arc::default(), room, stop, super::page::page());
    assert!(crate::health::ready(&shared).await.is_ok());
    stopper.advance(net::Phase::Draining);
    assert_eq!(crate::health::ready(&shared).await.unwrap_err().slug, "draining");
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_given_up_and_nothing_else() {
    fn slow(raw: &[u8]) -> View {
        std::thread::sleep(Duration::from_millis(500));
        View::of(raw)
    }
    let settings = Settings { request_timeout: Duration::from_millis(50), ..Settings::default() };
    let house = House::with_view(settings, slow).await;
    house.deliver("box", letter("x") + &"x\r\n".repeat(200_000)).await;
    let mut stream = house.connect().await;
    let raw = "GET /api/v1/mailbox/box/latest HTTP/1.1\r\nHost: a\r\n\r\n\
               GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    stream.write_all(raw.as_bytes()).await.unwrap();
    let came = read_all(&mut stream).await;
    let (first, rest) = Answer::read_one(&came);
    first.expect_problem(503, "store-unavailable");
    assert_eq!(first.field("retry-after"), Some("2"));
    assert_eq!(Answer::read(rest).text(), "ok\n");
}

#[tokio::test]
async fn a_stop_finishes_what_runs_and_closes_what_is_idle() {
    fn slow(raw: &[u8]) -> View {
        std::thread::sleep(Duration::from_millis(300));
        View::of(raw)
    }
    let house = House::with_view(Settings::default(), slow).await;
    // Large enough to be read aside, so that the stop comes while it is being read.
    house.deliver("box", letter("x") + &"x\r\n".repeat(200_000)).await;
    let mut idle = house.connect().await;
    idle.write_all(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    idle.read_exact(&mut [0; 15]).await.unwrap();
    let mut fresh = house.connect().await;
    let mut busy = house.connect().await;
    busy.write_all(b"GET /api/v1/mailbox/box/latest HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    while house.gate.open() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let stopping = tokio::spawn(house.close());
    let answer = Answer::read(&read_all(&mut busy).await);
    assert_eq!((answer.status, answer.field("connection")), (200, Some("close")));
    read_all(&mut idle).await;
    assert_eq!(read_all(&mut fresh).await, b"");
    drop((idle, fresh, busy));
    assert!(stopping.await.unwrap(), "all ended by themselves");
}

#[tokio::test]
async fn a_second_stop_ends_at_once() {
    let house = House::open().await;
    house.deliver("box", vec![b'x'; 20 << 20]).await;
    let mut stalled = house.connect().await;
    stalled.write_all(b"GET /api/v1/mailbox/box/latest/source HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    stalled.readable().await.unwrap();
    let House { mut stopper, mailroom, .. } = house;
    drop(mailroom);
    stopper.advance(net::Phase::Ending);
    tokio::time::timeout(PATIENCE, stopper.finished()).await.expect("nothing is waited for");
}

/// Where a test's log goes.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn t104_what_a_client_sends_cannot_write_lines_or_colours_into_the_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let house = House::with(Settings { public_url: Some("\u{1b}[31m\nFORGED".into()), ..Settings::default() }).await;
    let canary = "\u{1b}[31mFORGED";
    for raw in [
        format!("GET / HTTP/1.1\r\nHost: evil.example\r\nX: {canary}\r\nConnection: close\r\n\r\n"),
        format!("DELETE /{canary} HTTP/1.1\r\nHost: a\r\nOrigin: {canary}\r\nConnection: close\r\n\r\n"),
        "DELETE /x HTTP/1.1\r\nHost: a\r\nOrigin: http://x\tFORGED\u{9b}31m\r\nConnection: close\r\n\r\n".into(),
        format!("GET / HTTP/1.1\r\nHost: {canary}\r\nConnection: close\r\n\r\n"),
        "GET /api/v1/mailbox/%1b%5b31m%0aFORGED HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".into(),
        "GET /api/v1/mailbox/a/%0d%0aFORGED HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".into(),
    ] {
        house.exchange(raw).await;
    }
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("refused"), "something was logged: {text}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{9b}'), "{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("FORGED")), "{text}");
}
