//! T072: answers that do not end, come too slowly, or are larger than they look.

use std::time::{Duration, Instant};

use crate::tests::kit::{Names, Script, Server, answer, client, get, settings};
use crate::{Client, Error, Settings};

const ALLOWED: &str = "127.0.0.2";
const MAX: usize = 64 << 10;

fn small() -> Client {
    Client::new(Settings { body_max: MAX, timeout: Duration::from_millis(600), ..settings(&[ALLOWED]) })
}

fn at_once(said: impl Into<Vec<u8>>) -> Script {
    vec![(Duration::ZERO, said.into())]
}

/// A head, and then a piece again and again.
fn dripping(head: &str, piece: &str, every: Duration) -> Script {
    let pieces = (0..10_000).map(|_| (every, piece.as_bytes().to_vec()));
    std::iter::once((Duration::ZERO, head.as_bytes().to_vec())).chain(pieces).collect()
}

async fn failure(script: Script) -> (Error, Duration) {
    let server = Server::start(ALLOWED, 0, move |_| script.clone()).await;
    let started = Instant::now();
    let error = small().send(get(server.url())).await.expect_err("a bound");
    (error, started.elapsed())
}

#[tokio::test]
async fn t072_no_answer_is_larger_than_it_may_be() {
    let big = "x".repeat(MAX + 1);
    let chunk = format!("{:x}\r\n{}\r\n", 4096, "x".repeat(4096));
    let endless = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for script in [
        at_once(answer("200 OK", "", &big)),
        at_once(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", u64::MAX / 2)),
        at_once(format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{big}")),
        dripping(endless, &chunk, Duration::ZERO),
        at_once(format!("{endless}{:x}\r\n{big}", usize::MAX / 2)),
    ] {
        assert_eq!(failure(script).await.0, Error::TooLarge { max: MAX });
    }
    let whole = Server::saying(ALLOWED, &answer("200 OK", "", &"x".repeat(MAX))).await;
    assert_eq!(small().send(get(whole.url())).await.unwrap().body.len(), MAX);
}

#[tokio::test]
async fn t072_a_slow_answer_ends_at_its_time() {
    let drop = Duration::from_millis(50);
    for script in [
        dripping("", "H", drop),
        dripping("HTTP/1.1 200 OK\r\n", "X: y\r\n", drop),
        dripping("HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n", "x", drop),
        dripping("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", drop),
        dripping("", "HTTP/1.1 103 Early Hints\r\n\r\n", drop),
        vec![(Duration::from_secs(60), Vec::new())],
    ] {
        let (error, took) = failure(script).await;
        assert_eq!(error, Error::Timeout { within: Duration::from_millis(600) });
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}

#[tokio::test]
async fn t072_a_packed_answer_stays_packed() {
    // 45 octets of gzip that would be 10 KiB; whoever packs better sends less, and more is never made of it here.
    let packed = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x01\x0d\x00\x00\x00\xc2\xa0\xf7Om\x0e7\xa0";
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", packed.len());
    let said = [head.as_bytes(), packed].concat();
    let server = Server::start(ALLOWED, 0, move |_| at_once(said.clone())).await;
    let answer = small().send(get(server.url())).await.unwrap();
    assert_eq!(&answer.body[..], packed);
    assert!(!server.requests()[0].to_lowercase().contains("accept-encoding"), "{:?}", server.requests());
}

#[tokio::test]
async fn t072_what_is_no_answer_is_a_failure() {
    for said in [
        "",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "HTTP/0.9 200\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        &format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(101)),
        &format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "b".repeat(1 << 20)),
    ] {
        let (error, _) = failure(at_once(said)).await;
        assert!(matches!(error, Error::Failed { .. }), "{said:.60}: {error:?}");
    }
}

#[tokio::test]
async fn fields_that_are_the_clients_own_are_refused() {
    let server = Server::saying(ALLOWED, &answer("200 OK", "", "")).await;
    let (client, _) = client(&[ALLOWED], Names::default());
    for name in ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "proxy-authorization"] {
        let mut request = get(server.url());
        request.headers.insert(name, "inside".parse().unwrap());
        assert_eq!(client.send(request).await.unwrap_err(), Error::Header { name: name.into() });
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn so_many_at_a_time_and_the_rest_in_turn() {
    let late = answer("200 OK", "", "");
    let server = Server::start(ALLOWED, 0, move |_| vec![(Duration::from_millis(100), late.clone().into())]).await;
    let client = Client::new(Settings { requests_max: 2, ..settings(&[ALLOWED]) });
    let started = Instant::now();
    let all: Vec<_> = (0..6)
        .map(|_| {
            tokio::spawn({
                let (client, url) = (client.clone(), server.url());
                async move { client.send(get(url)).await }
            })
        })
        .collect();
    for one in all {
        one.await.unwrap().unwrap();
    }
    assert!(started.elapsed() >= Duration::from_millis(300), "{:?}", started.elapsed());
}
