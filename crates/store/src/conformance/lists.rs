//! Lists, their pages, and single messages.

use mail::{Author, MessageId, TransactionId};

use crate::change::Position;
use crate::list::{Item, Listing, Order, Page, RecentPage};

use super::letter::{Letter, mailbox};
use super::trial::{Desk, Trial, ids, subjects};

/// A list shows messages in the order in which they were appended.
pub(super) async fn arrival_order(trial: &Trial<'_>) {
    let desk = trial.open().await;
    desk.send_all(&["1", "2", "3"], "ann").await;
    desk.send("else", "bob").await;
    assert_eq!(desk.subjects("ann").await, ["1", "2", "3"]);
}

/// Newest first is the same list from the other end.
pub(super) async fn newest_first_is_reversed(trial: &Trial<'_>) {
    let desk = trial.open().await;
    desk.send_all(&["1", "2", "3"], "ann").await;
    let newest = desk.page("ann", Page { after: None, limit: 10, order: Order::Newest }).await;
    assert_eq!(subjects(&newest), ["3", "2", "1"]);
    assert!(!newest.more);
}

/// Pages from the oldest on show every message once, and say truly whether more follow.
pub(super) async fn pages_from_the_oldest(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let sent = desk.send_all(&["1", "2", "3", "4", "5", "6"], "ann").await;
    for limit in 1..=7 {
        assert_eq!(walk(&desk, Order::Oldest, limit).await, sent, "pages of {limit}");
    }
}

/// Pages from the newest on show every message once, and say truly whether more follow.
pub(super) async fn pages_from_the_newest(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut sent = desk.send_all(&["1", "2", "3", "4", "5", "6"], "ann").await;
    sent.reverse();
    for limit in 1..=7 {
        assert_eq!(walk(&desk, Order::Newest, limit).await, sent, "pages of {limit}");
    }
}

async fn walk(desk: &Desk, order: Order, limit: usize) -> Vec<MessageId> {
    let mut seen: Vec<MessageId> = Vec::new();
    loop {
        let after = seen.last().map(|id| Position::from(*id));
        let page = desk.page("ann", Page { after, limit, order }).await;
        assert!(page.items.len() == limit || !page.more, "a page is full or the last");
        assert!(!page.items.is_empty(), "`more` was true, and nothing more came");
        seen.extend(ids(&page));
        if !page.more {
            return seen;
        }
    }
}

/// What arrives or goes between two pages moves nothing else from one page to another.
pub(super) async fn arrivals_shift_no_page(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let sent = desk.send_all(&["1", "2", "3", "4"], "ann").await;
    let first = desk.page("ann", Page { after: None, limit: 2, order: Order::Newest }).await;
    assert_eq!(subjects(&first), ["4", "3"]);
    desk.send("5", "ann").await;
    desk.delete("ann", &[sent[2], sent[3]]).await;
    let after = Some(sent[2].into());
    let second = desk.page("ann", Page { after, limit: 2, order: Order::Newest }).await;
    assert_eq!(subjects(&second), ["2", "1"], "the page behind a message that is gone");
    assert!(!second.more);
}

/// A page of nothing is empty and says whether there is anything.
pub(super) async fn limit_zero_is_empty(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let nothing = Page { after: None, limit: 0, order: Order::Oldest };
    assert!(!desk.page("ann", nothing).await.more);
    desk.send("1", "ann").await;
    let page = desk.page("ann", nothing).await;
    assert!(page.items.is_empty() && page.more);
}

/// Where a total is told, it is the number of messages in the mailbox, whatever the page.
pub(super) async fn total_is_the_number(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let sent = desk.send_all(&["1", "2", "3"], "ann").await;
    desk.delete("ann", &sent[..1]).await;
    let page = desk.page("ann", Page { after: Some(sent[1].into()), limit: 1, order: Order::Oldest }).await;
    assert!(page.total.is_none_or(|total| total == 2), "{:?}", page.total);
}

/// A mailbox nobody wrote to is an empty mailbox, for every call.
pub(super) async fn unknown_mailbox_is_empty(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let id = desk.send("1", "ann").await;
    let Listing { items, more, total, .. } = desk.list("nobody").await;
    assert!(items.is_empty() && !more && total.unwrap_or(0) == 0);
    assert!(!desk.has("nobody", id).await);
    assert!(desk.delete("nobody", &[id]).await.is_empty());
    assert_eq!(desk.purge("nobody", Position::END).await, 0);
    assert_eq!(desk.subjects("ann").await, ["1"]);
}

/// What is read is what was appended: every byte, and the whole envelope with every recipient.
pub(super) async fn read_is_exact(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for size in [0, 1_000, 3 << 20] {
        let letter = Letter::new(format!("of {size}"), &["ann", "bob"]).size(size);
        let ids = desk.append(letter.clone()).await;
        for (name, id) in ["ann", "bob"].into_iter().zip(ids) {
            let stored = desk.store.read(&mailbox(name), id).await.expect("a read is answered").expect("it is there");
            assert!(stored.raw == letter.raw(), "{size} bytes in {name}");
            assert_eq!(*stored.envelope, letter.envelope());
            assert_eq!(stored.summary.id, id);
        }
    }
}

/// A summary says all that was known when the message came, in lists as in reads.
pub(super) async fn summary_is_whole(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let letter = Letter::new("hello", &["ann", "bob"]).expires(desk.in_seconds(3_600));
    let id = desk.append(letter.clone()).await[0];
    let summary = desk.list("ann").await.items[0].clone();
    let envelope = letter.envelope();
    assert_eq!(summary.id, id);
    assert_eq!(summary.size, letter.raw().len() as u64);
    assert_eq!(summary.from, Author { name: "Ann".to_owned(), email: "ann@shop.test".to_owned() });
    assert_eq!(summary.subject, "hello");
    assert_eq!(summary.mail_from, envelope.reverse_path);
    assert_eq!(
        summary.rcpt_to.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["ann@example.com", "ann+tag@example.org"]
    );
    assert_eq!(summary.transaction, TransactionId::new(12));
    assert_eq!(summary.other_recipients, 1);
    assert_eq!(summary.tags, ["suite"]);
    assert!(summary.expires.is_some() && summary.received_at <= desk.now());
    let stored = desk.store.read(&mailbox("ann"), id).await.expect("a read is answered").expect("it is there");
    assert_eq!(stored.summary, summary);
}

/// An id of one mailbox opens nothing in another.
pub(super) async fn ids_belong_to_their_mailbox(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let ann = desk.send("1", "ann").await;
    let bob = desk.send("2", "bob").await;
    assert!(ann == bob || !desk.has("bob", ann).await);
    assert!(ann == bob || desk.delete("bob", &[ann]).await.is_empty());
    assert!(!desk.has("ann", MessageId::new(0)).await && !desk.has("ann", MessageId::new(u64::MAX)).await);
    assert!(desk.has("ann", ann).await && desk.has("bob", bob).await);
}

/// Recent mail is that of all mailboxes, newest first, each copy once.
pub(super) async fn recent_is_newest_first(trial: &Trial<'_>) {
    let desk = trial.open().await;
    desk.send("1", "ann").await;
    desk.append(Letter::new("2", &["bob", "cat"])).await;
    let last = desk.send("3", "ann").await;
    let recent = recent(&desk, None, 10).await;
    assert_eq!(subjects(&recent), ["3", "2", "2", "1"]);
    assert!(!recent.more && recent.total.is_none_or(|total| total == 4));
    desk.delete("ann", &[last]).await;
    assert_eq!(subjects(&self::recent(&desk, None, 10).await), ["2", "2", "1"]);
}

/// Pages of recent mail show every copy once.
pub(super) async fn recent_pages(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for round in 0..5 {
        desk.append(Letter::new(format!("{round}"), &["ann", "bob"])).await;
    }
    let whole = ids(&recent(&desk, None, 100).await);
    for limit in 1..=11 {
        let mut seen: Vec<MessageId> = Vec::new();
        loop {
            let page = recent(&desk, seen.last().map(|id| Position::from(*id)), limit).await;
            seen.extend(ids(&page));
            if !page.more {
                break;
            }
        }
        assert_eq!(seen, whole, "pages of {limit}");
    }
}

async fn recent(desk: &Desk, before: Option<Position>, limit: usize) -> Listing<Item> {
    desk.store.recent(RecentPage { before, limit }).await.expect("recent mail is listed")
}
