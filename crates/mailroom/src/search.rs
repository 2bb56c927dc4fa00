//! Search: who may, how many at once, and what is told of how far it came. How a query is read is `mail`'s business, how it
//! is answered the engine's; where an engine sees one mailbox at a time, all of them are searched in the rings of recent
//! mail.
//!
//! A search takes messages apart, which takes time: it runs on a thread of its own, so that nobody beside it waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mail::letter;
use mail::query::{Glance, Needle};
use mail::{Mailbox, Query, Summary};
use store::search::{Asked, Stop, Way};
use store::{Budget, Found, Position, Scope, Span, Stored};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::access::{Access, Permit, Target, Vault, Verb};
use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::room::Mailroom;
use crate::{Item, Order};

/// What searches may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// `search.deadline`: so long one may take. Default 2 s.
    pub deadline: Duration,
    /// `search.scan_max`: so many bytes of mail one may look at. Default 64 MiB.
    pub scan_max: u64,
    /// `search.parallel_max`: so many at once. Default 4.
    pub parallel_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(2), scan_max: 64 << 20, parallel_max: 4 }
    }
}

/// What is searched for, where.
#[derive(Clone, Debug)]
pub struct Search {
    /// What.
    pub query: Query,
    /// In one mailbox, or in all that the caller may list.
    pub scope: Scope,
    /// Which end comes first; over all mailboxes only the newest may.
    pub order: Order,
    /// Only what came behind this.
    pub since: Position,
    /// Go on behind this, where a search before stopped.
    pub behind: Option<Position>,
    /// At most so many matches.
    pub limit: usize,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Searched {
    /// The matches, in the order asked for.
    pub items: Vec<Item>,
    /// A search behind this goes on; none: there is nothing more.
    pub next: Option<Position>,
    /// How far it came.
    pub told: Told,
}

/// What is told of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Told {
    /// How: `index`, `scan`, or `rings`.
    pub engine: &'static str,
    /// Where: `mailbox`, `all`, or `recent`.
    pub scope: &'static str,
    /// How many messages were looked at.
    pub scanned: u64,
    /// Whether all that was asked for was looked at.
    pub complete: bool,
    /// What kept it from that.
    pub reason: Option<&'static str>,
}

/// The searches under way.
pub(crate) struct Searches {
    pub(crate) limits: Limits,
    places: Arc<Semaphore>,
}

impl Searches {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, places: Arc::new(Semaphore::new(limits.parallel_max)) }
    }

    fn budget(&self, matches: usize) -> Budget {
        Budget { matches, bytes: self.limits.scan_max, time: self.limits.deadline }
    }

    /// A place for one more. Nobody waits for one: whoever asks again may find the server less busy.
    pub(crate) fn enter(&self) -> Result<tokio::sync::OwnedSemaphorePermit> {
        let full = |_| Error::TooMany { what: "searches (search.parallel_max)" };
        Arc::clone(&self.places).try_acquire_owned().map_err(full)
    }
}

/// Search an engine, on a thread of its own.
pub(crate) async fn run(
    room: &Mailroom,
    caller: &Caller,
    vault: Vault,
    permit: Permit,
    search: Search,
) -> Result<Searched> {
    let place = room.searches.enter()?;
    let budget = room.searches.budget(search.limit);
    let ended = Ended::default();
    let query = Sifted {
        asked: Asked { query: search.query, limits: letter::Limits::default() },
        is_seen: seen_by(&room.access, caller, &search.scope),
        ended: Arc::clone(&ended.0),
    };
    let scope = if search.scope == Scope::All { "all" } else { "mailbox" };
    let span = span(search.scope, search.order, search.since, search.behind);
    let handle = Handle::current();
    let searching = spawn_blocking(move || {
        let _place = place;
        handle.block_on(vault.open(&permit).search(&query, &span, budget))
    });
    let found = searching.await.map_err(|_| store::Error::try_later("a search broke down"))??;
    Ok(told(found, scope))
}

/// Whether a caller may list a mailbox, to be asked for each that is met; of one mailbox it has been asked.
fn seen_by(access: &Arc<Access>, caller: &Caller, scope: &Scope) -> Seen {
    if matches!(scope, Scope::Mailbox(_)) || access.sees_all(caller) {
        return Box::new(|_| true);
    }
    let (access, caller) = (Arc::clone(access), caller.clone());
    Box::new(move |mailbox| access.permit(&caller, Verb::List, Target::Mailbox(mailbox)).is_ok())
}

fn span(scope: Scope, order: Order, since: Position, behind: Option<Position>) -> Span {
    let all = Span { order, after: since, ..Span::all(scope) };
    behind.map_or_else(|| all.clone(), |behind| all.behind(behind))
}

fn told(found: Found, scope: &'static str) -> Searched {
    let Found { items, way, scanned, undecided, reached, stopped_by } = found;
    let engine = match way {
        Way::Scan => "scan",
        Way::Index => "index",
    };
    let reason = match stopped_by {
        // A page that is full is what was asked for.
        Some(Stop::Matches) | None if undecided == 0 => None,
        Some(Stop::Matches) | None => Some(BODIES),
        Some(Stop::Bytes) => Some("search.scan_max bytes were looked at; ask for the next page, or ask for less"),
        Some(Stop::Time) => Some("search.deadline was over; ask for the next page, or ask for less"),
    };
    let next = reached.filter(|_| stopped_by.is_some());
    Searched { items, next, told: Told { engine, scope, scanned, complete: reason.is_none(), reason } }
}

/// Why bodies were not read.
pub(crate) const BODIES: &str =
    "some messages were judged by their summaries alone; ask for subject:, from: or rcpt:, or read them one by one";

type Seen = Box<dyn Fn(&Mailbox) -> bool + Send + Sync>;

/// A query that sees only what its caller may list, and nothing at all once that one has gone.
struct Sifted {
    asked: Asked,
    is_seen: Seen,
    ended: Arc<AtomicBool>,
}

/// Tells a search that nobody waits for it any more.
#[derive(Default)]
struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl store::Query for Sifted {
    fn sees(&self, mailbox: &Mailbox) -> bool {
        (self.is_seen)(mailbox)
    }

    fn is_over(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn summary(&self, summary: &Summary) -> Glance {
        self.asked.summary(summary)
    }

    fn message(&self, message: &Stored) -> bool {
        self.asked.message(message)
    }

    fn needles(&self) -> Vec<Needle<'_>> {
        self.asked.needles()
    }
}

#[cfg(test)]
mod tests;
