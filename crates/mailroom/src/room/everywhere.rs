//! The verbs that look into many messages, or into many mailboxes: search, and lists over all of them.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use mail::Mailbox;
use store::Scope;

use super::Mailroom;
use crate::access::{Target, Verb};
use crate::caller::Caller;
use crate::error::Result;
use crate::recent::{Desk, Mailboxes, Nodes, Recent, RecentAsk, Similar, Topic};
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
