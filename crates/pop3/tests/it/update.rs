//! T090: what is deleted, when, and by whom. Only QUIT deletes, and all that is marked or nothing.

use crate::rig::{Pop3, Rig, dial, settings};

const LETTERS: usize = 3;

async fn filled() -> Rig {
    let rig = Rig::new(settings());
    refill(&rig).await;
    rig
}

async fn refill(rig: &Rig) {
    while rig.kept("box").await < LETTERS {
        rig.put("box", &b"Subject: x\r\n\r\nbody\r\n"[..]).await;
    }
}

const DIALOGUE: &[u8] = b"USER box\r\nPASS x\r\nLIST\r\nRETR 1\r\nDELE 1\r\nDELE 3\r\nRETR 2\r\nNOOP\r\nQUIT\r\n";

#[tokio::test]
async fn t090_a_client_that_vanishes_at_any_byte_deletes_nothing() {
    let rig = filled().await;
    let port = rig.listen();
    for sent in 0..=DIALOGUE.len() {
        refill(&rig).await;
        let mut client = dial(port).await;
        client.send(&DIALOGUE[..sent]).await;
        client.end().await;
        let said_bye = client.lines().await.last().is_some_and(|line| line.ends_with("2 messages deleted"));
        assert_eq!(said_bye, sent == DIALOGUE.len(), "{sent} bytes");
        assert_eq!(rig.kept("box").await, if said_bye { 1 } else { LETTERS }, "{sent} bytes");
    }
}

/// The connection is cut without an end of its own, at every step, by a client that reads its replies and by one that
/// does not.
#[tokio::test]
async fn t090_a_connection_that_is_cut_after_any_step_deletes_nothing() {
    let mut rig = filled().await;
    let port = rig.listen();
    let steps: Vec<_> = DIALOGUE.split_inclusive(|byte| *byte == b'\n').collect();
    for count in 0..steps.len() {
        for reads in [true, false] {
            let mut client = dial(port).await;
            assert!(client.line().await.unwrap().starts_with("+OK"));
            for step in &steps[..count] {
                client.send(step).await;
                if reads {
                    assert!(client.line().await.unwrap().starts_with("+OK"));
                    if step.starts_with(b"LIST") || step.starts_with(b"RETR") {
                        client.body().await;
                    }
                }
            }
            drop(client);
        }
    }
    rig.all_ended().await;
    assert_eq!(rig.kept("box").await, LETTERS);
}

#[tokio::test]
async fn t090_two_sessions_that_delete_the_same_both_succeed_once() {
    let rig = filled().await;
    let port = rig.listen();
    let (mut one, mut two) = (dial(port).await, dial(port).await);
    one.sign_in("box").await;
    two.sign_in("box").await;
    for command in ["DELE 1", "DELE 2"] {
        assert!(one.ok(command).await && two.ok(command).await);
    }
    assert!(two.ok("DELE 3").await);
    assert_eq!(rig.kept("box").await, LETTERS, "nothing before QUIT");
    assert_eq!(one.ask("QUIT").await, "+OK Bye; 2 messages deleted");
    assert_eq!(rig.kept("box").await, 1);
    assert!(two.ask("RETR 1").await.starts_with("-ERR This message is marked"));
    assert_eq!(two.ask("QUIT").await, "+OK Bye; 1 message deleted");
    assert_eq!(rig.kept("box").await, 0);
}

#[tokio::test]
async fn t090_sessions_that_race_delete_each_message_once() {
    let rig = Rig::new(settings());
    let port = rig.listen();
    for round in 0..10 {
        for _ in 0..20 {
            rig.put("box", &b"Subject: x\r\n\r\n"[..]).await;
        }
        let mut sessions = Vec::new();
        for offset in 0..5 {
            let mut client = dial(port).await;
            client.sign_in("box").await;
            for message in offset + 1..=offset + 10 {
                assert!(client.ok(&format!("DELE {message}")).await);
            }
            sessions.push(client);
        }
        let quits: Vec<_> =
            sessions.into_iter().map(|mut client| tokio::spawn(async move { client.ask("QUIT").await })).collect();
        let mut deleted = 0;
        for quit in quits {
            let reply = quit.await.unwrap();
            let count = reply.strip_prefix("+OK Bye; ").and_then(|rest| rest.split(' ').next()).unwrap();
            deleted += count.parse::<usize>().unwrap();
        }
        assert_eq!(deleted, 14, "messages 1 to 14, each by one of them");
        assert_eq!(rig.kept("box").await, 6, "round {round}");
        for id in rig.ids("box").await {
            rig.take_away("box", id).await;
        }
    }
}

#[tokio::test]
async fn what_arrives_or_vanishes_meanwhile_moves_no_number() {
    let rig = filled().await;
    let port = rig.listen();
    let ids = rig.ids("box").await;
    let mut client = dial(port).await;
    client.sign_in("box").await;
    rig.take_away("box", ids[0]).await;
    rig.put("box", &b"Subject: new\r\n\r\n"[..]).await;
    assert!(client.ask("STAT").await.starts_with("+OK 3 "), "as it was at sign-in");
    assert_eq!(client.ask("UIDL 2").await, format!("+OK 2 {}", ids[1]));
    assert!(client.ask("RETR 1").await.starts_with("-ERR This message is no longer there"));
    assert!(client.ask("RETR 4").await.starts_with("-ERR There is no message"));
    assert!(client.ok("RETR 2").await);
    client.body().await;
    for message in 1..=3 {
        assert!(client.ok(&format!("DELE {message}")).await);
    }
    assert_eq!(client.ask("QUIT").await, "+OK Bye; 2 messages deleted");
    assert_eq!(rig.kept("box").await, 1, "the new one stays");
}
