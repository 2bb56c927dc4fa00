//! Appends: one message, all its mailboxes, or nothing.

use futures_util::FutureExt;
use futures_util::future::poll_fn;
use mail::MessageId;
use std::task::Poll;

use crate::change::Position;
use crate::error::Error;

use super::letter::{Letter, job, mailbox};
use super::trial::{Desk, Trial, soon};

/// One append puts a message into every mailbox named, and answers in their order.
pub(super) async fn append_reaches_every_mailbox(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let names: Vec<String> = (0..40).map(|number| format!("box{number}")).collect();
    let to: Vec<&str> = names.iter().map(String::as_str).collect();
    let filed = desk.try_append(&Letter::new("all", &to)).await.expect("an append succeeds");
    assert_eq!(filed.len(), to.len());
    for (name, filed) in names.iter().zip(filed) {
        assert_eq!(filed.mailbox, mailbox(name));
        assert_eq!(desk.ids(name).await, [filed.id]);
        assert!(desk.has(name, filed.id).await);
    }
}

/// The same bytes sent twice are two messages: nothing is taken for a repetition.
pub(super) async fn same_message_twice_is_two(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let letter = Letter::new("again", &["ann", "bob"]);
    desk.append(letter.clone()).await;
    desk.append(letter).await;
    assert_eq!(desk.subjects("ann").await, ["again", "again"]);
    assert_eq!(desk.subjects("bob").await, ["again", "again"]);
}

/// A copy deleted in one mailbox is whole in the others, down to the last.
pub(super) async fn copies_go_one_by_one(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let names = ["ann", "bob", "cat"];
    let letter = Letter::new("shared", &names).size(10_000);
    let ids = desk.append(letter.clone()).await;
    for gone in 0..names.len() {
        for left in gone..names.len() {
            let stored = desk.store.read(&mailbox(names[left]), ids[left]).await.expect("a read is answered");
            assert!(stored.expect("it is there").raw == letter.raw());
        }
        desk.delete(names[gone], &[ids[gone]]).await;
        assert!(!desk.has(names[gone], ids[gone]).await);
    }
}

/// An append that does not fit leaves no copy in any mailbox, no job, no change, and pushes nothing out.
pub(super) async fn refused_append_leaves_nothing(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.bytes_max = Some(1 << 20)).await;
    let kept = desk.send("kept", "ann").await;
    let mut changes = desk.changes("ann", Position::END).await;
    let letter = Letter::new("too large", &["ann", "bob", "cat"]).size(2 << 20).job(job("suite", "never"));
    let refused = desk.try_append(&letter).await;
    assert!(matches!(refused, Err(Error::Full { .. })), "{refused:?}");
    assert_eq!(desk.ids("ann").await, [kept]);
    assert!(desk.subjects("bob").await.is_empty() && desk.subjects("cat").await.is_empty());
    assert_eq!(desk.waiting("suite").await, 0);
    desk.send("next", "ann").await;
    assert_eq!(changes.word().await, "+ next");
}

/// A full store refuses new mail and keeps what it has; reads and deletes go on, and deletes make room again.
pub(super) async fn t085_full_store_refuses_and_recovers(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.bytes_max = Some(4 << 20)).await;
    let letter = |number: usize| Letter::new(format!("{number}"), &["ann"]).size(256 << 10);
    let mut sent = Vec::new();
    let refused = loop {
        match desk.try_append(&letter(sent.len())).await {
            Ok(filed) => sent.push(filed[0].id),
            Err(error) => break error,
        }
        assert!(sent.len() <= 64, "16 MiB went into a store of 4 MiB");
    };
    assert!(matches!(refused, Error::Full { .. }), "{refused:?}");
    assert_eq!(desk.ids("ann").await, sent);
    desk.delete("ann", &sent[..sent.len() / 2]).await;
    soon(async {
        while desk.try_append(&letter(0)).await.is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
}

/// An append whose caller goes away at any point is in all its mailboxes, with its job, or in none, without.
pub(super) async fn dropped_append_is_all_or_nothing(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for polls in 0..40 {
        let (ann, bob) = (format!("ann{polls}"), format!("bob{polls}"));
        let kind = format!("half{polls}");
        let letter = Letter::new("half", &[&ann, &bob]).job(job(&kind, "half"));
        let finished = poll_some(&desk, &letter, polls).await;
        soon(async {
            loop {
                let copies = (desk.ids(&ann).await.len(), desk.ids(&bob).await.len());
                let jobs = desk.waiting(&kind).await;
                if matches!((copies, jobs), ((0, 0), 0) | ((1, 1), 1)) {
                    return assert!(copies.0 == 1 || !finished, "an append that returned is there");
                }
                assert!(copies.0 <= 1 && copies.1 <= 1 && jobs <= 1, "{copies:?} copies, {jobs} jobs");
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        })
        .await;
        if finished && polls > 3 {
            break;
        }
    }
}

/// Poll an append so many times, then drop it; whether it had finished.
async fn poll_some(desk: &Desk, letter: &Letter, polls: usize) -> bool {
    let mut append = desk.try_append(letter).boxed();
    let mut left = polls;
    let polled = poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        match append.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(answer.is_ok()),
            Poll::Pending if left == 0 => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    });
    soon(polled).await
}

/// What an append answered is there after a crash, and what was deleted or purged is not.
pub(super) async fn appended_mail_survives_reopening(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let letter = Letter::new("kept", &["ann", "bob"]).size(100_000);
    let ids = desk.append(letter.clone()).await;
    let gone = desk.send("deleted", "ann").await;
    desk.delete("ann", &[gone]).await;
    desk.send("purged", "cat").await;
    desk.purge("cat", Position::END).await;
    let before: (Vec<MessageId>, Position) = (desk.ids("ann").await, desk.position("ann").await);
    let desk = trial.reopen(desk).await;
    assert_eq!((desk.ids("ann").await, desk.position("ann").await), before);
    assert!(desk.subjects("cat").await.is_empty() && !desk.has("ann", gone).await);
    let stored = desk.store.read(&mailbox("bob"), ids[1]).await.expect("a read is answered").expect("it is there");
    assert!(stored.raw == letter.raw() && *stored.envelope == letter.envelope());
}
