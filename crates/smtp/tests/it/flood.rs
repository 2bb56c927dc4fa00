//! Many clients, much data: limits hold, and nobody else suffers.

use std::time::Duration;

use smtp::Settings;

use crate::rig::{Rig, Smtp, dial, settings};

#[tokio::test]
async fn connections_over_the_limit_are_told_and_come_back() {
    let rig = Rig::new(Settings { connections_max: 3, ..settings() });
    let port = rig.listen();
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut client = dial(port).await;
        assert_eq!(client.code().await, Some(220));
        held.push(client);
    }
    assert_eq!(dial(port).await.codes().await, [421]);
    assert_eq!(held.pop().unwrap().ask("QUIT").await, Some(221));
    let again = async {
        loop {
            if dial(port).await.code().await == Some(220) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(crate::rig::PATIENCE, again).await.expect("the place comes back");
}

#[tokio::test]
async fn one_address_may_not_take_every_place() {
    let rig = Rig::new(Settings { connections_per_ip_max: 2, ..settings() });
    let port = rig.listen();
    let (mut one, mut two) = (dial(port).await, dial(port).await);
    assert_eq!((one.code().await, two.code().await), (Some(220), Some(220)));
    assert_eq!(dial(port).await.codes().await, [421]);
}

#[tokio::test]
async fn bytes_in_flight_are_bounded_and_given_back() {
    let rig = Rig::new(Settings { message_max: 1 << 20, in_flight_max: 300_000, ..settings() });
    let half = format!("Subject: x\r\n\r\n{}\r\n", "y".repeat(200_000));
    let mut first = rig.pipe();
    first.begin("first").await;
    assert_eq!(first.ask("DATA").await, Some(354));
    first.send(half.as_bytes()).await;
    let mut second = rig.pipe();
    second.begin("second").await;
    assert_eq!(second.ask("DATA").await, Some(354));
    second.send(half.as_bytes()).await;
    second.send(b".\r\n").await;
    assert_eq!(second.code().await, Some(452), "the budget is used up");
    first.send(b".\r\n").await;
    assert_eq!(first.code().await, Some(250));
    second.envelope("second").await;
    assert_eq!(second.ask("DATA").await, Some(354));
    second.send(half.as_bytes()).await;
    second.send(b".\r\n").await;
    assert_eq!(second.code().await, Some(250), "room came back");
    assert_eq!((rig.kept("first").await, rig.kept("second").await), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_still_sending_is_heard_out_and_reads_the_last_word() {
    let rig = Rig::new(settings());
    let port = rig.listen();
    for _ in 0..20 {
        let mut client = dial(port).await;
        assert!(client.send(b"BDAT x\r\n").await);
        for _ in 0..40 {
            tokio::time::sleep(Duration::from_millis(1)).await;
            assert!(client.send(&[b'x'; 16 * 1024]).await, "the connection was reset under the client");
        }
        client.end().await;
        assert_eq!(client.codes().await, [220, 501]);
    }
}

#[tokio::test]
async fn t023_a_flooded_mailbox_pushes_out_nobody_elses_mail() {
    let rig = Rig::new(settings());
    let mut client = rig.pipe();
    client.begin("quiet").await;
    client.send(b"DATA\r\n.\r\n").await;
    assert_eq!((client.code().await, client.code().await), (Some(354), Some(250)));
    for _ in 0..2000 {
        client.send(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<loud@x.test>\r\nDATA\r\n.\r\n").await;
        for code in [250, 250, 354, 250] {
            assert_eq!(client.code().await, Some(code));
        }
    }
    assert_eq!(rig.kept("quiet").await, 1);
    assert!(rig.kept("loud").await >= 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_sessions_at_once_keep_everything_once_and_in_order() {
    let rig = Rig::new(settings());
    let port = rig.listen();
    let sessions: Vec<_> = (0..200)
        .map(|number| {
            tokio::spawn(async move {
                let mut client = dial(port).await;
                client.begin(&format!("box{number}")).await;
                for round in 0..5 {
                    if round > 0 {
                        client.envelope(&format!("box{number}")).await;
                    }
                    assert_eq!(client.ask("DATA").await, Some(354));
                    client.send(format!("Subject: {number}/{round}\r\n\r\n.\r\n").as_bytes()).await;
                    assert_eq!(client.code().await, Some(250));
                }
            })
        })
        .collect();
    for session in sessions {
        session.await.unwrap();
    }
    for number in 0..200 {
        let sources = rig.sources(&format!("box{number}")).await;
        let found: Vec<_> = sources
            .iter()
            .map(|raw| String::from_utf8_lossy(raw).rsplit("Subject: ").next().unwrap().trim().to_owned())
            .collect();
        assert_eq!(found, (0..5).map(|round| format!("{number}/{round}")).collect::<Vec<_>>());
    }
}
