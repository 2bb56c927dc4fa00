//! Many clients, much data: limits hold, and what was held comes back.

use std::time::Duration;

use pop3::Settings;

use crate::rig::{PATIENCE, Pop3, Rig, dial, settings};

#[tokio::test]
async fn connections_over_the_limit_are_told_and_come_back() {
    let rig = Rig::new(Settings { connections_max: 2, ..settings() });
    let port = rig.listen();
    let (mut one, mut two) = (dial(port).await, dial(port).await);
    assert!(one.line().await.unwrap().starts_with("+OK") && two.line().await.unwrap().starts_with("+OK"));
    assert_eq!(dial(port).await.lines().await, ["-ERR [SYS/TEMP] Too many connections; try again soon"]);
    assert_eq!(two.ask("QUIT").await, "+OK Bye");
    drop(two);
    let again = async {
        while !dial(port).await.line().await.is_some_and(|line| line.starts_with("+OK")) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, again).await.expect("the place comes back");
}

#[tokio::test]
async fn one_address_may_not_take_every_place() {
    let rig = Rig::new(Settings { connections_per_ip_max: 1, ..settings() });
    let port = rig.listen();
    let mut one = dial(port).await;
    assert!(one.line().await.unwrap().starts_with("+OK"));
    assert!(dial(port).await.lines().await[0].starts_with("-ERR [SYS/TEMP]"));
}

#[tokio::test]
async fn what_is_being_sent_is_bounded_and_given_back() {
    let rig = Rig::new(Settings { answers_max: 1_000_000, ..settings() });
    rig.put("box", "x".repeat(600_000)).await;
    let mut slow = rig.pipe_from(None, 1000);
    slow.sign_in("box").await;
    assert!(slow.ok("RETR 1").await, "it holds its message until it has read it");
    let mut other = rig.pipe();
    other.sign_in("box").await;
    assert!(other.ask("RETR 1").await.starts_with("-ERR [SYS/TEMP] Too much mail is being read"));
    assert!(other.ok("STAT").await);
    slow.body().await;
    assert!(slow.ok("NOOP").await);
    assert!(other.ok("RETR 1").await, "room came back");
    other.body().await;
}

#[tokio::test]
async fn a_message_larger_than_all_the_room_comes_alone() {
    let rig = Rig::new(Settings { answers_max: 1000, ..settings() });
    rig.put("box", "x".repeat(600_000)).await;
    let mut client = rig.pipe();
    client.sign_in("box").await;
    for _ in 0..2 {
        assert!(client.ok("RETR 1").await);
        assert_eq!(client.body().await.len(), 600_002);
    }
}

#[tokio::test]
async fn what_sessions_remember_is_bounded_and_given_back() {
    let rig = Rig::new(Settings { answers_max: 17 * 150, ..settings() });
    for _ in 0..100 {
        rig.put("box", &b"\r\n"[..]).await;
    }
    let mut first = rig.pipe();
    first.sign_in("box").await;
    let mut second = rig.pipe();
    assert!(second.line().await.unwrap().starts_with("+OK"));
    assert!(second.ok("USER box").await);
    assert!(second.ask("PASS x").await.starts_with("-ERR [SYS/TEMP] Too much mail is being read"));
    assert_eq!(first.ask("QUIT").await, "+OK Bye");
    first.rest().await;
    let again = async {
        while !(second.ok("USER box").await && second.ok("PASS x").await) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, again).await.expect("room came back");
}

#[tokio::test]
async fn t008_a_line_without_end_is_not_kept() {
    let rig = Rig::new(settings());
    let mut client = rig.pipe();
    assert!(client.line().await.unwrap().starts_with("+OK"));
    let piece = [b'x'; 16 * 1024];
    for _ in 0..1000 {
        if !client.send(&piece).await {
            break;
        }
    }
    let said = client.lines().await;
    assert_eq!(said, ["-ERR The line is too long", "-ERR Too many errors; closing"]);
}
