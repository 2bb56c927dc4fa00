//! The verbs that take mail away, with the jobs that are written with it, and what is told afterwards.

use std::sync::Arc;

use mail::{Mailbox, MessageId, Summary};
use store::list::Order;
use store::{Page, Position, Scope, Store};

use super::{LATEST_TRIES_MAX, Mailroom, Which, find, latest, latest_vanishes};
use crate::access::{Target, Verb};
use crate::caller::Caller;
use crate::error::Result;
use crate::hooks::{After, Moment};

/// So many messages of a mailbox that is emptied are told to those who hear of each; the newest.
const TOLD_MAX: usize = 10_000;

impl Mailroom {
    /// Delete one message; false when it is not there.
    pub async fn delete(&self, caller: &Caller, mailbox: &Mailbox, which: Which) -> Result<bool> {
        let permit = self.access.permit(caller, Verb::Delete, Target::Mailbox(mailbox))?;
        let store = self.vault.open(&permit);
        if let Which::Id(id) = which {
            return Ok(!self.take_out(store, mailbox, &[id]).await?.is_empty());
        }
        for _ in 0..LATEST_TRIES_MAX {
            let Some(id) = latest(store, mailbox).await? else { return Ok(false) };
            if !self.take_out(store, mailbox, &[id]).await?.is_empty() {
                return Ok(true);
            }
        }
        Err(latest_vanishes())
    }

    /// Delete these messages, all that are there in one step; which were.
    pub async fn delete_all(&self, caller: &Caller, mailbox: &Mailbox, ids: &[MessageId]) -> Result<Vec<MessageId>> {
        let permit = self.access.permit(caller, Verb::Delete, Target::Mailbox(mailbox))?;
        self.take_out(self.vault.open(&permit), mailbox, ids).await
    }

    /// Empty a mailbox of what is there, at one moment of the call; what arrives behind that stays. How many messages went.
    pub async fn purge(&self, caller: &Caller, mailbox: &Mailbox) -> Result<u64> {
        let permit = self.access.permit(caller, Verb::Purge, Target::Mailbox(mailbox))?;
        self.empty(self.vault.open(&permit), mailbox, Position::END).await
    }

    /// The same up to the place that a cursor tells of: what came behind it stays.
    pub async fn purge_until(&self, caller: &Caller, mailbox: &Mailbox, until: &str) -> Result<u64> {
        let permit = self.access.permit(caller, Verb::Purge, Target::Mailbox(mailbox))?;
        let store = self.vault.open(&permit);
        let until = self.place(store, &Scope::Mailbox(mailbox.clone()), until).await?;
        self.empty(store, mailbox, until.position).await
    }

    async fn take_out(&self, store: &dyn Store, mailbox: &Mailbox, ids: &[MessageId]) -> Result<Vec<MessageId>> {
        let known = match self.listening(Moment::Deleted) {
            Some(_) => find(store, mailbox, ids, Order::Oldest).await?.items,
            None => Vec::new(),
        };
        let jobs = self.outgoing.on_delete(mailbox, ids, self.now());
        let has_jobs = !jobs.is_empty();
        let gone = store.delete(mailbox, ids, jobs).await?;
        if has_jobs {
            self.outgoing.written();
        }
        self.tell_deleted(mailbox, known.into_iter().filter(|summary| gone.contains(&summary.id)));
        Ok(gone)
    }

    /// Take out everything up to a position. What comes while this is under way may go without being told.
    pub(super) async fn empty(&self, store: &dyn Store, mailbox: &Mailbox, up_to: Position) -> Result<u64> {
        let known = match self.listening(Moment::Deleted) {
            Some(_) => {
                let page = Page { after: None, limit: TOLD_MAX, order: Order::Newest };
                store.list(mailbox, page).await?.items
            }
            None => Vec::new(),
        };
        let jobs = self.outgoing.on_purge(mailbox, self.now());
        let has_jobs = !jobs.is_empty();
        let gone = store.purge(mailbox, up_to, jobs).await?;
        if has_jobs {
            self.outgoing.written();
        }
        let went = known.into_iter().rev().filter(|summary| Position(summary.id.number()) <= up_to);
        self.tell_deleted(mailbox, went);
        Ok(gone)
    }

    fn tell_deleted(&self, mailbox: &Mailbox, gone: impl Iterator<Item = Arc<Summary>>) {
        let Some(hooks) = self.listening(Moment::Deleted) else { return };
        gone.for_each(|summary| hooks.after(After::Deleted(mailbox.clone(), summary)));
    }
}
