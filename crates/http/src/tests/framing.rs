//! Where one request ends and the next begins, how large and how slow they may be.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Answer, House, letter, read_all};
use crate::Settings;

/// What a smuggled request would do.
const SMUGGLED: &str = "DELETE /api/v1/mailbox/box HTTP/1.1\r\nHost: a\r\n\r\n";

/// Raw requests whose end two readers could see in two places. Each hides `SMUGGLED` in what one of them takes for the
/// body; whatever the server makes of it, the hidden request is not carried out.
fn ambiguous() -> Vec<String> {
    let chunked = format!("0\r\n\r\n{SMUGGLED}");
    let post = |fields: &str, body: &str| format!("POST /livez HTTP/1.1\r\nHost: a\r\n{fields}\r\n{body}");
    let length = SMUGGLED.len();
    let mut all = Vec::new();
    for fields in [
        "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: Chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: identity, chunked\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding:\tchunked\r\n",
        "Transfer-Encoding: \"chunked\"\r\n",
        "Transfer-Encoding : chunked\r\n",
        " Transfer-Encoding: chunked\r\n",
        "X: y\r\n Transfer-Encoding: chunked\r\n",
        "X: y\nTransfer-Encoding: chunked\r\n",
        "X: y\rTransfer-Encoding: chunked\r\n",
        "X: y\0Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding:\u{b}chunked\r\n",
        "Transfer_Encoding: chunked\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n",
    ] {
        all.push(post(fields, &chunked));
    }
    for fields in [
        format!("Content-Length: {length}\r\nContent-Length: 0\r\n"),
        format!("Content-Length: 0\r\nContent-Length: {length}\r\n"),
        format!("Content-Length: 0, {length}\r\n"),
        format!("Content-Length: +{length}\r\n"),
        format!("Content-Length: -{length}\r\n"),
        format!("Content-Length: 0x{length:x}\r\n"),
        format!("Content-Length: {length} \r\n"),
        format!("Content-Length : {length}\r\n"),
        "Content-Length: 99999999999999999999999\r\n".into(),
        format!("Content-Length: {length}a\r\n"),
        "Content-Length: \r\n".into(),
        format!("Content-Length:\r\n {length}\r\n"),
    ] {
        all.push(post(&fields, SMUGGLED));
    }
    all.push(format!("POST /livez HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"));
    all.push(format!("POST /livez HTTP/1.1\nHost: a\nContent-Length: {length}\n\n{SMUGGLED}"));
    all.push(format!(
        "POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n{SMUGGLED}"
    ));
    all
}

#[tokio::test]
async fn t060_a_request_hidden_in_another_is_not_carried_out() {
    let house = House::open().await;
    house.deliver("box", letter("x")).await;
    let variants = ambiguous();
    assert!(variants.len() >= 30);
    for raw in variants {
        let hidden = !raw.contains("Content-Length: 0\r\n\r\n") && !raw.contains("Content-Length: \r\n");
        // Split anywhere, the outcome is the same.
        for cut in [raw.len(), raw.len() - SMUGGLED.len(), raw.len() - SMUGGLED.len() - 3] {
            let mut stream = house.connect().await;
            let _ = stream.write_all(&raw.as_bytes()[..cut]).await;
            tokio::task::yield_now().await;
            let _ = stream.write_all(&raw.as_bytes()[cut..]).await;
            let _ = stream.shutdown().await;
            read_all(&mut stream).await;
            assert!(!hidden || house.count("box").await == 1, "{raw:?}");
        }
    }
    house.is_sound().await;
}

#[tokio::test]
async fn t060_a_length_told_in_two_ways_is_refused_and_ends_the_connection() {
    let house = House::open().await;
    for fields in [
        "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n",
        "Transfer-Encoding: chunked\r\n",
    ] {
        let raw =
            format!("POST /livez HTTP/1.1\r\nHost: a\r\n{fields}\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
        let came = house.exchange(raw).await;
        let (first, rest) = Answer::read_one(&came);
        first.expect_problem(411, "length-required");
        assert_eq!(first.field("connection"), Some("close"));
        assert_eq!(rest, b"", "nothing behind it is answered");
    }
    for fields in ["Content-Length: 1\r\nContent-Length: 2\r\n", "Content-Length: x\r\n", "Transfer-Encoding: gzip\r\n"]
    {
        let came = house.exchange(format!("POST /livez HTTP/1.1\r\nHost: a\r\n{fields}\r\n{SMUGGLED}")).await;
        let (first, rest) = Answer::read_one(&came);
        assert_eq!((first.status, rest), (400, &b""[..]), "{fields}");
    }
}

#[tokio::test]
async fn t061_http_2_is_not_spoken_in_the_clear() {
    let house = House::open().await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let came = house.exchange(preface).await;
    assert!(came.is_empty() || came.starts_with(b"HTTP/1.1 400"), "{came:?}");
    let mut frames = preface.to_vec();
    for stream in (1..20_000u32).step_by(2) {
        // HEADERS and at once RST_STREAM, again and again.
        frames.extend([0, 0, 1, 1, 4]);
        frames.extend(stream.to_be_bytes());
        frames.push(0x82);
        frames.extend([0, 0, 4, 3, 0]);
        frames.extend(stream.to_be_bytes());
        frames.extend([0, 0, 0, 8]);
    }
    let came = house.exchange(frames).await;
    assert!(came.is_empty() || came.starts_with(b"HTTP/1.1 400"), "{came:?}");
    let upgrade = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n";
    let raw = format!("GET /livez HTTP/1.1\r\nHost: a\r\n{upgrade}\r\n");
    let mut stream = house.connect().await;
    stream.write_all(raw.as_bytes()).await.unwrap();
    let mut came = [0; 12];
    stream.read_exact(&mut came).await.unwrap();
    assert_eq!(&came, b"HTTP/1.1 200", "the offer is passed over");
    drop(stream);
    house.is_sound().await;
}

#[tokio::test]
async fn a_kept_connection_carries_many_requests_and_their_bodies() {
    let house = House::open().await;
    house.deliver("box", letter("x")).await;
    let mut stream = house.connect().await;
    let raw = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n\
               POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody\
               DELETE /api/v1/mailbox/box HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}\
               HEAD /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    stream.write_all(raw.as_bytes()).await.unwrap();
    let came = read_all(&mut stream).await;
    let (mut rest, mut statuses) = (came.as_slice(), Vec::new());
    while !rest.is_empty() {
        let (answer, behind) = Answer::read_one(rest);
        statuses.push(answer.status);
        rest = behind;
    }
    assert_eq!(statuses, [200, 405, 200, 200]);
    assert_eq!(house.count("box").await, 0);
}

#[tokio::test]
async fn a_head_is_bounded_in_bytes_and_fields() {
    let house = House::open().await;
    let long = "a".repeat(65_536);
    let many = "X: y\r\n".repeat(150);
    for (path, fields) in [(long.as_str(), ""), ("livez", &*format!("X: {long}\r\n")), ("livez", &many)] {
        let raw = format!("GET /{path} HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
        let answer = Answer::read(&house.exchange(raw).await);
        assert!([414, 431].contains(&answer.status), "{}", answer.status);
    }
    let endless = "X: ".to_owned() + &"a".repeat(1 << 20);
    let came = house.exchange(format!("GET / HTTP/1.1\r\n{endless}")).await;
    assert!(came.is_empty() || came.starts_with(b"HTTP/1.1 431"));
    house.is_sound().await;
}

#[tokio::test]
async fn a_client_that_is_still_sending_can_read_why_it_was_refused() {
    let house = House::open().await;
    let (mut reading, mut writing) = house.connect().await.into_split();
    let body = "x".repeat(3 << 20);
    let raw = format!("POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    // In pieces, so that most of it comes after the answer.
    let sending = tokio::spawn(async move {
        for piece in raw.as_bytes().chunks(64 << 10) {
            writing.write_all(piece).await?;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        std::io::Result::Ok(())
    });
    let mut came = Vec::new();
    reading.read_to_end(&mut came).await.expect("the connection ends without a reset");
    Answer::read(&came).expect_problem(413, "body-too-large");
    sending.await.unwrap().expect("what is sent is taken");
    house.is_sound().await;
}

fn hasty() -> Settings {
    let moment = Duration::from_millis(200);
    Settings { header_timeout: moment, request_timeout: moment, idle_timeout: moment, ..Settings::default() }
}

#[tokio::test]
async fn t009_a_slow_head_is_given_up() {
    let house = House::with(Settings { idle_timeout: Duration::from_secs(60), ..hasty() }).await;
    for begin in ["", "G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: y"] {
        let mut stream = house.connect().await;
        stream.write_all(begin.as_bytes()).await.unwrap();
        let before = Instant::now();
        let came = read_all(&mut stream).await;
        assert!(came.starts_with(b"HTTP/1.1 408"), "{begin:?} {came:?}");
        assert!(before.elapsed() < Duration::from_secs(10));
    }
    // Slow byte by byte, on a connection that was good before.
    let mut stream = house.connect().await;
    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let trickle = async {
        while stream.write_all(b"G").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), trickle).await.expect("the server hangs up");
    house.is_sound().await;
}

#[tokio::test]
async fn a_silent_connection_is_closed_after_the_idle_time_and_not_after_the_head_time() {
    let idle_timeout = Duration::from_millis(700);
    let house = House::with(Settings { idle_timeout, ..hasty() }).await;
    let mut stream = house.connect().await;
    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let before = Instant::now();
    let came = read_all(&mut stream).await;
    assert!(came.ends_with(b"ok\n"), "no word is said into the silence: {:?}", String::from_utf8_lossy(&came));
    assert!(before.elapsed() > Duration::from_millis(600), "{:?}", before.elapsed());
}

#[tokio::test]
async fn t058_a_body_that_never_ends_is_given_up() {
    let house = House::with(hasty()).await;
    house.deliver("box", letter("x")).await;
    let raw = "DELETE /api/v1/mailbox/box HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc";
    let answer = Answer::read(&house.exchange(raw).await);
    answer.expect_problem(408, "request-timeout");
    assert_eq!(house.count("box").await, 1, "nothing is done before the request is whole");
    house.is_sound().await;
}

#[tokio::test]
async fn t062_a_client_that_does_not_read_its_answer_is_given_up() {
    let settings = Settings { answers_max: 10 << 20, ..hasty() };
    let house = House::with(settings).await;
    house.deliver("box", vec![b'x'; 9 << 20]).await;
    let raw = "GET /api/v1/mailbox/box/latest/source HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut stalled = house.connect().await;
    stalled.write_all(raw.as_bytes()).await.unwrap();
    stalled.readable().await.unwrap();
    // While it is held up, there is no place for a second one; small answers go on.
    house.get("/api/v1/mailbox/box/latest/source").await.expect_problem(503, "overloaded");
    assert_eq!(house.json("/api/v1/mailbox/box").await.as_array().unwrap().len(), 1);
    // It reads nothing, and its place comes back all the same.
    let before = Instant::now();
    while house.get("/api/v1/mailbox/box/latest/source").await.status != 200 {
        assert!(before.elapsed() < super::PATIENCE);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(stalled);
    house.is_sound().await;
}

#[tokio::test]
async fn a_client_that_reads_steadily_gets_its_whole_answer() {
    let house = House::with(Settings { request_timeout: Duration::from_millis(100), ..Settings::default() }).await;
    let size = 12 << 20;
    house.deliver("box", vec![b'x'; size]).await;
    let mut stream = house.connect().await;
    stream
        .write_all(b"GET /api/v1/mailbox/box/latest/source HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let (mut came, mut piece) = (0, vec![0; 1 << 20]);
    loop {
        match stream.read(&mut piece).await.unwrap() {
            0 => break,
            bytes => came += bytes,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(came > size, "{came}");
}
