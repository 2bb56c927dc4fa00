//! The verbs that look into many messages, or into many mailboxes: search, and lists over all of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use mail::{Mailbox, MessageId};
use store::Scope;
use store::list::{Item, Order};

use super::Mailroom;
use crate::access::{Target, Verb};
use crate::caller::Caller;
use crate::error::Result;
use crate::recent::{Desk, Mailboxes, Mark, Nodes, Recent, RecentAsk, Similar, Topic};
use crate::refusals::Refusals;
use crate::search::{self, Search, Searched};

impl Mailroom {
    /// Search a mailbox, or, where the engine sees them all, every mailbox that the caller may list.
    pub async fn search(&self, caller: &Caller, search: Search) -> Result<Searched> {
        let permit = self.access.permit(caller, Verb::List, (&search.scope).into())?;
        search::run(self, caller, self.vault.clone(), permit, search).await
    }

    /// The newest mail of all mailboxes that the caller may list, or what a query finds in it.
    pub async fn list_recent(&self, caller: &Caller, ask: RecentAsk) -> Result<Recent> {
        self.desk(caller)?.recent(ask).await
    }

    /// Those of these messages that are there and that the caller may list, newest first.
    pub async fn find_everywhere(&self, caller: &Caller, ids: &[(Mailbox, MessageId)]) -> Result<Vec<Item>> {
        let permit = self.access.permit(caller, Verb::List, Target::Any)?;
        let mut by_mailbox: BTreeMap<&Mailbox, Vec<MessageId>> = BTreeMap::new();
        for (mailbox, id) in ids.iter().filter(|(mailbox, _)| self.may(caller, Verb::List, mailbox)) {
            by_mailbox.entry(mailbox).or_default().push(*id);
        }
        let mut items = Vec::new();
        for (mailbox, ids) in by_mailbox {
            let found = super::find(self.vault.open(&permit), mailbox, &ids, Order::Newest).await?;
            items.extend(found.items.into_iter().map(|summary| Item { mailbox: mailbox.clone(), summary }));
        }
        items.sort_by_key(|item| Reverse((Mark::of(item), item.mailbox.clone())));
        Ok(items)
    }

    /// The mailboxes whose names begin so, behind one of them, that hold mail and that the caller may list.
    pub async fn list_mailboxes(
        &self,
        caller: &Caller,
        prefix: &str,
        after: Option<&Mailbox>,
        limit: usize,
    ) -> Result<Mailboxes> {
        self.desk(caller)?.mailboxes(prefix, after, limit).await
    }

    /// Mailboxes that got mail lately under a name like this one, the newest first: only such as the caller may list, and
    /// never an inbox, whose name is not to be told.
    pub async fn similar(&self, caller: &Caller, mailbox: &Mailbox) -> Result<Vec<Similar>> {
        self.desk(caller)?.similar(mailbox).await
    }

    /// What was refused on any node, newest first, as far as the caller may see it: as [`Mailroom::refusals`] has it.
    pub async fn refusals_everywhere(&self, caller: &Caller, scope: &Scope, limit: usize) -> Result<(Refusals, Nodes)> {
        let permit = self.access.permit(caller, Verb::List, scope.into())?;
        Desk { room: self, store: self.vault.open(&permit), caller }.refusals(scope, limit).await
    }

    /// Answer the other nodes from now on. On an engine without others nothing happens.
    pub async fn join(self: &Arc<Self>) -> Result<()> {
        let permit = self.access.permit(&Caller::Program, Verb::List, Target::All)?;
        let peers = self.vault.open(&permit).peers();
        for topic in Topic::ALL {
            let room: Weak<Self> = Arc::downgrade(self);
            let answer =
                move |question: Bytes| room.upgrade().map(|room| topic.answer(&room, &question)).unwrap_or_default();
            peers.answer(topic.name(), Arc::new(answer)).await?;
        }
        Ok(())
    }

    fn desk<'a>(&'a self, caller: &'a Caller) -> Result<Desk<'a>> {
        let permit = self.access.permit(caller, Verb::List, Target::Any)?;
        Ok(Desk { room: self, store: self.vault.open(&permit), caller })
    }
}
