//! Ids and positions: one order for everything that happens in a mailbox.

use std::collections::HashSet;

use crate::change::Position;
use crate::list::{Order, Page};

use super::letter::Letter;
use super::trial::{Desk, Trial, subjects};

/// Ids ascend within a mailbox, and are not those of other copies of the same message there.
pub(super) async fn ids_ascend(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for round in 0..50 {
        desk.append(Letter::new(format!("{round}"), &["ann", "bob"])).await;
    }
    for name in ["ann", "bob"] {
        let ids = desk.ids(name).await;
        assert_eq!(ids.len(), 50);
        assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    }
}

/// An id is never given twice in a mailbox, however often it is emptied.
pub(super) async fn t084_ids_are_never_reused(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut seen = HashSet::new();
    let mut last = None;
    for round in 0..60 {
        let id = desk.send("1", "ann").await;
        assert!(seen.insert(id) && Some(id) > last, "{id} after {last:?}");
        last = Some(id);
        match round % 3 {
            0 => _ = desk.delete("ann", &[id]).await,
            1 => _ = desk.purge("ann", Position::END).await,
            _ => {}
        }
    }
}

/// A clock that steps back, or stands, makes no id smaller.
pub(super) async fn t084_ids_ascend_when_the_clock_steps_back(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut ids = Vec::new();
    for step in [0, 0, -3_600, 1, -86_400, 100_000, -100_000] {
        trial.pass(step);
        ids.push(desk.send("1", "ann").await);
        desk.delete("ann", &ids[ids.len() - 1..]).await;
    }
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
}

/// After a crash ids go on above those given before, also when the mailbox was emptied and the clock stepped back.
pub(super) async fn t084_ids_ascend_over_reopening(trial: &Trial<'_>) {
    let mut desk = trial.open().await;
    let mut last = desk.send("1", "ann").await;
    for _ in 0..3 {
        desk.purge("ann", Position::END).await;
        desk = trial.reopen(desk).await;
        trial.pass(-3_600);
        let id = desk.send("1", "ann").await;
        assert!(id > last, "{id} after {last}");
        last = id;
    }
}

/// A delivery, a delete and a purge each move the position of their mailbox on, and of no other; a list does not.
pub(super) async fn position_moves_with_every_change(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let other = desk.send("1", "bob").await;
    let first = desk.send("1", "ann").await;
    assert_eq!(desk.position("ann").await, first.into());
    let second = desk.send("2", "ann").await;
    assert_eq!(desk.position("ann").await, second.into());
    desk.delete("ann", &[first]).await;
    let deleted = desk.position("ann").await;
    assert!(deleted > second.into());
    let third = desk.send("3", "ann").await;
    assert!(Position::from(third) > deleted);
    desk.purge("ann", second.into()).await;
    let purged = desk.position("ann").await;
    assert!(purged > third.into());
    desk.list("ann").await;
    assert_eq!(desk.position("ann").await, purged);
    assert_eq!(desk.position("bob").await, other.into());
}

/// A position taken on a mailbox without mail misses nothing that comes and shows nothing that was there.
pub(super) async fn position_of_an_empty_mailbox_is_a_cursor(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let never = desk.position("ann").await;
    desk.send("elsewhere", "bob").await;
    desk.send("1", "ann").await;
    assert_eq!(after(&desk, never).await, ["1"]);

    desk.purge("ann", Position::END).await;
    let emptied = desk.position("ann").await;
    desk.send("elsewhere", "bob").await;
    let id = desk.send("2", "ann").await;
    assert_eq!(after(&desk, emptied).await, ["2"]);

    desk.delete("ann", &[id]).await;
    let emptied = desk.list("ann").await.position;
    desk.send("3", "ann").await;
    assert_eq!(after(&desk, emptied).await, ["3"]);
}

async fn after(desk: &Desk, position: Position) -> Vec<String> {
    subjects(&desk.page("ann", Page { after: Some(position), limit: 10, order: Order::Oldest }).await)
}

/// A list tells the position it shows: what comes after that is what the list lacks.
pub(super) async fn list_tells_the_position(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let sent = desk.send_all(&["1", "2"], "ann").await;
    desk.delete("ann", &sent[..1]).await;
    let shown = desk.list("ann").await.position;
    assert_eq!(shown, desk.position("ann").await);
    desk.send("3", "ann").await;
    assert_eq!(after(&desk, shown).await, ["3"]);
}
