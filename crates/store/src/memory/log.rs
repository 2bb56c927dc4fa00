//! The last deletes and purges, for streams that begin in the past, and the readers of streams, to whom every change is
//! handed. Deliveries need no log: the mail that is there tells them.

use std::collections::VecDeque;
use std::sync::Arc;

use mail::Mailbox;

use crate::change::{Change, News, Position, Scope};
use crate::queue::Queue;
use crate::readers::Readers;

use super::debris::Debris;

/// Removals and who reads changes.
pub(super) struct Log {
    removals: VecDeque<Change>,
    removals_max: usize,
    /// The last removal that is not remembered any more.
    forgotten: Position,
    readers: Readers<Scope, News>,
}

impl Log {
    pub(super) fn new(removals_max: usize, lag_max: usize) -> Self {
        let readers = Readers::new(lag_max);
        Self { removals: VecDeque::new(), removals_max, forgotten: Position::START, readers }
    }

    /// Whether a change of this mailbox has any reader.
    pub(super) fn is_read(&self, mailbox: &Mailbox) -> bool {
        !self.readers.is_empty() && self.readers_of(mailbox).next().is_some()
    }

    fn readers_of(&self, mailbox: &Mailbox) -> impl Iterator<Item = &Arc<Queue<News>>> {
        self.readers.of(&Scope::All).iter().chain(self.readers.of(&Scope::Mailbox(mailbox.clone())))
    }

    /// Hand a change to its readers.
    pub(super) fn tell(&self, change: &Change, debris: &mut Debris) {
        for reader in self.readers_of(change.mailbox()) {
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
        self.readers.join(scope, begin)
    }

    /// A reader that is gone.
    pub(super) fn leave(&mut self, scope: &Scope, queue: &Arc<Queue<News>>) {
        self.readers.leave(scope, queue);
    }

    #[cfg(test)]
    pub(super) fn readers_now(&self) -> usize {
        self.readers.count()
    }
}
