//! Who watches what: each watched mailbox has its audience, and what is not watched has none.
//!
//! It knows neither the engine nor where changes come from: the pumps hand them in.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use store::{News, Position, Scope};

use super::audience::Audience;
use super::count::Count;
use super::outage::Outage;
use super::queue::Queue;
use crate::error::{Error, Result};

/// So long the numbers of an audience are kept for those who lost their connection: an EventSource comes back in seconds.
pub(super) const LINGER: Duration = Duration::from_secs(30);

/// The watchers.
pub(super) struct Hub {
    table: Mutex<Table>,
    queue_max: usize,
    watchers_max: usize,
    /// Whether what happens in all mailboxes is numbered here.
    counts: bool,
    dropped: AtomicU64,
    /// What the pumps share when the engine's streams end.
    pub(super) outage: Outage,
}

#[derive(Default)]
struct Table {
    audiences: HashMap<Name, Arc<Audience>>,
    watchers: usize,
    /// How many came back so far.
    returned: u64,
    /// The last number that an audience gave which is not there any more.
    counted: Position,
}

/// By what an audience is found.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Name {
    /// Everybody who follows this from now on.
    Shared(Scope),
    /// The one who came back as this number: nobody else has seen the same.
    Own(u64),
}

/// A watcher's place: give it back with [`Hub::leave`].
pub(super) struct Seat {
    name: Name,
    pub(super) audience: Arc<Audience>,
    pub(super) queue: Arc<Queue>,
    /// Everything behind this comes by the queue; none: behind the place that was asked for.
    pub(super) begins: Option<Position>,
}

impl Hub {
    pub(super) fn new(queue_max: usize, watchers_max: usize, counts: bool) -> Self {
        let (table, dropped, outage) = (Mutex::default(), AtomicU64::new(0), Outage::default());
        Self { table, queue_max: queue_max.max(1), watchers_max, counts, dropped, outage }
    }

    /// One more watcher, with an empty queue, in the audience of those who follow the same from the same place on.
    pub(super) fn enter(&self, scope: Scope, after: Position) -> Result<Seat> {
        let mut table = self.lock();
        if table.watchers >= self.watchers_max {
            return Err(Error::TooMany { what: "watchers (feed.watchers_max)" });
        }
        table.watchers += 1;
        // Where things are numbered, whoever comes back finds what it missed with those who are there.
        let counts = self.counts && scope == Scope::All;
        let from = if counts { Position::END } else { after };
        let (name, count) = (table.name(&scope, from), counts.then(|| Count::behind(Position(table.counted.0 + 1))));
        let new = || Arc::new(Audience::new(scope, from, count));
        let audience = Arc::clone(table.audiences.entry(name.clone()).or_insert_with(new));
        let (queue, begins) = audience.enter(after, self.queue_max);
        Ok(Seat { name, audience, queue, begins })
    }

    /// One watcher less; the last one of an audience stops its pump, unless it is one that lingers.
    pub(super) fn leave(&self, seat: &Seat) {
        let mut table = self.lock();
        table.watchers -= 1;
        if seat.audience.leave(&seat.queue) {
            seat.audience.stop();
            table.audiences.remove(&seat.name);
        }
    }

    /// Whether nobody has come back to an audience that lingers: then it is there no more.
    pub(super) fn dismiss(&self, audience: &Audience) -> bool {
        let mut table = self.lock();
        let is_over = audience.left_at().is_some_and(|left| left.elapsed() >= LINGER);
        if is_over {
            table.counted = audience.counted().unwrap_or_default().max(table.counted);
            table.audiences.remove(&Name::Shared(audience.scope.clone()));
        }
        is_over
    }

    /// Nobody is served any more, and everybody is told.
    pub(super) fn close(&self) {
        self.lock().audiences.values().for_each(|audience| audience.close());
    }

    /// Put news into the queues of an audience.
    pub(super) fn tell(&self, audience: &Audience, news: &News) {
        self.dropped.fetch_add(audience.tell(news, self.queue_max), Ordering::Relaxed);
    }

    /// How many events were dropped, over all watchers.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// How many audiences there are.
    #[cfg(test)]
    pub(super) fn audiences(&self) -> usize {
        self.lock().audiences.len()
    }

    /// No holder waits or calls out, and an audience's own lock is only ever taken inside this one or alone.
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Who asks for the past has a stream of its own: one that others share has told it already, or never will.
    fn name(&mut self, scope: &Scope, after: Position) -> Name {
        if after == Position::END {
            return Name::Shared(scope.clone());
        }
        self.returned += 1;
        Name::Own(self.returned)
    }
}
