//! Many callers at once.

use std::collections::HashSet;

use futures_util::future::join_all;
use mail::MessageId;

use crate::change::Position;

use super::letter::Letter;
use super::trial::{Desk, Trial};

/// Run so many tasks at once and gather what they answer.
async fn at_once<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    tasks: usize,
    task: impl Fn(usize) -> F,
) -> Vec<T> {
    let running = (0..tasks).map(|number| tokio::spawn(task(number)));
    let answers = join_all(running.collect::<Vec<_>>()).await;
    answers.into_iter().map(|answer| answer.expect("no task panics")).collect()
}

/// Messages appended at once are all there, each once, readable, and listed in the order of their ids.
pub(super) async fn concurrent_appends_are_all_there(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let sent = at_once(8, |task| {
        let desk = desk.clone();
        async move {
            let mut ids = Vec::new();
            for round in 0..50 {
                ids.push(desk.send(&format!("{task}/{round}"), "ann").await);
            }
            assert!(ids.is_sorted(), "one sender's mail is in its order");
            ids
        }
    })
    .await;
    let mut sent: Vec<MessageId> = sent.into_iter().flatten().collect();
    sent.sort();
    let listed = desk.ids("ann").await;
    assert_eq!(listed, sent);
    let subjects: HashSet<String> = desk.subjects("ann").await.into_iter().collect();
    assert_eq!(subjects.len(), 400);
    for id in listed {
        assert!(desk.has("ann", id).await);
    }
}

/// Messages to several mailboxes, appended at once, are in each of them once.
pub(super) async fn concurrent_appends_to_several_mailboxes(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let names = ["ann", "bob", "cat", "dan"];
    at_once(8, |task| {
        let desk = desk.clone();
        async move {
            for round in 0..20 {
                let first = names[(task + round) % 4];
                let second = names[(task + round + 1 + task % 2) % 4];
                desk.append(Letter::new(format!("{task}/{round}"), &[first, second])).await;
            }
        }
    })
    .await;
    let mut copies = Vec::new();
    for name in names {
        let ids = desk.ids(name).await;
        assert!(ids.is_sorted_by(|a, b| a < b));
        copies.extend(desk.subjects(name).await);
    }
    copies.sort();
    assert_eq!(copies.len(), 320);
    assert!(copies.chunks(2).all(|pair| pair[0] == pair[1]), "every message in two mailboxes");
    copies.dedup();
    assert_eq!(copies.len(), 160);
}

/// Of several deletes of one message at once, exactly one is told that it was there.
pub(super) async fn racing_deletes_have_one_winner(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for _ in 0..20 {
        let ids = desk.send_all(&["1", "2", "3"], "ann").await;
        let gone = at_once(4, |_| {
            let (desk, ids) = (desk.clone(), ids.clone());
            async move { desk.delete("ann", &ids).await }
        })
        .await;
        let mut gone: Vec<MessageId> = gone.into_iter().flatten().collect();
        gone.sort();
        assert_eq!(gone, ids);
    }
}

/// Purges up to a position seen take nothing that came later: what is counted as gone and what is left is everything.
pub(super) async fn racing_purge_loses_nothing_later(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let counts = at_once(4, |task| {
        let desk = desk.clone();
        async move { if task == 0 { purge_often(&desk).await } else { send_often(&desk, task).await } }
    })
    .await;
    let left = desk.ids("ann").await;
    assert_eq!(counts[0] + left.len() as u64, counts[1..].iter().sum::<u64>());
    assert_eq!(desk.purge("ann", Position::END).await, left.len() as u64);
}

async fn purge_often(desk: &Desk) -> u64 {
    let mut gone = 0;
    for _ in 0..30 {
        let listing = desk.list("ann").await;
        let last = listing.items.last().map(|summary| summary.id);
        tokio::task::yield_now().await;
        let purged = desk.purge("ann", listing.position).await;
        assert_eq!(purged, listing.items.len() as u64, "what was seen went, and nothing else");
        gone += purged;
        let left = desk.ids("ann").await;
        assert!(left.iter().all(|id| Some(*id) > last), "what was seen went");
    }
    gone
}

async fn send_often(desk: &Desk, task: usize) -> u64 {
    for round in 0..60 {
        let id = desk.send(&format!("{task}/{round}"), "ann").await;
        assert!(desk.position("ann").await >= id.into(), "its own mail is not ahead of the position");
    }
    60
}

/// Readers at work beside writers see a mailbox that only grows at its end, each message readable.
pub(super) async fn racing_copies_keep_their_order(trial: &Trial<'_>) {
    let desk = trial.open().await;
    at_once(4, |task| {
        let desk = desk.clone();
        async move {
            let mut seen: Vec<MessageId> = Vec::new();
            for round in 0..50 {
                if task < 2 {
                    desk.append(Letter::new(format!("{task}/{round}"), &["ann", "bob"])).await;
                    continue;
                }
                let now = desk.ids("ann").await;
                assert!(now.starts_with(&seen), "a list was {seen:?}, then {now:?}");
                for id in &now[seen.len()..] {
                    assert!(desk.has("ann", *id).await, "what is listed can be read");
                }
                seen = now;
            }
        }
    })
    .await;
    assert_eq!(desk.subjects("ann").await.len(), 100);
}
