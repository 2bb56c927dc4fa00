//! Search as every engine can do it: by looking at everything, within a budget, and saying how far it came.

use std::time::Duration;

use mail::Summary;
use tokio::time::Instant;

use crate::Store;
use crate::change::{Position, Scope};
use crate::delivery::Stored;
use crate::error::{Error, Result};
use crate::list::{Item, Listing, Order, Page, RecentPage};

/// What is searched for: decided on the summary where that is enough, else on the whole message.
pub trait Query: Send + Sync {
    /// What the summary says already.
    fn summary(&self, summary: &Summary) -> Glance;

    /// Asked only after [`Glance::Maybe`].
    fn message(&self, message: &Stored) -> bool;

    /// Only messages before this position, to go on where an earlier search stopped; none: from the newest.
    fn before(&self) -> Option<Position> {
        None
    }
}

/// What a summary tells about a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Glance {
    /// It matches, whatever the body says.
    Yes,
    /// It cannot match.
    No,
    /// The body decides.
    Maybe,
}

/// How much a search may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// At most this many matches.
    pub matches: usize,
    /// At most this many bytes of bodies.
    pub bytes: u64,
    /// At most this long.
    pub time: Duration,
}

/// What a search found, and how much it looked at.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The matches, newest first.
    pub items: Vec<Item>,
    /// How many messages were looked at.
    pub scanned: u64,
    /// The last message looked at: a search before it goes on where this one stopped.
    pub reached: Option<Position>,
    /// None: everything in scope was looked at.
    pub stopped_by: Option<Stop>,
}

/// What ended a search early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each names the field of the budget")]
pub enum Stop {
    Matches,
    Bytes,
    Time,
}

/// Summaries asked for at once.
const PAGE: usize = 100;

/// Look at everything in scope, newest first.
pub(crate) async fn scan<S: Store + ?Sized>(
    store: &S,
    query: &dyn Query,
    scope: Scope,
    budget: Budget,
) -> Result<Found> {
    let mut scan = Scan { store, query, budget, bytes: 0, begun: Instant::now(), found: Found::default() };
    let mut before = query.before();
    loop {
        let page = page(store, &scope, before).await?;
        for item in page.items {
            before = Some(item.summary.id.into());
            if let Some(stop) = scan.look(item).await? {
                scan.found.stopped_by = Some(stop);
                return Ok(scan.found);
            }
        }
        if !page.more {
            return Ok(scan.found);
        }
    }
}

async fn page<S: Store + ?Sized>(store: &S, scope: &Scope, before: Option<Position>) -> Result<Listing<Item>> {
    let Scope::Mailbox(mailbox) = scope else { return store.recent(RecentPage { before, limit: PAGE }).await };
    let Listing { items, position, more, total } =
        store.list(mailbox, Page { after: before, limit: PAGE, order: Order::Newest }).await?;
    let items = items.into_iter().map(|summary| Item { mailbox: mailbox.clone(), summary }).collect();
    Ok(Listing { items, position, more, total })
}

/// A search under way.
struct Scan<'a, S: Store + ?Sized> {
    store: &'a S,
    query: &'a dyn Query,
    budget: Budget,
    bytes: u64,
    begun: Instant,
    found: Found,
}

impl<S: Store + ?Sized> Scan<'_, S> {
    /// Look at one message, unless that would go over the budget: then say what ended the search.
    async fn look(&mut self, item: Item) -> Result<Option<Stop>> {
        if self.found.items.len() >= self.budget.matches {
            return Ok(Some(Stop::Matches));
        }
        if self.begun.elapsed() >= self.budget.time {
            return Ok(Some(Stop::Time));
        }
        let matches = match self.query.summary(&item.summary) {
            Glance::Yes => true,
            Glance::No => false,
            Glance::Maybe if self.bytes.saturating_add(item.summary.size) > self.budget.bytes => {
                return Ok(Some(Stop::Bytes));
            }
            Glance::Maybe => self.read(&item).await?,
        };
        self.found.scanned += 1;
        self.found.reached = Some(item.summary.id.into());
        if matches {
            self.found.items.push(item);
        }
        Ok(None)
    }

    /// A message that has gone since, or is damaged, matches nothing and ends nothing.
    async fn read(&mut self, item: &Item) -> Result<bool> {
        self.bytes += item.summary.size;
        match self.store.read(&item.mailbox, item.summary.id).await {
            Ok(message) => Ok(message.is_some_and(|message| self.query.message(&message))),
            Err(Error::Damaged { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
