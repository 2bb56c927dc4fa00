//! Streams of changes.

use crate::change::{Change, News, Position, Scope};

use super::Need;
use super::letter::{Letter, job, mailbox};
use super::trial::{Desk, Feed, Trial};

/// Everything that is done to a mailbox, so that its changes are `+ 1`, `+ 2`, a delete, `+ 3`, a purge, `+ 4`.
async fn do_everything(desk: &Desk) -> Vec<Position> {
    let mut positions = Vec::new();
    let sent = desk.send_all(&["1", "2"], "ann").await;
    positions.extend(sent.iter().map(|id| Position::from(*id)));
    desk.delete("ann", &sent[..1]).await;
    positions.push(desk.position("ann").await);
    positions.push(desk.send("3", "ann").await.into());
    desk.store.purge(&mailbox("ann"), sent[1].into(), vec![job("suite", "purged")]).await.expect("a purge is answered");
    positions.push(desk.position("ann").await);
    positions.push(desk.send("4", "ann").await.into());
    positions
}

/// Whether a stream was held when things happened, or tells them anew.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Live,
    Anew,
}

async fn expect_everything(feed: &mut Feed, positions: &[Position], from: usize, told: Told) {
    let mut change = None;
    for (place, position) in positions.iter().enumerate().skip(from) {
        let next = match change.take() {
            Some(change) => change,
            None => feed.next().await,
        };
        let has_gone_since = place < 2;
        if told == Told::Anew && has_gone_since && next.position() != *position {
            change = Some(next);
            continue;
        }
        assert_eq!(next.position(), *position, "change {place}: {next:?}");
        let News::Change(next) = next else { panic!("change {place}: {next:?}") };
        assert_eq!(*next.mailbox(), mailbox("ann"));
        assert!(is_change(place, &next, positions), "change {place}: {next:?}");
    }
}

fn is_change(place: usize, change: &Change, positions: &[Position]) -> bool {
    match (place, change) {
        (0, Change::Delivered { summary, .. }) => summary.subject == "1",
        (1, Change::Delivered { summary, .. }) => summary.subject == "2",
        (2, Change::Deleted { id, .. }) => Position::from(*id) == positions[0],
        (3, Change::Delivered { summary, .. }) => summary.subject == "3",
        (4, Change::Purged { up_to, .. }) => *up_to == positions[1],
        (5, Change::Delivered { summary, .. }) => summary.subject == "4",
        _ => false,
    }
}

/// A stream held tells deliveries, deletes and purges in their order, each at its position.
pub(super) async fn changes_come_live_in_order(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut feed = desk.changes("ann", Position::START).await;
    let positions = do_everything(&desk).await;
    assert!(positions.is_sorted_by(|a, b| a < b));
    expect_everything(&mut feed, &positions, 0, Told::Live).await;
}

/// A stream from a position on tells everything behind it anew, whichever position it is, and then goes on live.
pub(super) async fn changes_are_told_anew_after_a_position(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let positions = do_everything(&desk).await;
    let mut feeds = vec![desk.changes("ann", Position::START).await];
    for position in &positions {
        feeds.push(desk.changes("ann", *position).await);
    }
    desk.send("live", "ann").await;
    for (told, feed) in feeds.iter_mut().enumerate() {
        expect_everything(feed, &positions, told, Told::Anew).await;
        assert_eq!(feed.word().await, "+ live");
    }
}

/// Between what is told anew and what comes live nothing is missing, nothing is double, while mail keeps coming.
pub(super) async fn changes_have_no_gap_before_live(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let writer = tokio::spawn({
        let desk = desk.clone();
        async move {
            for round in 0..300 {
                desk.send(&format!("{round}"), "ann").await;
            }
        }
    });
    for _ in 0..5 {
        let mut feed = desk.changes("ann", Position::START).await;
        for round in 0..300 {
            assert_eq!(feed.word().await, format!("+ {round}"));
        }
    }
    writer.await.expect("the writer does not panic");
}

/// The stream of a mailbox tells nothing of others.
pub(super) async fn changes_of_one_mailbox_only(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut ann = desk.changes("ann", Position::START).await;
    let mut bob = desk.changes("bob", Position::START).await;
    desk.send("1", "ann").await;
    desk.send("2", "bob").await;
    desk.append(Letter::new("3", &["ann", "bob"])).await;
    assert_eq!([ann.word().await, ann.word().await], ["+ 1", "+ 3"]);
    assert_eq!([bob.word().await, bob.word().await], ["+ 2", "+ 3"]);
}

/// The stream of all mailboxes tells what happens in each of them, in the order that it has there, and nothing twice.
pub(super) async fn changes_of_all_mailboxes(trial: &Trial<'_>) {
    const NAMES: [&str; 6] = ["ann", "bob", "cat", "dan", "eve", "fay"];
    let desk = trial.open().await;
    desk.send("before", "ann").await;
    let mut feeds = [desk.feed(Scope::All, Position::END).await, desk.feed(Scope::All, Position::END).await];
    let mut expected = Vec::new();
    for name in NAMES {
        let ids = desk.send_all(&["1", "2"], name).await;
        desk.delete(name, &ids[..1]).await;
        expected.push(vec!["+ 1".to_owned(), "+ 2".to_owned(), format!("- {}", ids[0])]);
    }
    desk.append(Letter::new("3", &NAMES)).await;
    for name in NAMES {
        desk.purge(name, Position::END).await;
    }
    expected.iter_mut().for_each(|words| words.extend(["+ 3".to_owned(), "purged".to_owned()]));
    for feed in &mut feeds {
        let mut told = vec![Vec::new(); NAMES.len()];
        for _ in 0..NAMES.len() * 5 {
            let (name, word) = feed.named_word().await;
            let place = NAMES.iter().position(|known| *known == name).expect("one of them");
            told[place].push(word);
        }
        assert_eq!(told, expected);
    }
    desk.send("after", "new").await;
    for feed in &mut feeds {
        assert_eq!(feed.named_word().await, ("new".to_owned(), "+ after".to_owned()));
    }
}

/// A stream of all mailboxes from a position on tells what lies in the past, or says that it lost it; and then goes on.
pub(super) async fn changes_of_all_from_the_past(trial: &Trial<'_>) {
    let desk = trial.open().await;
    desk.send("1", "ann").await;
    desk.send("2", "bob").await;
    let mut all = desk.feed(Scope::All, Position::START).await;
    if trial.lacks(Need::PastOfAll) {
        assert_eq!(all.word().await, "lost");
    } else {
        let mut words = [all.word().await, all.word().await];
        words.sort();
        assert_eq!(words, ["+ 1", "+ 2"]);
    }
    desk.send("3", "bob").await;
    assert_eq!(all.word().await, "+ 3");
}

/// A stream from the end on tells what changes from now on.
pub(super) async fn changes_from_the_end(trial: &Trial<'_>) {
    let desk = trial.open().await;
    desk.send("before", "ann").await;
    let mut feed = desk.changes("ann", Position::END).await;
    let mut empty = desk.changes("bob", Position::END).await;
    desk.append(Letter::new("after", &["ann", "bob"])).await;
    assert_eq!(feed.word().await, "+ after");
    assert_eq!(empty.word().await, "+ after");
}

/// Every stream held gets every change.
pub(super) async fn changes_reach_every_reader(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut feeds = Vec::new();
    for _ in 0..20 {
        feeds.push(desk.changes("ann", Position::START).await);
    }
    let positions = do_everything(&desk).await;
    for feed in &mut feeds {
        expect_everything(feed, &positions, 0, Told::Live).await;
    }
}

/// Sends and deletes, more than a store that remembers five changes can tell anew; the positions of the deletes.
async fn come_and_go(desk: &Desk, name: &str) -> Vec<Position> {
    let mut positions = Vec::new();
    for _ in 0..8 {
        let id = desk.send("brief", name).await;
        desk.send("kept", name).await;
        desk.delete(name, &[id]).await;
        positions.push(desk.position(name).await);
    }
    positions
}

/// A stream that begins before what is remembered says so first, and goes on from the position it names.
pub(super) async fn forgotten_changes_are_said(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.changes_max = Some(5)).await;
    let positions = come_and_go(&desk, "ann").await;
    let mut remembered = desk.changes("ann", positions[6]).await;
    let mut word = remembered.word().await;
    if word == "+ brief" {
        word = remembered.word().await;
    }
    assert_eq!(word, "+ kept");
    for after in [Position::START, positions[0]] {
        let mut feed = desk.changes("ann", after).await;
        let change = feed.next().await;
        let News::Lost { position } = change else { panic!("after {after:?}: {change:?}") };
        assert!(position >= desk.position("ann").await, "a list made now shows everything up to there");
        desk.send("next", "ann").await;
        assert_eq!(feed.word().await, "+ next");
    }
    desk.purge("ann", Position::END).await;
    let mut emptied = desk.changes("ann", Position::START).await;
    assert_eq!(emptied.word().await, "lost", "of an empty mailbox too");
}

/// A stream from the last change of a mailbox has lost nothing, however much happened elsewhere.
pub(super) async fn quiet_mailbox_has_lost_nothing(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.changes_max = Some(5)).await;
    desk.send("1", "ann").await;
    let seen = desk.position("ann").await;
    come_and_go(&desk, "bob").await;
    let mut feed = desk.changes("ann", seen).await;
    come_and_go(&desk, "bob").await;
    desk.send("2", "ann").await;
    assert_eq!(feed.word().await, "+ 2");
}

/// A reader that does not read is told that it lost changes, and then what came after; writers never wait for it.
pub(super) async fn slow_reader_is_told(trial: &Trial<'_>) {
    let desk = trial.open_with(|rig| rig.changes_max = Some(5)).await;
    let mut slow = desk.changes("ann", Position::END).await;
    for round in 0..100 {
        desk.send(&format!("{round}"), "ann").await;
    }
    let News::Lost { position } = slow.next().await else { panic!("100 changes in a queue of 5") };
    let after: Vec<String> = desk
        .list("ann")
        .await
        .items
        .iter()
        .filter(|summary| Position::from(summary.id) > position)
        .map(|summary| format!("+ {}", summary.subject))
        .collect();
    for expected in after {
        assert_eq!(slow.word().await, expected);
    }
    desk.send("next", "ann").await;
    assert_eq!(slow.word().await, "+ next");
}

/// Streams dropped cost nothing more, and others go on.
pub(super) async fn dropped_streams_are_forgotten(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut kept = desk.changes("ann", Position::START).await;
    for round in 0..50 {
        drop(desk.changes("ann", Position::START).await);
        desk.send(&format!("{round}"), "ann").await;
        assert_eq!(kept.word().await, format!("+ {round}"));
    }
}

/// With many writers at once a stream tells each change of a mailbox once, in the order of positions.
pub(super) async fn racing_changes_are_ordered(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut feed = desk.changes("ann", Position::START).await;
    let writers: Vec<_> = (0..4)
        .map(|task| {
            let desk = desk.clone();
            tokio::spawn(async move {
                for round in 0..50 {
                    let id = desk.append(Letter::new(format!("{task}/{round}"), &["ann", "bob"])).await[0];
                    if round % 5 == 0 {
                        desk.delete("ann", &[id]).await;
                    }
                }
            })
        })
        .collect();
    let mut last = Position::START;
    for _ in 0..240 {
        let change = feed.next().await;
        assert!(change.position() > last, "{change:?} after {last:?}");
        last = change.position();
    }
    for writer in writers {
        writer.await.expect("no writer panics");
    }
    assert_eq!(last, desk.position("ann").await);
}
