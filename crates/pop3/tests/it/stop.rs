//! The graceful stop: who waits is told at once, who is answered is answered, and a QUIT under way deletes.

use net::Phase;

use crate::rig::{PATIENCE, Pop3, Rig, dial, settings};

const STOPPING: &str = "-ERR [SYS/TEMP] This server is being stopped; try again soon";

#[tokio::test]
async fn an_idle_session_is_told_and_deletes_nothing() {
    let rig = Rig::new(settings());
    rig.put("box", &b"Subject: x\r\n\r\n"[..]).await;
    let port = rig.listen();
    let (mut idle, mut marked) = (dial(port).await, dial(port).await);
    assert!(idle.line().await.unwrap().starts_with("+OK"));
    marked.sign_in("box").await;
    assert!(marked.ok("DELE 1").await);
    rig.stopper.advance(Phase::Draining);
    assert_eq!(idle.lines().await, [STOPPING]);
    assert_eq!(marked.lines().await, [STOPPING]);
    assert_eq!(rig.kept("box").await, 1);
    let refused = async {
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.expect("the listener is gone");
}

#[tokio::test]
async fn an_answer_under_way_is_finished() {
    let rig = Rig::new(settings());
    rig.put("box", "x".repeat(500_000)).await;
    let mut client = rig.pipe_from(None, 1000);
    client.sign_in("box").await;
    assert!(client.ok("RETR 1").await);
    rig.stopper.advance(Phase::Draining);
    assert_eq!(client.body().await.len(), 500_002);
    assert_eq!(client.lines().await, [STOPPING]);
}

#[tokio::test]
async fn what_does_not_finish_is_cut() {
    let rig = Rig::new(settings());
    rig.put("box", "x".repeat(500_000)).await;
    let mut client = rig.pipe_from(None, 1000);
    client.sign_in("box").await;
    assert!(client.ok("RETR 1").await);
    rig.stopper.advance(Phase::Ending);
    let rest = client.rest().await;
    assert!(rest.len() < 300_000 && !rest.ends_with(b".\r\n"), "{}", rest.len());
}
