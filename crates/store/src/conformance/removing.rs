//! Deletes and purges.

use mail::MessageId;

use crate::change::{Change, News, Position};

use super::letter::{Letter, job, mailbox};
use super::trial::Trial;

/// A delete answers which of the messages were there, in the order asked, each once.
pub(super) async fn delete_names_what_was_there(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let sent = desk.send_all(&["1", "2", "3"], "ann").await;
    let unknown = MessageId::new(1);
    let asked = [sent[2], unknown, sent[0], sent[2]];
    assert_eq!(desk.delete("ann", &asked).await, [sent[2], sent[0]]);
    assert!(desk.delete("ann", &asked).await.is_empty());
    assert!(desk.delete("ann", &[]).await.is_empty());
    assert_eq!(desk.subjects("ann").await, ["2"]);
}

/// A delete takes nothing but what it names: not before it, not behind it, not in other mailboxes.
pub(super) async fn delete_leaves_the_others(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut sent = Vec::new();
    for subject in ["1", "2", "3", "4", "5"] {
        sent.push(desk.append(Letter::new(subject, &["ann", "bob"])).await[0]);
    }
    desk.delete("ann", &[sent[2]]).await;
    assert_eq!(desk.subjects("ann").await, ["1", "2", "4", "5"]);
    assert_eq!(desk.subjects("bob").await, ["1", "2", "3", "4", "5"]);
    for id in [sent[0], sent[1], sent[3], sent[4]] {
        assert!(desk.has("ann", id).await);
    }
    assert!(!desk.has("ann", sent[2]).await);
}

/// A delete that finds nothing raises no change and no job, and moves no position.
pub(super) async fn delete_of_nothing_is_silent(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let id = desk.send("1", "ann").await;
    let mut changes = desk.changes("ann", id.into()).await;
    let gone = desk.store.delete(&mailbox("ann"), &[MessageId::new(1)], vec![job("suite", "gone")]).await;
    assert!(gone.expect("a delete is answered").is_empty());
    assert_eq!(desk.position("ann").await, id.into());
    assert_eq!(desk.waiting("suite").await, 0);
    desk.send("2", "ann").await;
    assert_eq!(changes.word().await, "+ 2");
}

/// A purge up to a position takes what lies there up to it, the position included, and nothing later.
pub(super) async fn purge_spares_what_came_later(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let sent = desk.send_all(&["1", "2", "3", "4"], "ann").await;
    desk.send("1", "bob").await;
    assert_eq!(desk.purge("ann", sent[1].into()).await, 2);
    assert_eq!(desk.subjects("ann").await, ["3", "4"]);
    let seen = desk.list("ann").await.position;
    desk.send("5", "ann").await;
    assert_eq!(desk.purge("ann", seen).await, 2);
    assert_eq!(desk.subjects("ann").await, ["5"]);
    assert_eq!(desk.subjects("bob").await, ["1"]);
}

/// A purge to the end empties a mailbox; what comes afterwards stays, whatever was said about the purge.
pub(super) async fn purge_to_the_end_empties(trial: &Trial<'_>) {
    let desk = trial.open().await;
    desk.send_all(&["1", "2", "3"], "ann").await;
    let mut changes = desk.changes("ann", desk.position("ann").await).await;
    assert_eq!(desk.purge("ann", Position::END).await, 3);
    assert!(desk.subjects("ann").await.is_empty());
    let later = desk.send("4", "ann").await;
    assert_eq!(desk.subjects("ann").await, ["4"]);
    let News::Change(Change::Purged { up_to, position, .. }) = changes.next().await else {
        panic!("a purge is told as such")
    };
    assert!(up_to <= position && position < later.into(), "up to {up_to:?} at {position:?}, before {later}");
}

/// A purge that finds nothing raises no change and no job.
pub(super) async fn purge_of_nothing_is_silent(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let id = desk.send("1", "ann").await;
    let mut changes = desk.changes("ann", id.into()).await;
    for (name, up_to) in [("ann", Position::START), ("ann", Position(id.number() - 1)), ("bob", Position::END)] {
        let gone = desk.store.purge(&mailbox(name), up_to, vec![job("suite", "gone")]).await;
        assert_eq!(gone.expect("a purge is answered"), 0);
    }
    assert_eq!(desk.waiting("suite").await, 0);
    assert_eq!(desk.subjects("ann").await, ["1"]);
    desk.send("2", "ann").await;
    assert_eq!(changes.word().await, "+ 2");
}
