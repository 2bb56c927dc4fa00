//! The mailboxes that hold mail.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use futures_util::stream;
use mail::{Mailbox, near};
use store::Store;
use store::list::{MailboxOrder, MailboxPage, MailboxState, Order, Page};

use super::wire::NamesQuestion;
use super::{Desk, Nodes, Ring, Topic};
use crate::error::Result;

/// Mailboxes looked into at once.
const LOOKS: usize = 16;

/// A page of mailboxes, by name.
#[derive(Clone, Debug)]
pub struct Mailboxes {
    /// In the order of their names.
    pub items: Vec<MailboxState>,
    /// A list behind this goes on; none: there is no more.
    pub next: Option<Mailbox>,
    /// Who told it.
    pub nodes: Nodes,
}

impl Desk<'_> {
    pub(crate) async fn mailboxes(&self, prefix: &str, after: Option<&Mailbox>, limit: usize) -> Result<Mailboxes> {
        if !self.sees_whole() {
            return self.gathered_mailboxes(prefix, after, limit).await;
        }
        let page = MailboxPage { prefix, order: MailboxOrder::Name { after }, limit };
        let items = self.room.mailboxes(self.caller, page).await?;
        let next = items.last().filter(|_| items.len() == limit).map(|last| last.mailbox.clone());
        Ok(Mailboxes { items, next, nodes: Nodes::ALONE })
    }

    /// From the rings of all nodes, as the mailboxes are now.
    async fn gathered_mailboxes(&self, prefix: &str, after: Option<&Mailbox>, limit: usize) -> Result<Mailboxes> {
        let question = NamesQuestion {
            prefix: prefix.to_owned(),
            after: after.map(|mailbox| mailbox.as_str().to_owned()),
            like: None,
            limit: u32::try_from(limit.saturating_add(1)).unwrap_or(u32::MAX),
        };
        let (mut names, nodes) = self.names(&question).await?;
        self.sift(&mut names, |name| name);
        let more = names.len() > limit;
        names.truncate(limit);
        let next = names.last().filter(|_| more).cloned();
        Ok(Mailboxes { items: states(self.store, names).await?, next, nodes })
    }

    /// The names that the nodes remember, in order.
    pub(super) async fn names(&self, question: &NamesQuestion) -> Result<(Vec<Mailbox>, Nodes)> {
        let own = self.room.recent.names(question);
        let (answers, nodes) = self.gather(Topic::Mailboxes, question, own).await?;
        let names: BTreeSet<String> = answers.into_iter().flatten().collect();
        Ok((names.iter().map(|name| Mailbox::from_canonical(name)).collect(), nodes))
    }
}

impl Ring {
    /// What this node has to say: the first names behind one, in order.
    pub(super) fn names(&self, asked: &NamesQuestion) -> Vec<String> {
        let is_asked = |name: &&str| {
            name.starts_with(&asked.prefix)
                && asked.after.as_deref().is_none_or(|after| *name > after)
                && asked.like.as_deref().is_none_or(|like| is_like(name, like))
        };
        let items = self.items();
        let names: BTreeSet<&str> = items.iter().map(|item| item.mailbox.as_str()).filter(is_asked).collect();
        names.into_iter().take(asked.limit as usize).map(str::to_owned).collect()
    }
}

/// Whether mail for one name may have been meant for the other.
pub(super) fn is_like(name: &str, other: &str) -> bool {
    const STEPS_MAX: usize = 2;
    const PART_MIN: usize = 3;
    name != other
        && ((other.len() >= PART_MIN && name.contains(other)) || near::distance(name, other, STEPS_MAX).is_some())
}

/// How these mailboxes stand; those that hold nothing any more are left out.
pub(super) async fn states(store: &dyn Store, names: Vec<Mailbox>) -> Result<Vec<MailboxState>> {
    let look = |mailbox: Mailbox| async move {
        let page = Page { after: None, limit: usize::MAX, order: Order::Newest };
        let listing = store.list(&mailbox, page).await?;
        let newest = listing.items.first().map(|summary| (summary.id, summary.received_at));
        let state = newest.map(|(newest, newest_at)| MailboxState {
            messages: listing.items.len() as u64,
            bytes: listing.items.iter().map(|summary| summary.size).sum(),
            position: listing.position,
            mailbox,
            newest,
            newest_at,
        });
        Ok::<_, store::Error>(state)
    };
    let mut looks = stream::iter(names).map(look).buffered(LOOKS);
    let mut states = Vec::new();
    while let Some(state) = looks.next().await {
        states.extend(state?);
    }
    Ok(states)
}
