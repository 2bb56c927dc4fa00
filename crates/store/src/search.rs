//! Search: what is asked, how much it may cost, what was found, and the way that every engine can go: look at everything
//! within a span, and say how far it came. An engine with an index goes through that and hands its candidates to the same
//! [`Scan`], so that a match means the same everywhere.

use std::time::Duration;

use mail::Mailbox;
use mail::Summary;
use mail::letter::{self, Letter};
use mail::query::Needle;
use tokio::time::Instant;

pub use mail::query::Glance;

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

    /// Whether it may see anything of this mailbox; what it may not is passed over.
    fn sees(&self, _mailbox: &Mailbox) -> bool {
        true
    }

    /// Whether nobody waits for it any more, so that it may end.
    fn is_over(&self) -> bool {
        false
    }

    /// Texts that every match holds, for an engine that has an index. None: all is looked at.
    fn needles(&self) -> Vec<Needle<'_>> {
        Vec::new()
    }
}

/// A query of people, as the language of `mail` has it. The one place here that takes a message apart.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What is looked for.
    pub query: mail::Query,
    /// How much of a message is looked at.
    pub limits: letter::Limits,
}

impl Query for Asked {
    fn summary(&self, summary: &Summary) -> Glance {
        self.query.glance(summary)
    }

    fn message(&self, message: &Stored) -> bool {
        let limits = if self.query.asks_for_finds() { self.limits } else { self.limits.without_finds() };
        let letter = Letter::of(&message.raw, &limits);
        self.query.matches(&message.summary, &message.envelope, &letter)
    }

    fn needles(&self) -> Vec<Needle<'_>> {
        self.query.needles().collect()
    }
}

/// Which messages are searched, and from which end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// Of one mailbox, or of all.
    pub scope: Scope,
    /// Which end comes first.
    pub order: Order,
    /// Only messages behind this position.
    pub after: Position,
    /// Only messages before this position.
    pub before: Position,
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
    /// The matches, in the order asked for.
    pub items: Vec<Item>,
    /// How the engine searched.
    pub way: Way,
    /// How many messages were looked at.
    pub scanned: u64,
    /// How many of them would have needed a body that was not read, and count as no match.
    pub undecided: u64,
    /// The last message looked at: a search behind it goes on where this one stopped.
    pub reached: Option<Position>,
    /// None: everything in the span was looked at.
    pub stopped_by: Option<Stop>,
}

/// How an engine searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Way {
    /// By looking at everything.
    #[default]
    Scan,
    /// By an index, and by looking at what is not in it.
    Index,
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

impl Span {
    /// Everything in a scope, the newest first.
    pub fn all(scope: Scope) -> Self {
        Self { scope, order: Order::Newest, after: Position::START, before: Position::END }
    }

    /// The part of it that lies within a position each way.
    pub fn within(&self, after: Position, before: Position) -> Self {
        Self { after: self.after.max(after), before: self.before.min(before), ..self.clone() }
    }

    /// What is left behind a message that was looked at.
    pub fn behind(&self, reached: Position) -> Self {
        match self.order {
            Order::Newest => self.within(Position::START, reached),
            Order::Oldest => self.within(reached, Position::END),
        }
    }

    /// Whether no message can lie in it.
    pub fn is_empty(&self) -> bool {
        self.after.0.saturating_add(1) >= self.before.0
    }

    fn holds(&self, position: Position) -> bool {
        self.after < position && position < self.before
    }
}

/// A search under way: what it found so far, and what it may still cost.
pub struct Scan<'a, S: Store + ?Sized> {
    store: &'a S,
    query: &'a dyn Query,
    budget: Budget,
    bodies_from: Position,
    bytes: u64,
    begun: Instant,
    /// What was found so far.
    pub found: Found,
}

impl<'a, S: Store + ?Sized> Scan<'a, S> {
    /// Begin.
    pub fn new(store: &'a S, query: &'a dyn Query, budget: Budget) -> Self {
        let (begun, found) = (Instant::now(), Found::default());
        Self { store, query, budget, bodies_from: Position::START, bytes: 0, begun, found }
    }

    /// Read bodies from this message on; earlier ones are decided by their summaries, or not at all.
    pub fn with_bodies_from(self, first: Position) -> Self {
        Self { bodies_from: first, ..self }
    }

    /// What every match holds.
    pub fn needles(&self) -> Vec<Needle<'a>> {
        self.query.needles()
    }

    /// The time that is left.
    pub fn time_left(&self) -> Duration {
        self.budget.time.saturating_sub(self.begun.elapsed())
    }

    /// Whether it has ended early.
    pub fn is_over(&self) -> bool {
        self.found.stopped_by.is_some()
    }

    /// End for want of time, whatever took it.
    pub fn out_of_time(&mut self) {
        self.found.stopped_by = Some(Stop::Time);
    }

    /// Look at everything in a span, in its order, until the search is over.
    pub async fn walk(&mut self, span: &Span) -> Result<()> {
        let mut span = span.clone();
        while !span.is_empty() {
            let page = page(self.store, &span).await?;
            let last = page.items.last().map(|item| Position::from(item.summary.id));
            for item in page.items {
                if !span.holds(item.summary.id.into()) {
                    return Ok(());
                }
                self.look(item).await?;
                if self.is_over() {
                    return Ok(());
                }
            }
            match last {
                Some(last) if page.more => span = span.behind(last),
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// Look at one message, unless that would go over the budget: then the search is over.
    pub async fn look(&mut self, item: Item) -> Result<()> {
        self.found.stopped_by = self.exhausted();
        if self.is_over() {
            return Ok(());
        }
        if !self.query.sees(&item.mailbox) {
            self.found.reached = Some(item.summary.id.into());
            return Ok(());
        }
        let matches = match self.query.summary(&item.summary) {
            Glance::Yes => true,
            Glance::No => false,
            Glance::Maybe if self.is_too_much(&item) => {
                self.found.undecided += 1;
                false
            }
            Glance::Maybe if self.bytes + item.summary.size > self.budget.bytes => {
                self.found.stopped_by = Some(Stop::Bytes);
                return Ok(());
            }
            Glance::Maybe => self.read(&item).await?,
        };
        self.found.scanned += 1;
        self.found.reached = Some(item.summary.id.into());
        if matches {
            self.found.items.push(item);
        }
        Ok(())
    }

    /// Whether its body is not read. One that is more than all may cost would end every search at the same place.
    fn is_too_much(&self, item: &Item) -> bool {
        Position::from(item.summary.id) < self.bodies_from || item.summary.size > self.budget.bytes
    }

    fn exhausted(&self) -> Option<Stop> {
        if self.found.items.len() >= self.budget.matches {
            return Some(Stop::Matches);
        }
        (self.time_left().is_zero() || self.query.is_over()).then_some(Stop::Time)
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

/// The first summaries of a span, and perhaps some behind its end.
async fn page<S: Store + ?Sized>(store: &S, span: &Span) -> Result<Listing<Item>> {
    let before = (span.before != Position::END).then_some(span.before);
    let Scope::Mailbox(mailbox) = &span.scope else {
        if span.order == Order::Oldest {
            let (what, instead) = ("go through all mailboxes from the oldest mail on", "begin with the newest");
            return Err(Error::Unsupported { what, instead });
        }
        return store.recent(RecentPage { before, limit: PAGE }).await;
    };
    let after = match span.order {
        Order::Newest => before,
        Order::Oldest => Some(span.after),
    };
    let Listing { items, position, more, total } =
        store.list(mailbox, Page { after, limit: PAGE, order: span.order }).await?;
    let items = items.into_iter().map(|summary| Item { mailbox: mailbox.clone(), summary }).collect();
    Ok(Listing { items, position, more, total })
}
