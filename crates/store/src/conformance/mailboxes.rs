//! The list of mailboxes, and what an engine says about itself.

use std::time::Duration;

use bytes::Bytes;

use crate::change::Position;
use crate::error::Error;
use crate::list::{MailboxOrder, MailboxPage, MailboxState, RecentPage};

use super::Need;
use super::letter::{Letter, mailbox};
use super::trial::{Desk, Trial, names};

async fn page(desk: &Desk, prefix: &str, order: MailboxOrder<'_>, limit: usize) -> Vec<MailboxState> {
    desk.store.mailboxes(MailboxPage { prefix, order, limit }).await.expect("mailboxes are listed")
}

async fn listed(desk: &Desk, prefix: &str, order: MailboxOrder<'_>) -> Vec<String> {
    let states = page(desk, prefix, order, 100).await;
    states.into_iter().map(|state| state.mailbox.as_str().to_owned()).collect()
}

/// Mailboxes by name come in the order of their bytes, with what they hold, in pages without gap or repetition.
pub(super) async fn mailboxes_by_name(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for name in ["cat", "ann", "ännchen", "bob", "b"] {
        desk.send("1", name).await;
    }
    let last = desk.append(Letter::new("2", &["bob"]).size(5_000)).await[0];
    assert_eq!(listed(&desk, "", MailboxOrder::default()).await, ["ann", "b", "bob", "cat", "ännchen"]);
    let bob = &page(&desk, "bob", MailboxOrder::default(), 1).await[0];
    let sizes: u64 = desk.list("bob").await.items.iter().map(|summary| summary.size).sum();
    assert_eq!((bob.messages, bob.bytes, bob.newest), (2, sizes, last));
    assert_eq!(bob.position, desk.position("bob").await);
    assert_eq!(bob.newest_at, desk.list("bob").await.items[1].received_at);

    let mut seen = Vec::new();
    loop {
        let next = page(&desk, "", MailboxOrder::Name { after: seen.last() }, 2).await;
        if next.is_empty() {
            break;
        }
        seen.extend(next.into_iter().map(|state| state.mailbox));
    }
    assert_eq!(names(&seen), ["ann", "b", "bob", "cat", "ännchen"]);
}

/// A prefix picks the names that begin with it, in either order, also behind a name outside it.
pub(super) async fn mailboxes_by_prefix(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for name in ["aa", "ab", "abc", "abd", "ac", "b"] {
        desk.send("1", name).await;
    }
    assert_eq!(listed(&desk, "ab", MailboxOrder::default()).await, ["ab", "abc", "abd"]);
    assert_eq!(listed(&desk, "ab", MailboxOrder::Newest { before: None }).await, ["abd", "abc", "ab"]);
    assert!(listed(&desk, "abcd", MailboxOrder::default()).await.is_empty());
    for (after, expected) in [("a", &["ab", "abc", "abd"][..]), ("abc", &["abd"]), ("b", &[])] {
        let after = mailbox(after);
        assert_eq!(listed(&desk, "ab", MailboxOrder::Name { after: Some(&after) }).await, expected);
    }
}

/// Mailboxes by newest mail begin with the one that got mail last; a page behind a message repeats none.
pub(super) async fn mailboxes_by_newest(trial: &Trial<'_>) {
    let desk = trial.open().await;
    desk.send_all(&["1", "2"], "ann").await;
    desk.send("3", "bob").await;
    desk.send("4", "cat").await;
    let again = desk.send("5", "ann").await;
    let newest = MailboxOrder::Newest { before: None };
    assert_eq!(listed(&desk, "", newest).await, ["ann", "cat", "bob"]);
    let first = page(&desk, "", newest, 2).await;
    assert_eq!(first[0].newest, again);
    desk.send("6", "cat").await;
    let behind = MailboxOrder::Newest { before: Some(first[1].newest) };
    assert_eq!(listed(&desk, "", behind).await, ["bob"], "the last of a page got mail meanwhile");
    desk.delete("ann", &[again]).await;
    assert_eq!(listed(&desk, "", newest).await, ["cat", "bob", "ann"], "its newest is an older one again");
}

/// A mailbox that holds nothing any more is not listed.
pub(super) async fn emptied_mailbox_is_not_listed(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let id = desk.send("1", "ann").await;
    desk.send("2", "bob").await;
    desk.delete("ann", &[id]).await;
    desk.purge("bob", Position::END).await;
    for order in [MailboxOrder::default(), MailboxOrder::Newest { before: None }] {
        assert!(listed(&desk, "", order).await.is_empty());
    }
    desk.send("3", "ann").await;
    assert_eq!(listed(&desk, "", MailboxOrder::default()).await, ["ann"]);
}

/// A call that an engine lacks answers `Unsupported`, and nothing else.
pub(super) async fn what_is_lacking_is_said(trial: &Trial<'_>) {
    let desk = trial.open().await;
    if trial.lacks(Need::Recent) {
        let answer = desk.store.recent(RecentPage { before: None, limit: 1 }).await;
        assert!(matches!(answer, Err(Error::Unsupported { .. })), "{answer:?}");
    }
    if trial.lacks(Need::Mailboxes) {
        let answer = desk.store.mailboxes(MailboxPage { prefix: "", order: MailboxOrder::default(), limit: 1 }).await;
        assert!(matches!(answer, Err(Error::Unsupported { .. })), "{answer:?}");
    }
}

/// A store opened once has no other nodes: nobody is asked, and asking does not fail.
pub(super) async fn nobody_else_is_asked(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let question = Bytes::from_static(b"anybody?");
    let gathered = desk.store.peers().ask("suite", question, Duration::from_millis(50)).await.expect("asking works");
    assert_eq!((gathered.asked, gathered.answers.len()), (0, 0));
}

/// An engine names itself and what a stored message may rely on.
pub(super) async fn abilities_are_told(trial: &Trial<'_>) {
    let abilities = trial.open().await.store.abilities();
    assert!(!abilities.engine.is_empty() && !abilities.promise.is_empty());
    let partial = trial.lacks(Need::Recent) || trial.lacks(Need::Mailboxes);
    assert!(!(abilities.whole_view && partial), "a whole view with calls missing");
}
