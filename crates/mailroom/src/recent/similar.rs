//! Where mail may have gone that did not come: mailboxes of a similar name. And what was refused on any node.

use std::collections::BTreeSet;

use jiff::Timestamp;
use mail::Mailbox;
use store::Scope;
use store::list::RecentPage;

use super::mailboxes::{is_like, states};
use super::wire::{NamesQuestion, RefusalsAnswer, RefusalsQuestion, Refused};
use super::{Desk, Nodes, Topic};
use crate::access::Shape;
use crate::error::Result;
use crate::refusals::Refusals;
use crate::room::Mailroom;

/// So many are named.
const SIMILAR_MAX: usize = 5;
/// So many of a node are looked at.
const NAMES_MAX: u32 = 50;
/// Refusals of one node's answer.
const REFUSALS_MAX: usize = 200;

/// A mailbox that was perhaps meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Similar {
    /// Which.
    pub mailbox: Mailbox,
    /// How many messages it holds.
    pub messages: u64,
    /// When the newest came.
    pub newest_at: Timestamp,
}

impl Desk<'_> {
    pub(crate) async fn similar(&self, mailbox: &Mailbox) -> Result<Vec<Similar>> {
        let mut names = match self.sees_whole() {
            true => self.lately(mailbox).await?,
            false => {
                let like = Some(mailbox.as_str().to_owned());
                self.names(&NamesQuestion { like, limit: NAMES_MAX, ..NamesQuestion::default() }).await?.0
            }
        };
        names.retain(|name| self.room.access.inboxes.shape(name) == Shape::Ordinary);
        self.sift(&mut names, |name| name);
        names.truncate(NAMES_MAX as usize);
        let mut similar: Vec<_> = states(self.store, names).await?.into_iter().map(Similar::from).collect();
        similar.sort_by_key(|similar| std::cmp::Reverse(similar.newest_at));
        similar.truncate(SIMILAR_MAX);
        Ok(similar)
    }

    /// The like names among those that got mail lately.
    async fn lately(&self, mailbox: &Mailbox) -> Result<Vec<Mailbox>> {
        let page = RecentPage { before: None, limit: self.room.recent_limits.ring_max };
        let recent = self.store.recent(page).await?;
        let is_like = |name: &&Mailbox| is_like(name.as_str(), mailbox.as_str());
        let names: BTreeSet<&Mailbox> = recent.items.iter().map(|item| &item.mailbox).filter(is_like).collect();
        Ok(names.into_iter().cloned().collect())
    }

    pub(crate) async fn refusals(&self, scope: &Scope, limit: usize) -> Result<(Refusals, Nodes)> {
        let mailbox = match scope {
            Scope::Mailbox(mailbox) => Some(mailbox.as_str().to_owned()),
            Scope::All => None,
        };
        let question = RefusalsQuestion { mailbox, limit: u32::try_from(limit).unwrap_or(u32::MAX) };
        let own = own_refusals(self.room, &question);
        let (answers, mut nodes) = self.gather(Topic::Refusals, &question, own).await?;
        nodes.complete = nodes.answered == nodes.asked;
        let mut all = Refusals::default();
        for answer in answers {
            all.forgotten += answer.forgotten;
            all.items.extend(answer.items.into_iter().filter_map(Refused::refusal));
        }
        all.items.retain(|refusal| self.room.sees_refusal(self.caller, &refusal.mailboxes));
        all.items.sort_by_key(|refusal| std::cmp::Reverse(refusal.at));
        all.items.truncate(limit);
        Ok((all, nodes))
    }
}

/// What this node has to say.
pub(super) fn own_refusals(room: &Mailroom, asked: &RefusalsQuestion) -> RefusalsAnswer {
    let scope = asked.mailbox.as_deref().map_or(Scope::All, |name| Scope::Mailbox(Mailbox::from_canonical(name)));
    let limit = REFUSALS_MAX.min(asked.limit as usize);
    let Refusals { items, forgotten } = room.refusals.list(&scope, limit, |_| true);
    RefusalsAnswer { items: items.iter().map(Refused::of).collect(), forgotten }
}

impl From<store::MailboxState> for Similar {
    fn from(state: store::MailboxState) -> Self {
        Self { mailbox: state.mailbox, messages: state.messages, newest_at: state.newest_at }
    }
}
