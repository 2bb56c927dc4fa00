//! Deadlines: per command, per line, per piece of content and per transaction. Time is the test's own.

use std::time::Duration;

use smtp::Settings;
use tokio::time::{Instant, sleep};

use crate::rig::{Rig, Smtp, settings};

fn seconds(idle: u64, line: u64, data: u64, transaction: u64) -> Settings {
    Settings {
        idle_timeout: Duration::from_secs(idle),
        line_timeout: Duration::from_secs(line),
        data_timeout: Duration::from_secs(data),
        transaction_timeout: Duration::from_secs(transaction),
        ..settings()
    }
}

#[tokio::test(start_paused = true)]
async fn f12_a_silent_client_is_told_and_closed() {
    let rig = Rig::new(seconds(12, 60, 60, 60));
    let mut client = rig.pipe();
    assert_eq!(client.code().await, Some(220));
    let before = Instant::now();
    assert_eq!(client.codes().await, [421]);
    assert_eq!(before.elapsed().as_secs(), 12);
}

#[tokio::test(start_paused = true)]
async fn t009_a_line_that_trickles_ends_at_its_deadline() {
    let rig = Rig::new(seconds(60, 15, 60, 60));
    let mut client = rig.pipe();
    assert_eq!(client.code().await, Some(220));
    let before = Instant::now();
    for byte in b"EHLO a-very-long-name-that-never-ends".iter().take(12) {
        client.send(&[*byte]).await;
        sleep(Duration::from_secs(9)).await;
        if before.elapsed() >= Duration::from_secs(15) {
            break;
        }
    }
    assert_eq!(client.codes().await, [421]);
    assert!(before.elapsed() < Duration::from_secs(20), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn f12_content_that_stops_ends_the_session_and_keeps_nothing() {
    let rig = Rig::new(seconds(60, 60, 11, 600));
    let mut client = rig.pipe();
    client.begin("half").await;
    assert_eq!(client.ask("DATA").await, Some(354));
    client.send(b"Subject: half\r\n").await;
    let before = Instant::now();
    assert_eq!(client.codes().await, [421]);
    assert_eq!(before.elapsed().as_secs(), 11);
    assert_eq!(rig.kept("half").await, 0);
}

#[tokio::test(start_paused = true)]
async fn t009_content_that_trickles_ends_with_its_transaction() {
    let rig = Rig::new(seconds(60, 60, 10, 30));
    let mut client = rig.pipe();
    client.begin("trickle").await;
    assert_eq!(client.ask("DATA").await, Some(354));
    let before = Instant::now();
    while before.elapsed() < Duration::from_secs(30) {
        client.send(b"x").await;
        sleep(Duration::from_secs(9)).await;
    }
    assert_eq!(client.codes().await, [421]);
    assert_eq!(rig.kept("trickle").await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_slow_but_steady_session_is_served() {
    let rig = Rig::new(seconds(10, 10, 10, 60));
    let mut client = rig.pipe();
    assert_eq!(client.code().await, Some(220));
    for _ in 0..20 {
        sleep(Duration::from_secs(9)).await;
        assert_eq!(client.ask("NOOP").await, Some(250));
    }
}

#[tokio::test(start_paused = true)]
async fn who_talks_into_a_held_back_greeting_is_turned_away() {
    let rig = Rig::new(Settings { greeting_delay: Duration::from_secs(5), ..settings() });
    let mut early = rig.pipe();
    early.send(b"EHLO early.test\r\n").await;
    assert_eq!(early.codes().await, [554]);
    let (mut patient, before) = (rig.pipe(), Instant::now());
    assert_eq!(patient.code().await, Some(220));
    assert_eq!(before.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn f12_a_client_that_reads_nothing_is_given_up() {
    let rig = Rig::new(Settings { write_timeout: Duration::from_secs(7), idle_commands_max: u32::MAX, ..settings() });
    let (client, end) = net::Stream::pipe(64);
    let (server, stop) = (std::sync::Arc::clone(&rig.server), rig.stop.clone());
    let session = tokio::spawn(async move { server.converse(end, smtp::Link::default(), stop).await });
    let (_reading, mut writing) = tokio::io::split(client);
    let before = Instant::now();
    while tokio::io::AsyncWriteExt::write_all(&mut writing, b"NOOP\r\n").await.is_ok() {}
    session.await.expect("the session ends by itself");
    assert!((7..20).contains(&before.elapsed().as_secs()), "{:?}", before.elapsed());
}
