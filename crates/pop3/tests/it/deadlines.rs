//! Deadlines: for the next command, for a line, for a piece of an answer and for the whole. Time is the test's own.

use std::time::Duration;

use pop3::Settings;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, sleep};

use crate::rig::{Pop3, Rig, settings};

fn seconds(idle: u64, line: u64, write: u64, answer: u64) -> Settings {
    Settings {
        idle_timeout: Duration::from_secs(idle),
        line_timeout: Duration::from_secs(line),
        write_timeout: Duration::from_secs(write),
        answer_timeout: Duration::from_secs(answer),
        ..settings()
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_closed_without_a_word_and_deletes_nothing() {
    let rig = Rig::new(seconds(12, 60, 60, 60));
    rig.put("box", &b"Subject: x\r\n\r\n"[..]).await;
    let mut client = rig.pipe();
    client.sign_in("box").await;
    assert!(client.ok("DELE 1").await);
    let before = Instant::now();
    assert_eq!(client.lines().await, [""; 0]);
    assert_eq!(before.elapsed().as_secs(), 12);
    assert_eq!(rig.kept("box").await, 1);
}

#[tokio::test(start_paused = true)]
async fn t009_a_line_that_trickles_ends_at_its_deadline() {
    let rig = Rig::new(seconds(60, 15, 60, 60));
    let mut client = rig.pipe();
    assert!(client.line().await.unwrap().starts_with("+OK"));
    let before = Instant::now();
    for byte in b"USER a-very-long-name" {
        client.send(&[*byte]).await;
        sleep(Duration::from_secs(9)).await;
        if before.elapsed() >= Duration::from_secs(15) {
            break;
        }
    }
    assert_eq!(client.lines().await, ["-ERR Too slow; closing"]);
    assert!(before.elapsed() < Duration::from_secs(20), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_slow_but_steady_session_is_served() {
    let rig = Rig::new(seconds(10, 10, 10, 60));
    let mut client = rig.pipe();
    client.sign_in("box").await;
    for _ in 0..20 {
        sleep(Duration::from_secs(9)).await;
        assert!(client.ok("NOOP").await);
    }
}

/// Read at a pace until the server gives up: what came, and when.
async fn read_slowly(settings: Settings, bytes: usize, pause: Duration) -> (Vec<u8>, Duration) {
    let rig = Rig::new(settings);
    rig.put("box", "y".repeat(1 << 20)).await;
    let (mut client, end) = net::Stream::pipe(1000);
    let (server, stop) = (std::sync::Arc::clone(&rig.server), rig.stop.clone());
    let session = tokio::spawn(async move { server.converse(end, None, None, stop).await });
    tokio::io::AsyncWriteExt::write_all(&mut client, b"USER box\r\nPASS x\r\nRETR 1\r\n").await.unwrap();
    let (before, mut got) = (Instant::now(), Vec::new());
    while !session.is_finished() {
        let mut piece = vec![0; bytes];
        let count = if bytes == 0 { 0 } else { client.read(&mut piece).await.unwrap_or(0) };
        got.extend_from_slice(&piece[..count]);
        sleep(pause).await;
    }
    client.read_to_end(&mut got).await.unwrap();
    (got, before.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_is_given_up() {
    let (got, took) = read_slowly(seconds(60, 60, 7, 600), 0, Duration::from_secs(1)).await;
    assert!((7..12).contains(&took.as_secs()), "{took:?}");
    assert!(got.len() < 3000);
}

#[tokio::test(start_paused = true)]
async fn t009_an_answer_that_is_taken_by_trickles_ends_at_its_deadline() {
    let (got, took) = read_slowly(seconds(60, 60, 600, 50), 1000, Duration::from_secs(1)).await;
    assert!((50..60).contains(&took.as_secs()), "{took:?}");
    assert!(got.len() > 40_000 && got.len() < 70_000, "{}", got.len());
    let said = "+OK 1048576 octets\r\n";
    let body = got.windows(said.len()).position(|window| window == said.as_bytes()).unwrap() + said.len();
    assert!(got[body..].iter().all(|byte| *byte == b'y'), "cut, with nothing said twice and nothing behind it");
}
