//! The last deletes and purges, for streams that begin in the past, and the readers of streams, to whom every change is
//! handed. Deliveries need no log: the mail that is there tells them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use mail::Mailbox;

use crate::change::{Change, News, Position, Scope};

use super::debris::Debris;
use super::queue::Queue;

type Readers = Vec<Arc<Queue<News>>>;

/// Removals and who reads changes.
pub(super) struct Log {
    removals: VecDeque<Change>,
    removals_max: usize,
    lag_max: usize,
    /// The last removal that is not remembered any more.
    forgotten: Position,
    of_all: Readers,
    of_one: HashMap<Mailbox, Readers>,
}

impl Log {
    pub(super) fn new(removals_max: usize, lag_max: usize) -> Self {
        let (removals, of_all, of_one) = (VecDeque::new(), Vec::new(), HashMap::new());
        Self { removals, removals_max, lag_max, forgotten: Position::START, of_all, of_one }
    }

    /// Whether a change of this mailbox has any reader.
    pub(super) fn is_read(&self, mailbox: &Mailbox) -> bool {
        !self.of_all.is_empty() || (!self.of_one.is_empty() && self.of_one.contains_key(mailbox))
    }

    /// Hand a change to its readers.
    pub(super) fn tell(&self, change: &Change, debris: &mut Debris) {
        let of_one = self.of_one.get(change.mailbox());
        for reader in self.of_all.iter().chain(of_one.into_iter().flatten()) {
            let lost = || News::Lost { position: change.position() };
            debris.backlogs.extend(reader.put(change.clone().into(), lost));
            debris.readers.push(Arc::clone(reader));
        }
    }

    /// Hand a delete or a purge to its readers, and remember it.
    pub(super) fn tell_removal(&mut self, change: Change, debris: &mut Debris) {
        self.tell(&change, debris);
        self.removals.push_back(change);
        if self.removals.len() > self.removals_max
            && let Some(oldest) = self.removals.pop_front()
        {
            self.forgotten = oldest.position();
        }
    }

    /// What was removed after a position; none when that is not remembered whole.
    pub(super) fn removals_after(&self, scope: &Scope, after: Position) -> Option<impl Iterator<Item = &Change>> {
        let first = self.removals.partition_point(|change| change.position() <= after);
        let in_scope = move |change: &&Change| match scope {
            Scope::All => true,
            Scope::Mailbox(mailbox) => change.mailbox() == mailbox,
        };
        (after >= self.forgotten).then(|| self.removals.range(first..).filter(in_scope))
    }

    /// A new reader, who is first told these.
    pub(super) fn join(&mut self, scope: &Scope, begin: VecDeque<News>) -> Arc<Queue<News>> {
        let queue = Arc::new(Queue::new(begin, self.lag_max));
        self.readers(scope).push(Arc::clone(&queue));
        queue
    }

    /// A reader that is gone.
    pub(super) fn leave(&mut self, scope: &Scope, queue: &Arc<Queue<News>>) {
        let readers = self.readers(scope);
        readers.retain(|other| !Arc::ptr_eq(other, queue));
        if let (true, Scope::Mailbox(mailbox)) = (readers.is_empty(), scope) {
            self.of_one.remove(mailbox);
        }
    }

    fn readers(&mut self, scope: &Scope) -> &mut Readers {
        match scope {
            Scope::All => &mut self.of_all,
            Scope::Mailbox(mailbox) => self.of_one.entry(mailbox.clone()).or_default(),
        }
    }

    #[cfg(test)]
    pub(super) fn readers_now(&self) -> usize {
        self.of_all.len() + self.of_one.values().map(Vec::len).sum::<usize>()
    }
}

/// The engine is gone: every stream ends.
impl Drop for Log {
    fn drop(&mut self) {
        for reader in self.of_all.iter().chain(self.of_one.values().flatten()) {
            reader.close();
            reader.wake();
        }
    }
}
