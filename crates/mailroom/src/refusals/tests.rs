//! The ring.

use jiff::Timestamp;
use store::Scope;

use super::{RECIPIENTS_MAX, Refusal, Refused, Ring, Stage};
use crate::stub::{address, mailbox};
use crate::verdict::Status;

fn refusal(number: usize, mailboxes: &[&str]) -> Refusal {
    Refusal {
        at: Timestamp::UNIX_EPOCH,
        stage: Stage::Rcpt,
        mail_from: None,
        rcpt_to: mailboxes.iter().map(|name| address(&format!("{name}@x.test"))).collect(),
        mailboxes: mailboxes.iter().map(|name| mailbox(name)).collect(),
        helo: None,
        peer: None,
        reply: Status { code: 550, enhanced: (5, 1, 1), text: number.to_string() },
        fault: None,
    }
}

fn check(ring: &Ring, scope: Scope, limit: usize, expected: &[&str]) {
    let told: Vec<String> =
        ring.list(&scope, limit, |_| true).items.into_iter().map(|refusal| refusal.reply.text).collect();
    assert_eq!(told, expected);
}

#[test]
fn the_newest_are_kept_and_the_rest_is_counted() {
    let ring = Ring::new(3, 4);
    (1..=5).for_each(|number| ring.keep(refusal(number, &["a"])));
    check(&ring, Scope::All, 10, &["5", "4", "3"]);
    check(&ring, Scope::All, 2, &["5", "4"]);
    assert_eq!(ring.list(&Scope::All, 0, |_| true).forgotten, 2);
}

#[test]
fn a_mailbox_sees_its_own() {
    let ring = Ring::new(10, 4);
    ring.keep(refusal(1, &["a", "b"]));
    ring.keep(refusal(2, &["b"]));
    ring.keep(refusal(3, &[]));
    check(&ring, Scope::Mailbox(mailbox("a")), 10, &["1"]);
    check(&ring, Scope::Mailbox(mailbox("b")), 10, &["2", "1"]);
    check(&ring, Scope::Mailbox(mailbox("c")), 10, &[]);
    check(&ring, Scope::All, 10, &["3", "2", "1"]);
}

#[test]
fn a_ring_of_none_keeps_none() {
    let ring = Ring::new(0, 4);
    ring.keep(refusal(1, &["a"]));
    check(&ring, Scope::All, 10, &[]);
    assert_eq!(ring.list(&Scope::All, 1, |_| true).forgotten, 1);
}

#[test]
fn one_refusal_cannot_hold_a_thousand_recipients() {
    let names: Vec<String> = (0..1000).map(|number| format!("u{number}")).collect();
    let ring = Ring::new(1, 4);
    ring.keep(refusal(1, &names.iter().map(String::as_str).collect::<Vec<_>>()));
    let kept = ring.list(&Scope::All, 1, |_| true).items.remove(0);
    assert_eq!((kept.rcpt_to.len(), kept.mailboxes.len()), (RECIPIENTS_MAX, RECIPIENTS_MAX));
    assert_eq!(kept.mailboxes.last(), Some(&mailbox("u999")), "the refused one is the last");
}

#[tokio::test]
async fn whoever_watches_hears_of_what_follows() {
    let ring = Ring::new(0, 4);
    ring.keep(refusal(1, &["a"]));
    let mut watch = ring.watch();
    ring.keep(refusal(2, &["a"]));
    ring.keep(refusal(3, &[]));
    let mut text = async || match watch.next().await {
        Refused::One(refusal) => refusal.reply.text.clone(),
        Refused::Missed(count) => format!("{count} missed"),
        Refused::Acted(acted) => acted.what.clone(),
    };
    assert_eq!((text().await.as_str(), text().await.as_str()), ("2", "3"), "though none is remembered");
    (4..=9).for_each(|number| ring.keep(refusal(number, &["a"])));
    assert_eq!((text().await.as_str(), text().await.as_str()), ("2 missed", "6"), "and is told what it missed");
}

#[tokio::test]
async fn a_watcher_that_waits_is_woken_and_one_that_went_is_forgotten() {
    let ring = std::sync::Arc::new(Ring::new(0, 4));
    let mut watch = ring.watch();
    let waiting = tokio::spawn(async move { watch.next().await });
    tokio::task::yield_now().await;
    ring.keep(refusal(1, &["a"]));
    assert!(matches!(waiting.await.unwrap(), Refused::One(_)));
    ring.keep(refusal(2, &["a"]));
    assert_eq!(ring.watchers(), 0);
}
