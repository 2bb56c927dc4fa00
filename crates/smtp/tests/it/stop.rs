//! The graceful stop: idle sessions are told at once, running transactions finish.

use net::Phase;

use crate::rig::{Rig, Smtp, dial, settings};

#[tokio::test]
async fn an_idle_session_is_told_and_a_new_one_turned_away() {
    let rig = Rig::new(settings());
    let port = rig.listen();
    let mut client = dial(port).await;
    assert_eq!(client.code().await, Some(220));
    rig.stopper.advance(Phase::Draining);
    assert_eq!(client.codes().await, [421]);
    let refused = async {
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::rig::PATIENCE, refused).await.expect("the listener is gone");
}

#[tokio::test]
async fn a_running_transaction_finishes_then_the_session_ends() {
    let rig = Rig::new(settings());
    let mut client = rig.pipe();
    client.begin("late").await;
    assert_eq!(client.ask("DATA").await, Some(354));
    rig.stopper.advance(Phase::Draining);
    client.send(b"Subject: late\r\n\r\nbody\r\n.\r\n").await;
    assert_eq!(client.codes().await, [250, 421]);
    assert_eq!(rig.kept("late").await, 1);
}

#[tokio::test]
async fn what_does_not_finish_is_told_and_keeps_nothing() {
    let rig = Rig::new(settings());
    let mut client = rig.pipe();
    client.begin("stuck").await;
    assert_eq!(client.ask("DATA").await, Some(354));
    client.send(b"Subject: stuck\r\n").await;
    rig.stopper.advance(Phase::Ending);
    assert_eq!(client.codes().await, [421]);
    assert_eq!(rig.kept("stuck").await, 0);
}
