//! Search, as far as every engine has it: newest first, within a budget, honest about how far it came.

use std::time::Duration;

use mail::Summary;

use crate::change::{Position, Scope};
use crate::delivery::Stored;
use crate::search::{Budget, Found, Glance, Query, Stop};

use super::Need;
use super::letter::{Letter, mailbox};
use super::trial::{Desk, Trial};

/// Matches subjects that contain a word, decided as told.
struct Word {
    word: &'static str,
    by: By,
    before: Option<Position>,
}

enum By {
    Summary,
    Body,
}

impl Word {
    fn new(word: &'static str, by: By) -> Self {
        Self { word, by, before: None }
    }
}

impl Query for Word {
    fn summary(&self, summary: &Summary) -> Glance {
        match self.by {
            By::Body => Glance::Maybe,
            By::Summary if summary.subject.contains(self.word) => Glance::Yes,
            By::Summary => Glance::No,
        }
    }

    fn message(&self, message: &Stored) -> bool {
        assert!(matches!(self.by, By::Body), "a body is read only when the summary leaves it open");
        String::from_utf8_lossy(&message.raw).contains(self.word)
    }

    fn before(&self) -> Option<Position> {
        self.before
    }
}

const AMPLE: Budget = Budget { matches: 1_000, bytes: 1 << 30, time: Duration::from_secs(60) };

async fn search(desk: &Desk, query: &Word, budget: Budget) -> Found {
    desk.store.search(query, Scope::Mailbox(mailbox("ann")), budget).await.expect("a search is answered")
}

fn found(found: &Found) -> Vec<&str> {
    found.items.iter().map(|item| item.summary.subject.as_str()).collect()
}

/// A search answers every match, newest first, whether summaries or bodies decide.
pub(super) async fn search_finds_newest_first(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for round in 0..250 {
        desk.send(if round % 100 == 7 { "needle" } else { "hay" }, "ann").await;
    }
    desk.send("needle last", "ann").await;
    for by in [By::Summary, By::Body] {
        let answer = search(&desk, &Word::new("needle", by), AMPLE).await;
        assert_eq!(found(&answer), ["needle last", "needle", "needle", "needle"]);
        assert_eq!(answer.stopped_by, None);
        assert!(answer.items.is_sorted_by(|a, b| a.summary.id > b.summary.id));
    }
}

/// A search of a mailbox finds nothing of others; one of all mailboxes, where there is one, finds it everywhere.
pub(super) async fn search_keeps_to_its_scope(trial: &Trial<'_>) {
    let desk = trial.open().await;
    desk.send("needle a", "ann").await;
    desk.send("needle b", "bob").await;
    let query = Word::new("needle", By::Summary);
    assert_eq!(found(&search(&desk, &query, AMPLE).await), ["needle a"]);
    if !trial.lacks(Need::Recent) {
        let all = desk.store.search(&query, Scope::All, AMPLE).await.expect("a search is answered");
        assert_eq!(found(&all), ["needle b", "needle a"]);
        assert_eq!(all.items[0].mailbox, mailbox("bob"));
    }
}

/// A search ends at its budget of matches, bytes or time, says which, and answers what it has.
pub(super) async fn search_keeps_to_its_budget(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for _ in 0..10 {
        desk.append(Letter::new("needle", &["ann"]).size(1_000)).await;
    }
    let by_body = Word::new("needle", By::Body);
    for (budget, matches, stop) in [
        (Budget { matches: 3, ..AMPLE }, 3, Some(Stop::Matches)),
        (Budget { matches: 10, ..AMPLE }, 10, None),
        (Budget { bytes: 3_500, ..AMPLE }, 3, Some(Stop::Bytes)),
        (Budget { time: Duration::ZERO, ..AMPLE }, 0, Some(Stop::Time)),
    ] {
        let answer = search(&desk, &by_body, budget).await;
        assert_eq!((answer.items.len(), answer.stopped_by), (matches, stop), "{budget:?}");
    }
    let by_summary = search(&desk, &Word::new("needle", By::Summary), Budget { bytes: 0, ..AMPLE }).await;
    assert_eq!((by_summary.items.len(), by_summary.stopped_by), (10, None), "summaries cost no bytes");
}

/// A search that stopped goes on behind the position it reached: between them they find everything once.
pub(super) async fn search_goes_on_where_it_stopped(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for round in 0..20 {
        desk.send(&format!("{} {round}", if round % 2 == 0 { "needle" } else { "hay" }), "ann").await;
    }
    let mut query = Word::new("needle", By::Summary);
    let mut seen = Vec::new();
    for _ in 0..10 {
        let answer = search(&desk, &query, Budget { matches: 3, ..AMPLE }).await;
        seen.extend(answer.items.iter().map(|item| item.summary.subject.clone()));
        query.before = answer.reached;
        if answer.stopped_by.is_none() {
            break;
        }
        assert_eq!(answer.stopped_by, Some(Stop::Matches));
    }
    let expected: Vec<_> = (0..10).rev().map(|round| format!("needle {}", round * 2)).collect();
    assert_eq!(seen, expected);
}
