//! T001 over real sockets: a false ending never makes two messages of one, wherever the segments are cut.

use crate::rig::{Rig, Smtp, dial, settings};

const ENDS: [&str; 5] = ["\r\n", "\n", "\r", "\n\r", "\r\0\n"];

fn false_endings() -> impl Iterator<Item = String> {
    let pairs = ENDS.iter().flat_map(|before| ENDS.iter().map(move |after| (*before, *after)));
    pairs.filter(|pair| *pair != ("\r\n", "\r\n")).map(|(before, after)| format!("{before}.{after}"))
}

#[tokio::test]
async fn t001_false_endings_end_nothing_at_any_cut() {
    let rig = Rig::new(settings());
    let port = rig.listen();
    let behind = "MAIL FROM:<b@x.test>\r\nRCPT TO:<victim@x.test>\r\nDATA\r\nSubject: no\r\n\r\n.\r\nQUIT\r\n";
    let mut tried = 0;
    for ending in false_endings() {
        for cut in 0..=ending.len() + 1 {
            let payload = format!("Subject: x\r\n\r\nfirst{ending}{behind}");
            let (head, tail) = payload.as_bytes().split_at("Subject: x\r\n\r\nfirst".len() + cut);
            let mut client = dial(port).await;
            client.begin("box").await;
            assert_eq!(client.ask("DATA").await, Some(354));
            client.send(head).await;
            tokio::task::yield_now().await;
            client.send(tail).await;
            assert_eq!(client.codes().await, [521], "{ending:?} cut at {cut}");
            tried += 1;
        }
    }
    assert!(tried > 24 * 3, "{tried}");
    assert_eq!(rig.kept("victim").await, 0);
    assert_eq!(rig.kept("box").await, 0);
}

#[tokio::test]
async fn t001_a_true_ending_is_found_at_any_cut() {
    let rig = Rig::new(settings());
    let port = rig.listen();
    let message = b"Subject: x\r\n\r\nbody\r\n.\r\nQUIT\r\n";
    for cut in 1..message.len() {
        let (head, tail) = message.split_at(cut);
        let mut client = dial(port).await;
        client.begin("border").await;
        assert_eq!(client.ask("DATA").await, Some(354));
        client.send(head).await;
        tokio::task::yield_now().await;
        client.send(tail).await;
        assert_eq!(client.codes().await, [250, 221], "cut at {cut}");
    }
    assert_eq!(rig.kept("border").await, message.len() - 1);
}
