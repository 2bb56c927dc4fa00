//! The verbs about mailboxes as such: which there are, what one holds, and emptying them all.

use mail::Mailbox;
use store::list::{MailboxOrder, MailboxPage, MailboxState, Order, Page};
use store::{Position, Scope, Store};

use super::Mailroom;
use crate::access::{Target, Verb};
use crate::caller::Caller;
use crate::error::Result;

/// So many mailboxes are emptied between two looks at which there are.
const STRIDE: usize = 500;
/// So many messages of a mailbox are counted where the engine keeps no count.
const COUNTED_MAX: usize = 10_000;
/// So often a page is filled up when its caller may not see all of it.
const FILLS_MAX: usize = 50;

/// What one mailbox holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// How many messages; none where counting would take too long.
    pub messages: Option<u64>,
    /// How many bytes, likewise.
    pub bytes: Option<u64>,
    /// Where it stands.
    pub position: Position,
}

impl Mailroom {
    /// The mailboxes that hold mail, as far as the caller may list them.
    pub async fn mailboxes(&self, caller: &Caller, page: MailboxPage<'_>) -> Result<Vec<MailboxState>> {
        let permit = self.access.permit(caller, Verb::List, Target::Any)?;
        let store = self.vault.open(&permit);
        let mut states = store.mailboxes(page).await?;
        let (mut is_all, mut last) = (states.len() < page.limit, states.last().cloned());
        self.sift(caller, &mut states, |state| &state.mailbox);
        for _ in 0..FILLS_MAX {
            let Some(end) = last.filter(|_| !is_all && states.len() < page.limit) else { break };
            let mut more = store.mailboxes(MailboxPage { order: behind(page.order, &end), ..page }).await?;
            (is_all, last) = (more.len() < page.limit, more.last().cloned());
            self.sift(caller, &mut more, |state| &state.mailbox);
            states.extend(more);
        }
        states.truncate(page.limit);
        Ok(states)
    }

    /// What a mailbox holds, and where it stands.
    pub async fn held(&self, caller: &Caller, mailbox: &Mailbox) -> Result<Held> {
        let permit = self.access.permit(caller, Verb::List, Target::Mailbox(mailbox))?;
        let store = self.vault.open(&permit);
        if !self.abilities.whole_view {
            return counted(store, mailbox).await;
        }
        // Taken before the count, so that what comes between the two is new to whoever goes on from here.
        let position = store.position(mailbox).await?;
        let first = MailboxPage { prefix: mailbox.as_str(), order: MailboxOrder::default(), limit: 1 };
        let found = store.mailboxes(first).await?.into_iter().find(|state| state.mailbox == *mailbox);
        let (messages, bytes) = found.map_or((0, 0), |state| (state.messages, state.bytes));
        Ok(Held { messages: Some(messages), bytes: Some(bytes), position })
    }

    /// Empty every mailbox that the caller may empty of what is there, or of what came up to the place that a cursor over
    /// all mailboxes tells of; how many messages went.
    pub async fn purge_all(&self, caller: &Caller, until: Option<&str>) -> Result<u64> {
        let permit = self.access.permit(caller, Verb::Purge, Target::All)?;
        if !self.abilities.whole_view {
            let (what, instead) = ("empty all mailboxes at once", "empty them one by one, by name");
            return Err(store::Error::Unsupported { what, instead }.into());
        }
        let store = self.vault.open(&permit);
        let until = match until {
            Some(until) => self.place(store, &Scope::All, until).await?.position,
            None => Position::END,
        };
        let (mut gone, mut last) = (0, None::<Mailbox>);
        loop {
            let order = MailboxOrder::Name { after: last.as_ref() };
            let states = store.mailboxes(MailboxPage { prefix: "", order, limit: STRIDE }).await?;
            // An inbox that is not theirs stays as it is.
            for state in states.iter().filter(|state| self.may(caller, Verb::Purge, &state.mailbox)) {
                gone += self.empty(store, &state.mailbox, until).await?;
            }
            match states.last() {
                Some(state) if states.len() == STRIDE => last = Some(state.mailbox.clone()),
                _ => return Ok(gone),
            }
        }
    }
}

/// The same order, from behind this mailbox on.
fn behind<'a>(order: MailboxOrder<'a>, last: &'a MailboxState) -> MailboxOrder<'a> {
    match order {
        MailboxOrder::Name { .. } => MailboxOrder::Name { after: Some(&last.mailbox) },
        MailboxOrder::Newest { .. } => MailboxOrder::Newest { before: Some(last.newest) },
    }
}

/// By its summaries, where the engine keeps no count.
async fn counted(store: &dyn Store, mailbox: &Mailbox) -> Result<Held> {
    let listing = store.list(mailbox, Page { after: None, limit: COUNTED_MAX, order: Order::Newest }).await?;
    let is_all = !listing.more;
    let messages = listing.total.or(is_all.then_some(listing.items.len() as u64));
    let bytes = is_all.then(|| listing.items.iter().map(|summary| summary.size).sum());
    Ok(Held { messages, bytes, position: listing.position })
}
