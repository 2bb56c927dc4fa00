//! What readers see of the state: lists, single messages, mailboxes. Nothing that has lapsed is shown, whether it was
//! swept or not; bodies are not touched by lists.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use mail::{Mailbox, MessageId};

use crate::change::{Change, News, Position, Scope};
use crate::delivery::Stored;
use crate::list::{Item, Listing, MailboxOrder, MailboxPage, MailboxState, Order, Page, RecentPage};

use super::folder::Folder;
use super::kept::{Kept, Micros};
use super::state::State;

impl State {
    pub(super) fn list(&self, mailbox: &Mailbox, page: Page, now: Micros) -> Listing {
        let position = self.position(mailbox);
        let Some(folder) = self.folders.named(mailbox) else {
            return Listing { position, total: Some(0), ..Listing::default() };
        };
        let total = self.count_live(folder, now);
        let size = page.limit.min(folder.kept.len());
        let behind = |id: Position| Bound::Excluded(id.0);
        let bounds = match page.order {
            Order::Oldest => (page.after.map_or(Bound::Unbounded, behind), Bound::Unbounded),
            Order::Newest => (Bound::Unbounded, page.after.map_or(Bound::Unbounded, behind)),
        };
        let live = folder.kept.range(bounds).filter(|(_, kept)| kept.is_live(now));
        let summaries = live.map(|(_, kept)| Arc::clone(&kept.summary));
        let (items, more) = match page.order {
            Order::Oldest => take(summaries, size),
            Order::Newest => take(summaries.rev(), size),
        };
        Listing { items, position, more, total: Some(total) }
    }

    pub(super) fn recent(&self, page: RecentPage, now: Micros) -> Listing<Item> {
        let before = page.before.map_or(Bound::Unbounded, |before| Bound::Excluded(before.0));
        let newest_first = self.order.range((Bound::Unbounded, before)).rev().filter_map(|(id, slot)| {
            let folder = self.folders.at(*slot)?;
            let kept = folder.kept.get(id).filter(|kept| kept.is_live(now))?;
            Some(Item { mailbox: folder.mailbox.clone(), summary: Arc::clone(&kept.summary) })
        });
        let (items, more) = take(newest_first, page.limit.min(self.order.len()));
        let total = (!self.has_lapsed(now)).then_some(self.order.len() as u64);
        Listing { items, position: self.last(), more, total }
    }

    pub(super) fn read(&self, mailbox: &Mailbox, id: MessageId, now: Micros) -> Option<Stored> {
        let kept = self.folders.named(mailbox)?.kept.get(&id.number()).filter(|kept| kept.is_live(now))?;
        let summary = Arc::clone(&kept.summary);
        Some(Stored { summary, envelope: Arc::clone(&kept.parcel.envelope), raw: kept.parcel.raw.clone() })
    }

    /// What has changed since a position, as far as it is still so; `Lost` alone when that is not known whole, or is
    /// more than `changes_max`.
    pub(super) fn changes_since(
        &self,
        scope: &Scope,
        after: Position,
        changes_max: usize,
        now: Micros,
    ) -> VecDeque<News> {
        let quiet = matches!(scope, Scope::Mailbox(mailbox)
            if self.folders.named(mailbox).is_some_and(|folder| folder.position <= after.0));
        if quiet || after >= self.last() {
            return VecDeque::new();
        }
        let lost = || VecDeque::from([News::Lost { position: self.last() }]);
        let Some(removals) = self.log.removals_after(scope, after) else { return lost() };
        let mut changes: Vec<Change> = self.delivered_since(scope, after, now).take(changes_max + 1).collect();
        changes.extend(removals.cloned());
        if changes.len() > changes_max {
            return lost();
        }
        changes.sort_by_key(Change::position);
        changes.into_iter().map(News::from).collect()
    }

    fn delivered_since(&self, scope: &Scope, after: Position, now: Micros) -> Box<dyn Iterator<Item = Change> + '_> {
        let later = (Bound::Excluded(after.0), Bound::Unbounded);
        let tell = move |(folder, kept): (&Folder, &Kept)| {
            let (mailbox, summary) = (folder.mailbox.clone(), Arc::clone(&kept.summary));
            kept.is_live(now).then_some(Change::Delivered { mailbox, summary })
        };
        match scope {
            Scope::All => Box::new(self.order.range(later).filter_map(move |(id, slot)| {
                let folder = self.folders.at(*slot)?;
                tell((folder, folder.kept.get(id)?))
            })),
            Scope::Mailbox(mailbox) => match self.folders.named(mailbox) {
                Some(folder) => Box::new(folder.kept.range(later).filter_map(move |(_, kept)| tell((folder, kept)))),
                None => Box::new(std::iter::empty()),
            },
        }
    }

    fn count_live(&self, folder: &Folder, now: Micros) -> u64 {
        if !self.has_lapsed(now) {
            return folder.kept.len() as u64;
        }
        folder.kept.values().filter(|kept| kept.is_live(now)).count() as u64
    }

    /// None when everything in it has lapsed.
    fn mailbox_state(&self, folder: &Folder, now: Micros) -> Option<MailboxState> {
        let newest = folder.newest(now)?;
        let bytes = if self.has_lapsed(now) {
            folder.kept.values().filter(|kept| kept.is_live(now)).map(|kept| kept.summary.size).sum()
        } else {
            folder.bytes
        };
        Some(MailboxState {
            mailbox: folder.mailbox.clone(),
            messages: self.count_live(folder, now),
            bytes,
            position: Position(folder.position),
            newest: newest.id,
            newest_at: newest.received_at,
        })
    }
}

/// Up to a limit of them, and whether there are more.
fn take<T>(mut from: impl Iterator<Item = T>, limit: usize) -> (Vec<T>, bool) {
    let mut items = Vec::with_capacity(limit);
    items.extend(from.by_ref().take(limit));
    (items, from.next().is_some())
}

/// A walk over the mailboxes in slices, so that the lock is open again between them.
pub(super) struct Walk<'a> {
    prefix: &'a str,
    limit: usize,
    next: Next,
    pub(super) found: Vec<MailboxState>,
}

enum Next {
    Name(Bound<Mailbox>),
    Before(Bound<u64>),
}

impl<'a> Walk<'a> {
    pub(super) fn new(page: MailboxPage<'a>) -> Self {
        let next = match page.order {
            MailboxOrder::Name { after: Some(after) } if after.as_str() >= page.prefix => {
                Next::Name(Bound::Excluded(after.clone()))
            }
            MailboxOrder::Name { .. } => Next::Name(Bound::Included(Mailbox::from_canonical(page.prefix))),
            MailboxOrder::Newest { before: Some(id) } => Next::Before(Bound::Excluded(id.number())),
            MailboxOrder::Newest { before: None } => Next::Before(Bound::Unbounded),
        };
        Self { prefix: page.prefix, limit: page.limit, next, found: Vec::new() }
    }

    /// Look at up to `steps` places; whether the walk is at its end.
    pub(super) fn step(&mut self, state: &State, now: Micros, steps: usize) -> bool {
        match &self.next {
            Next::Name(from) => self.step_names(state, from.clone(), now, steps),
            Next::Before(before) => self.step_messages(state, *before, now, steps),
        }
    }

    fn step_names(&mut self, state: &State, from: Bound<Mailbox>, now: Micros, steps: usize) -> bool {
        let mut looked = 0;
        for (name, slot) in state.folders.names_from(from.as_ref()) {
            if self.found.len() == self.limit || !name.as_str().starts_with(self.prefix) {
                return true;
            }
            self.found.extend(state.folders.at(slot).and_then(|folder| state.mailbox_state(folder, now)));
            looked += 1;
            if looked == steps {
                self.next = Next::Name(Bound::Excluded(name.clone()));
                return false;
            }
        }
        true
    }

    /// Down through all messages: a mailbox is met first at its newest one, and only there.
    fn step_messages(&mut self, state: &State, before: Bound<u64>, now: Micros, steps: usize) -> bool {
        let mut looked = 0;
        for (id, slot) in state.order.range((Bound::Unbounded, before)).rev() {
            if self.found.len() == self.limit {
                return true;
            }
            if let Some(folder) = state.folders.at(*slot)
                && folder.mailbox.as_str().starts_with(self.prefix)
                && folder.newest(now).is_some_and(|newest| newest.id.number() == *id)
            {
                self.found.extend(state.mailbox_state(folder, now));
            }
            looked += 1;
            if looked == steps {
                self.next = Next::Before(Bound::Excluded(*id));
                return false;
            }
        }
        true
    }
}
