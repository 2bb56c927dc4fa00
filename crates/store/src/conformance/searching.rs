//! Search, as far as every engine has it: newest first, within a budget, honest about how far it came.

use std::time::Duration;

use mail::Summary;

use crate::change::{Position, Scope};
use crate::delivery::Stored;
use crate::list::Order;
use crate::search::{Budget, Found, Glance, Query, Span, Stop};

use super::letter::{Letter, mailbox};
use super::trial::{Desk, Trial};
use super::{Need, corpus};

/// Matches subjects that contain a word, decided as told.
struct Word {
    word: &'static str,
    by: By,
}

enum By {
    Summary,
    Body,
}

impl Word {
    fn new(word: &'static str, by: By) -> Self {
        Self { word, by }
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
}

pub(super) const AMPLE: Budget = Budget { matches: 1_000, bytes: 1 << 30, time: Duration::from_secs(60) };

pub(super) fn of_ann() -> Span {
    Span::all(Scope::Mailbox(mailbox("ann")))
}

async fn search(desk: &Desk, query: &Word, budget: Budget) -> Found {
    desk.store.search(query, &of_ann(), budget).await.expect("a search is answered")
}

pub(super) fn found(found: &Found) -> Vec<&str> {
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
        let all = desk.store.search(&query, &Span::all(Scope::All), AMPLE).await.expect("a search is answered");
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

/// A search that stopped goes on behind the position it reached, from either end: between them they find everything once.
pub(super) async fn search_goes_on_where_it_stopped(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for round in 0..20 {
        desk.send(&format!("{} {round}", if round % 2 == 0 { "needle" } else { "hay" }), "ann").await;
    }
    let query = Word::new("needle", By::Summary);
    let mut expected: Vec<_> = (0..10).map(|round| format!("needle {}", round * 2)).collect();
    for order in [Order::Oldest, Order::Newest] {
        let mut span = Span { order, ..of_ann() };
        let mut seen = Vec::new();
        for _ in 0..10 {
            let answer = desk.store.search(&query, &span, Budget { matches: 3, ..AMPLE }).await.expect("an answer");
            seen.extend(answer.items.iter().map(|item| item.summary.subject.clone()));
            span = span.behind(answer.reached.expect("it looked at something"));
            if answer.stopped_by.is_none() {
                break;
            }
            assert_eq!(answer.stopped_by, Some(Stop::Matches));
        }
        assert_eq!(seen, expected);
        expected.reverse();
    }
}

/// A search finds nothing outside its span.
pub(super) async fn search_keeps_to_its_span(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut ids = Vec::new();
    for round in 0..6 {
        ids.push(Position::from(desk.send(&format!("needle {round}"), "ann").await));
    }
    trial.settle(&desk).await;
    for by in [By::Summary, By::Body] {
        let query = Word::new("needle", by);
        for (order, expected) in [(Order::Newest, ["needle 3", "needle 2"]), (Order::Oldest, ["needle 2", "needle 3"])]
        {
            let span = Span { order, after: ids[1], before: ids[4], ..of_ann() };
            let answer = desk.store.search(&query, &span, AMPLE).await.expect("a search is answered");
            assert_eq!(found(&answer), expected);
            let none = Span { order, after: ids[2], before: ids[3], ..of_ann() };
            assert!(desk.store.search(&query, &none, AMPLE).await.expect("an answer").items.is_empty());
        }
    }
}

/// One that no budget can read is passed over, and that is said.
pub(super) async fn search_passes_over_what_is_too_large(trial: &Trial<'_>) {
    let desk = trial.open().await;
    desk.append(Letter::new("needle old", &["ann"])).await;
    desk.append(Letter::new("needle large", &["ann"]).size(10_000)).await;
    desk.append(Letter::new("needle new", &["ann"])).await;
    let answer = search(&desk, &Word::new("needle", By::Body), Budget { bytes: 5_000, ..AMPLE }).await;
    assert_eq!(found(&answer), ["needle new", "needle old"]);
    assert_eq!((answer.scanned, answer.undecided, answer.stopped_by), (3, 1, None));
}

/// The corpus: mails, and which of them a query finds. What it means is `mail`'s word; that every engine, by whatever
/// way, comes to the same is held here, for mail that has just come, mail that has lain, and mail that has gone.
pub(super) async fn search_means_the_same_everywhere(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for (name, raw) in corpus::MAILS {
        desk.append(Letter::of(raw, name)).await;
    }
    let gone = desk.append(Letter::of(corpus::GONE, "ann")).await;
    corpus::check(trial, &desk).await;
    trial.settle(&desk).await;
    desk.delete("ann", &gone).await;
    corpus::check(trial, &desk).await;
    trial.settle(&desk).await;
    corpus::check(trial, &desk).await;
}

/// The same when all but the mail is lost.
pub(super) async fn search_survives_reopening(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for (name, raw) in corpus::MAILS {
        desk.append(Letter::of(raw, name)).await;
    }
    trial.settle(&desk).await;
    let desk = trial.reopen(desk).await;
    corpus::check(trial, &desk).await;
    trial.settle(&desk).await;
    corpus::check(trial, &desk).await;
}
