//! To look at mail for somebody who waits: each message once, its summary first and its body only if that decides.

use std::collections::HashSet;

use mail::{Mailbox, MessageId};
use store::list::Item;
use store::list::Order;
use store::{Change, Listing, Page, Position, RecentPage, Scope, Store};

use super::matchers::Glance;
use super::{Ask, Match};
use crate::access::{Permit, Verb};
use crate::caller::Caller;
use crate::error::Result;
use crate::room::Mailroom;

/// Summaries asked for at once.
const PAGE: usize = 100;
/// Over all mailboxes only the newest of what came are looked at: so many.
const EVERYWHERE_MAX: usize = 10_000;

/// What was looked at and what was found.
pub(super) struct Look<'a> {
    room: &'a Mailroom,
    caller: &'a Caller,
    permit: Permit,
    ask: &'a Ask,
    excluded: HashSet<MessageId>,
    /// Everything up to here was looked at.
    seen: Position,
    /// What matched, in the order of finding.
    found: Vec<Item>,
}

impl<'a> Look<'a> {
    pub(super) fn new(room: &'a Mailroom, caller: &'a Caller, permit: Permit, ask: &'a Ask) -> Self {
        let excluded = ask.exclude.iter().copied().collect();
        Self { room, caller, permit, ask, excluded, seen: start(ask), found: Vec::new() }
    }

    /// Everything up to here was looked at.
    pub(super) fn position(&self) -> Position {
        self.seen
    }

    /// What matched so far.
    pub(super) fn found(&self) -> &[Item] {
        &self.found
    }

    /// Whether others write to the store from elsewhere, so that what happens there is told here late or not at all.
    pub(super) fn is_shared(&self) -> bool {
        !self.room.abilities().whole_view
    }

    /// Look at what lies there, from the end that is asked for, until enough is found.
    pub(super) async fn at_all(&mut self) -> Result<()> {
        match self.order() {
            Order::Oldest => self.behind().await,
            Order::Newest => self.backwards().await,
        }
    }

    /// Look at what lies behind what was seen, in order of arrival, until enough is found. It stops there, so that who
    /// goes on from the place of the answer meets the next.
    pub(super) async fn behind(&mut self) -> Result<()> {
        loop {
            let page = match &self.ask.scope {
                Scope::Mailbox(mailbox) => in_mailbox(self.store(), mailbox, self.seen).await?,
                Scope::All => everywhere(self.store(), self.seen).await?,
            };
            for item in page.items {
                if self.is_enough() {
                    return Ok(());
                }
                self.seen = self.seen.max(item.summary.id.into());
                self.judge(item).await?;
            }
            if !page.more {
                self.seen = if self.is_enough() { self.seen } else { self.seen.max(page.position) };
                return Ok(());
            }
        }
    }

    /// Look from the newest on until enough is found, and then only at what comes.
    async fn backwards(&mut self) -> Result<()> {
        let floor = start(self.ask);
        let (mut before, mut end) = (None, None);
        loop {
            let page = match &self.ask.scope {
                Scope::Mailbox(mailbox) => newest(self.store(), mailbox, before).await?,
                Scope::All => self.store().recent(RecentPage { before, limit: PAGE }).await?,
            };
            let end = *end.get_or_insert(page.position);
            for item in page.items {
                let position = Position::from(item.summary.id);
                if position <= floor || self.is_enough() {
                    self.seen = self.seen.max(end);
                    return Ok(());
                }
                before = Some(position);
                self.seen = self.seen.max(position);
                self.judge(item).await?;
            }
            if !page.more {
                self.seen = self.seen.max(end);
                return Ok(());
            }
        }
    }

    /// Look at what was told.
    pub(super) async fn at(&mut self, change: Change) -> Result<()> {
        let position = change.position();
        if position <= self.seen {
            return Ok(());
        }
        self.seen = position;
        match change {
            Change::Delivered { mailbox, summary } => self.judge(Item { mailbox, summary }).await,
            Change::Deleted { .. } | Change::Purged { .. } => Ok(()),
        }
    }

    /// The mail that was asked for, if enough is found. When some of it has gone since, one looks anew.
    pub(super) async fn take(&mut self) -> Result<Option<Vec<Match>>> {
        while self.is_enough() {
            let mut mail = Vec::with_capacity(self.found.len());
            for item in &self.found {
                mail.extend(self.read(item).await?);
            }
            if mail.len() == self.found.len() {
                mail.sort_by_key(|found| found.stored.summary.id);
                return Ok(Some(mail));
            }
            self.found.clear();
            self.seen = start(self.ask);
            self.at_all().await?;
        }
        Ok(None)
    }

    fn is_enough(&self) -> bool {
        self.found.len() >= self.ask.count.max(1)
    }

    async fn judge(&mut self, item: Item) -> Result<()> {
        if !self.excluded.contains(&item.summary.id) && self.may_see(&item.mailbox) && self.matches(&item).await? {
            self.found.push(item);
        }
        Ok(())
    }

    /// Who waits in all mailboxes may not be meant to see all of them.
    fn may_see(&self, mailbox: &Mailbox) -> bool {
        matches!(self.ask.scope, Scope::Mailbox(_)) || self.room.may(self.caller, Verb::Wait, mailbox)
    }

    async fn matches(&self, item: &Item) -> Result<bool> {
        match self.ask.matchers.glance(&item.summary) {
            Glance::Yes => Ok(true),
            Glance::No => Ok(false),
            Glance::Maybe => {
                let read = self.read(item).await?;
                Ok(read.is_some_and(|found| {
                    self.ask.matchers.judge(&found.mailbox, &found.stored, &found.letter).matches()
                }))
            }
        }
    }

    async fn read(&self, item: &Item) -> Result<Option<Match>> {
        self.room.read_letter(&self.permit, &item.mailbox, item.summary.id).await
    }

    fn store(&self) -> &'a dyn Store {
        self.room.open(&self.permit)
    }

    fn order(&self) -> Order {
        let usual = if self.ask.since.is_some() { Order::Oldest } else { Order::Newest };
        self.ask.order.unwrap_or(usual)
    }
}

/// Where looking begins.
fn start(ask: &Ask) -> Position {
    ask.since.map_or(Position::START, |since| since.position)
}

async fn in_mailbox(store: &dyn Store, mailbox: &Mailbox, after: Position) -> Result<Listing<Item>> {
    let page = Page { after: Some(after), limit: PAGE, order: Order::Oldest };
    Ok(items(mailbox, store.list(mailbox, page).await?))
}

/// The newest of a mailbox, before a position.
pub(super) async fn newest(store: &dyn Store, mailbox: &Mailbox, before: Option<Position>) -> Result<Listing<Item>> {
    let page = Page { after: before, limit: PAGE, order: Order::Newest };
    Ok(items(mailbox, store.list(mailbox, page).await?))
}

/// Over all mailboxes lists go backwards only: everything behind a position, turned round.
async fn everywhere(store: &dyn Store, after: Position) -> Result<Listing<Item>> {
    let mut all: Listing<Item> = Listing::default();
    let mut before = None;
    loop {
        let page = store.recent(RecentPage { before, limit: PAGE }).await?;
        all.position = all.position.max(page.position);
        let begins_before = page.items.last().is_none_or(|item| Position::from(item.summary.id) <= after);
        before = page.items.last().map(|item| item.summary.id.into());
        all.items.extend(page.items.into_iter().filter(|item| Position::from(item.summary.id) > after));
        if begins_before || !page.more || all.items.len() >= EVERYWHERE_MAX {
            all.items.reverse();
            return Ok(all);
        }
    }
}

fn items(mailbox: &Mailbox, listing: Listing) -> Listing<Item> {
    let Listing { items, position, more, total } = listing;
    let items = items.into_iter().map(|summary| Item { mailbox: mailbox.clone(), summary }).collect();
    Listing { items, position, more, total }
}
