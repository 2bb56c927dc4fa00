//! The newest mail of all mailboxes.

use std::collections::{HashMap, HashSet};

use futures_util::StreamExt;
use futures_util::stream;
use jiff::Timestamp;
use mail::query::Glance;
use mail::{Mailbox, MessageId, Query};
use store::list::{Item, Order, Page, RecentPage};
use store::{Position, Scope, Store};

use super::wire::{Line, RecentAnswer, RecentQuestion};
use super::{Desk, Nodes, Ring, Topic};
use crate::error::Result;
use crate::search::{BODIES, Search, Told};

/// Pages that are read for one who may list little of them, so that it sees something.
const PAGES_MAX: usize = 10;
/// Octets of one node's answer, about: the others must come through as well.
const ANSWER_MAX: usize = 400 << 10;
/// Mailboxes looked into at once, to see what is still there.
const LOOKS: usize = 16;

/// Which of all mail is asked for.
#[derive(Clone, Debug, Default)]
pub struct RecentAsk {
    /// Only what this finds; none: all.
    pub query: Option<Query>,
    /// Only what came behind this position, where there is an order over all mailboxes.
    pub since: Option<Position>,
    /// Go on behind this.
    pub behind: Option<Mark>,
    /// At most so many.
    pub limit: usize,
}

/// A place in the list: a message, by when it came and its id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mark {
    /// When.
    pub at: Timestamp,
    /// Which.
    pub id: MessageId,
}

/// A page of all mail.
#[derive(Clone, Debug)]
pub struct Recent {
    /// Newest first.
    pub items: Vec<Item>,
    /// A list behind this goes on; none: there is no more.
    pub next: Option<Mark>,
    /// Where the store stood, where there is an order over all mailboxes.
    pub position: Option<Position>,
    /// How many messages there are, where that is known.
    pub total: Option<u64>,
    /// Who told it.
    pub nodes: Nodes,
    /// How the search went, if it was one.
    pub search: Option<Told>,
}

impl Mark {
    pub(crate) fn of(item: &Item) -> Self {
        Self { at: item.summary.received_at, id: item.summary.id }
    }
}

impl Desk<'_> {
    pub(crate) async fn recent(&self, ask: RecentAsk) -> Result<Recent> {
        if !self.sees_whole() {
            let _place = ask.query.as_ref().map(|_| self.room.searches.enter()).transpose()?;
            return self.gathered(&ask).await;
        }
        match ask.query {
            Some(_) => self.found(ask).await,
            None => self.pages(&ask).await,
        }
    }

    async fn found(&self, ask: RecentAsk) -> Result<Recent> {
        let search = Search {
            query: ask.query.unwrap_or_default(),
            scope: Scope::All,
            order: Order::Newest,
            since: ask.since.unwrap_or(Position::START),
            behind: ask.behind.map(|mark| mark.id.into()),
            limit: ask.limit,
        };
        let found = self.room.search(self.caller, search).await?;
        let at = found.items.last().map_or(Timestamp::UNIX_EPOCH, |item| item.summary.received_at);
        let next = found.next.map(|Position(id)| Mark { at, id: MessageId::new(id) });
        Ok(Recent {
            items: found.items,
            next,
            position: None,
            total: None,
            nodes: Nodes::ALONE,
            search: Some(found.told),
        })
    }

    /// From an engine that sees all. Whoever may list little of a page gets it shorter, and some more pages are read.
    async fn pages(&self, ask: &RecentAsk) -> Result<Recent> {
        let mut before = ask.behind.map(|mark| mark.id.into());
        let mut recent =
            Recent { items: Vec::new(), next: None, position: None, total: None, nodes: Nodes::ALONE, search: None };
        for _ in 0..PAGES_MAX {
            let page = self.store.recent(RecentPage { before, limit: ask.limit - recent.items.len() }).await?;
            recent.position.get_or_insert(page.position);
            recent.next = page.items.last().filter(|_| page.more).map(Mark::of);
            before = recent.next.map(|mark| mark.id.into());
            let (there, is_first) = (page.items.len(), recent.items.is_empty());
            recent.items.extend(page.items.into_iter().filter(|item| is_new(item, ask.since)));
            if recent.items.len() < there && ask.since.is_some() {
                recent.next = None;
            }
            self.sift(&mut recent.items, |item| &item.mailbox);
            recent.total =
                page.total.filter(|_| is_first && self.room.access.sees_all(self.caller) && ask.since.is_none());
            if recent.items.len() >= ask.limit || recent.next.is_none() {
                break;
            }
        }
        Ok(recent)
    }

    /// From the rings of all nodes.
    async fn gathered(&self, ask: &RecentAsk) -> Result<Recent> {
        let question = RecentQuestion {
            before: ask.behind.map(|mark| (mark.at.as_microsecond(), mark.id.number())),
            limit: u32::try_from(ask.limit.saturating_add(1)).unwrap_or(u32::MAX),
            query: ask.query.as_ref().map(|query| query.text().to_owned()),
        };
        let own = self.room.recent.recent(&question);
        let (answers, nodes) = self.gather(Topic::Recent, &question, own).await?;
        let scanned = answers.iter().map(|answer| answer.scanned).sum();
        let undecided: u64 = answers.iter().map(|answer| answer.undecided).sum();
        let mut items: Vec<Item> = answers.into_iter().flat_map(|answer| answer.items).filter_map(Line::item).collect();
        self.sift(&mut items, |item| &item.mailbox);
        items.sort_by_key(|item| std::cmp::Reverse((Mark::of(item), item.mailbox.clone())));
        items.dedup();
        let more = items.len() > ask.limit;
        items.truncate(ask.limit);
        let next = items.last().filter(|_| more).map(Mark::of);
        let items = still_there(self.store, items).await?;
        let reason = if undecided > 0 { BODIES } else { "the nodes remember only what they delivered lately" };
        let told = Told { engine: "rings", scope: "recent", scanned, complete: false, reason: Some(reason) };
        let search = ask.query.as_ref().map(|_| told);
        Ok(Recent { items, next, position: None, total: None, nodes, search })
    }
}

impl Ring {
    /// What this node has to say.
    pub(super) fn recent(&self, asked: &RecentQuestion) -> RecentAnswer {
        let mut answer = RecentAnswer::default();
        let query = match asked.query.as_deref().map(Query::parse) {
            None => None,
            Some(Ok(query)) => Some(query),
            // A node of another version reads it.
            Some(Err(_)) => return answer,
        };
        let mut room = ANSWER_MAX;
        let is_before = |item: &Item| asked.before.is_none_or(|before| place(item) < before);
        for item in self.items().into_iter().filter(is_before) {
            if answer.items.len() >= asked.limit as usize || room == 0 {
                break;
            }
            answer.scanned += 1;
            match query.as_ref().map_or(Glance::Yes, |query| query.glance(&item.summary)) {
                Glance::Yes => {
                    room = room.saturating_sub(item.summary.subject.len() + 500);
                    answer.items.push(Line::of(&item));
                }
                Glance::Maybe => answer.undecided += 1,
                Glance::No => {}
            }
        }
        answer
    }
}

fn place(item: &Item) -> (i64, u64) {
    (item.summary.received_at.as_microsecond(), item.summary.id.number())
}

fn is_new(item: &Item, since: Option<Position>) -> bool {
    since.is_none_or(|since| Position::from(item.summary.id) > since)
}

/// Leave out what has gone since.
async fn still_there(store: &dyn Store, mut items: Vec<Item>) -> Result<Vec<Item>> {
    let mut oldest: HashMap<Mailbox, u64> = HashMap::new();
    for item in &items {
        let first = oldest.entry(item.mailbox.clone()).or_insert(u64::MAX);
        *first = item.summary.id.number().min(*first);
    }
    let look = |(mailbox, first): (Mailbox, u64)| async move {
        let page = Page { after: Some(Position(first.saturating_sub(1))), limit: usize::MAX, order: Order::Oldest };
        let listing = store.list(&mailbox, page).await?;
        let there = listing.items.iter().map(|summary| (mailbox.clone(), summary.id)).collect::<Vec<_>>();
        Ok::<_, store::Error>(there)
    };
    let mut looks = stream::iter(oldest).map(look).buffer_unordered(LOOKS);
    let mut there = HashSet::new();
    while let Some(seen) = looks.next().await {
        there.extend(seen?);
    }
    items.retain(|item| there.contains(&(item.mailbox.clone(), item.summary.id)));
    Ok(items)
}
