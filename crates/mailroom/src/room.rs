//! The verbs. Each says who asks for what on what to [`access`](crate::access) first, and only then opens the vault.
//!
//! What happens to mail is told to nobody from here: the feed takes it from the engine's own stream of changes. The verbs
//! about who may do what are in the files beside this one.

mod delivering;
mod desk;
mod everywhere;
mod faulting;
pub(crate) mod inboxes;
mod jobs;
mod judging;
pub(crate) mod mailboxes;
pub(crate) mod once;
mod plans;
mod refusing;
pub(crate) mod releasing;
mod removing;
pub(crate) mod sight;
pub(crate) mod tokens;
mod waiting;
mod watching;
pub(crate) mod webhooks;

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use mail::mailbox::BadName;
use mail::{Mailbox, MessageId, Naming, TransactionId};
use store::list::{Item, Listing, Order, Page, RecentPage};
use store::{Abilities, Clock, Position, Scope, Store, Stored, SystemClock};
use tokio::time::timeout;

use crate::access::{Access, Denial, Target, Vault, Verb};
use crate::caller::Caller;
use crate::counters::COUNTERS;
use crate::cursor::{BadCursor, Cursor, Place, Since};
use crate::error::{Error, Result};
use crate::faults::Faults;
use crate::feed::Feed;
use crate::hooks::Hooks;
use crate::letters::Letters;
use crate::outgoing::Outgoing;
use crate::pace::Pace;
use crate::policy::Policy;
use crate::recent;
use crate::refusals::Ring;
use crate::route::Routes;
use crate::search::Searches;
use crate::settings::Settings;
use crate::sign_in::SignIn;
use crate::transaction::Transactions;
use crate::verdict::Verdict;
use crate::wait::Seats;
use crate::wait::diagnosis::Connections;

/// So often the newest message may vanish between being found and being taken, before that is an answer of its own.
const LATEST_TRIES_MAX: usize = 8;

/// A store that takes longer to say where a mailbox stands is not ready.
const READY_WAIT: Duration = Duration::from_secs(1);

/// Which message of a mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// By its id.
    Id(MessageId),
    /// The newest.
    Latest,
}

/// The one door.
pub struct Mailroom {
    pub(crate) vault: Vault,
    pub(crate) access: Arc<Access>,
    sign_in: SignIn,
    /// Credentials that were wrong.
    wrong: Pace<IpAddr>,
    inboxes_pace: Pace<IpAddr>,
    naming: Naming,
    routes: Routes,
    policy: Policy,
    hooks: Option<Arc<dyn Hooks>>,
    outgoing: Outgoing,
    releases_pace: Pace<()>,
    faults: Arc<Faults>,
    pace: Pace<Mailbox>,
    feed: Feed,
    letters: Letters,
    waiters: Seats,
    connections: Mutex<Connections>,
    pub(crate) refusals: Ring,
    pub(crate) recent: recent::Ring,
    pub(crate) recent_limits: recent::Limits,
    pub(crate) searches: Searches,
    transactions: Transactions,
    clock: Arc<dyn Clock>,
    abilities: Abilities,
}

impl Mailroom {
    /// Open the door to a store.
    pub fn new(store: Arc<dyn Store>, settings: Settings) -> Arc<Self> {
        Self::with_clock(store, settings, Arc::new(SystemClock))
    }

    /// Open the door to a store, by a clock of one's own.
    pub fn with_clock(store: Arc<dyn Store>, settings: Settings, clock: Arc<dyn Clock>) -> Arc<Self> {
        // All of them are there to be read from the start.
        LazyLock::force(&COUNTERS);
        let rules = settings.access;
        let abilities = store.abilities();
        // An engine that sees all mailboxes needs no memory of ours.
        let ring_max = if abilities.whole_view { 0 } else { settings.recent.ring_max };
        Arc::new(Self {
            vault: Vault::new(store),
            wrong: Pace::new(rules.failures_per_ip, settings.entries_max),
            inboxes_pace: Pace::new(rules.inbox.rate_per_ip, settings.entries_max),
            access: Arc::new(Access::new(rules, settings.naming, Arc::clone(&clock))),
            sign_in: SignIn::new(settings.senders, Pace::new(settings.failed_logins_max, settings.entries_max)),
            naming: settings.naming,
            routes: Routes::new(settings.routes, settings.naming),
            policy: settings.policy,
            hooks: settings.hooks.0,
            releases_pace: Pace::new(settings.relay.rate, 1),
            outgoing: Outgoing::new(settings.relay, settings.webhooks),
            faults: Arc::new(Faults::new(settings.faults)),
            pace: Pace::new(settings.mailbox_max, settings.entries_max),
            feed: Feed::new(settings.queue_max, settings.watchers_max, !abilities.whole_view),
            letters: Letters::new(settings.letters_bytes_max, settings.letter),
            waiters: Seats::new(settings.wait),
            refusals: Ring::new(settings.refusals_max, settings.queue_max),
            connections: Mutex::default(),
            recent: recent::Ring::new(ring_max),
            recent_limits: settings.recent,
            searches: Searches::new(settings.search),
            transactions: Transactions::default(),
            clock,
            abilities,
        })
    }

    // --- who asks ---

    /// Whether a caller may do this there, to tell so before it is tried or while it lasts.
    pub fn may<'a>(&self, caller: &Caller, verb: Verb, target: impl Into<Target<'a>>) -> bool {
        self.access.permit(caller, verb, target.into()).is_ok()
    }

    // --- questions of a transaction ---

    /// A fresh transaction id: unique, roughly ascending.
    pub fn begin(&self) -> TransactionId {
        self.transactions.begin(self.now())
    }

    // --- the verbs ---

    /// Summaries of a mailbox.
    pub async fn list(&self, caller: &Caller, mailbox: &Mailbox, page: Page) -> Result<Listing> {
        let permit = self.access.permit(caller, Verb::List, Target::Mailbox(mailbox))?;
        Ok(self.vault.open(&permit).list(mailbox, page).await?)
    }

    /// Those of these messages that are there, in the list's order.
    pub async fn find(&self, caller: &Caller, mailbox: &Mailbox, ids: &[MessageId], order: Order) -> Result<Listing> {
        let permit = self.access.permit(caller, Verb::List, Target::Mailbox(mailbox))?;
        Ok(find(self.vault.open(&permit), mailbox, ids, order).await?)
    }

    /// Summaries over all mailboxes that the caller may list, newest first.
    pub async fn recent(&self, caller: &Caller, page: RecentPage) -> Result<Listing<Item>> {
        let permit = self.access.permit(caller, Verb::List, Target::Any)?;
        let mut listing = self.vault.open(&permit).recent(page).await?;
        self.sift(caller, &mut listing.items, |item| &item.mailbox);
        Ok(listing)
    }

    /// Leave what the caller may list. A page may get shorter by it, and there may be more all the same.
    pub(crate) fn sift<T>(&self, caller: &Caller, items: &mut Vec<T>, mailbox: impl Fn(&T) -> &Mailbox) {
        if !self.access.sees_all(caller) {
            items.retain(|item| self.may(caller, Verb::List, mailbox(item)));
        }
    }

    /// The position of the last change in a mailbox.
    pub async fn position(&self, caller: &Caller, mailbox: &Mailbox) -> Result<Position> {
        let permit = self.access.permit(caller, Verb::List, Target::Mailbox(mailbox))?;
        Ok(self.vault.open(&permit).position(mailbox).await?)
    }

    /// One message whole; none when it is not there.
    pub async fn read(&self, caller: &Caller, mailbox: &Mailbox, which: Which) -> Result<Option<Stored>> {
        let permit = self.access.permit(caller, Verb::Read, Target::Mailbox(mailbox))?;
        let store = self.vault.open(&permit);
        if let Which::Id(id) = which {
            return Ok(store.read(mailbox, id).await?);
        }
        for _ in 0..LATEST_TRIES_MAX {
            let Some(id) = latest(store, mailbox).await? else { return Ok(None) };
            if let Some(message) = store.read(mailbox, id).await? {
                return Ok(Some(message));
            }
        }
        Err(latest_vanishes())
    }

    // --- places ---

    /// A place to go on from, as text for whoever asked: what comes behind this position is new to them.
    pub fn cursor(&self, scope: &Scope, position: Position) -> String {
        let (epoch, issued) = (self.life(scope).epoch, self.now());
        Cursor { epoch, place: Place::of(scope), position, issued }.encode()
    }

    /// The place that a cursor tells of, for whoever may list there.
    pub async fn since(&self, caller: &Caller, scope: &Scope, text: &str) -> Result<Since> {
        let permit = self.access.permit(caller, Verb::List, scope.into())?;
        self.place(self.vault.open(&permit), scope, text).await
    }

    /// The place that a cursor tells of. One of an earlier store tells of the beginning of this one.
    pub(crate) async fn place(&self, store: &dyn Store, scope: &Scope, text: &str) -> Result<Since> {
        let Cursor { epoch, place, position, issued } = Cursor::decode(text)?;
        if place != Place::of(scope) {
            return Err(BadCursor::Foreign.into());
        }
        if epoch != self.life(scope).epoch {
            return Ok(Since { position: Position::START, issued, restarted: true });
        }
        // On brokers each mailbox has an order of its own, and nobody knows the end of all.
        if self.abilities.whole_view && is_ahead(store, scope, position).await? {
            return Err(BadCursor::Ahead.into());
        }
        Ok(Since { position, issued, restarted: false })
    }

    // --- words ---

    /// The mailbox that a reader names, by the naming policy.
    pub fn named(&self, name: &str) -> std::result::Result<Mailbox, BadName> {
        self.naming.named(name)
    }

    /// `mailbox.naming`.
    pub fn naming(&self) -> Naming {
        self.naming
    }

    /// The name of a mailbox as [`Mailroom::named`] takes it back, for whatever is shown outside.
    pub fn spelling<'a>(&self, mailbox: &'a Mailbox) -> Cow<'a, str> {
        self.naming.spelling(mailbox)
    }

    /// The time, by the mailroom's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// What the engine is and promises.
    pub fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    /// How many events were dropped because their watchers did not read, since the start.
    pub fn events_dropped(&self) -> u64 {
        self.feed.dropped()
    }

    /// Forget the rates of mailboxes and addresses that have been quiet, and what has expired: to be called now and then.
    pub fn forget_idle(&self) {
        self.pace.forget_idle();
        self.sign_in.forget_idle();
        self.wrong.forget_idle();
        self.inboxes_pace.forget_idle();
        self.releases_pace.forget_idle();
        self.access.tokens.forget(self.now());
        self.access.logins.forget(self.now());
        self.faults.plans.forget(self.now());
    }

    /// Whether the engine answers, and would take mail.
    pub async fn ready(&self) -> Result<()> {
        let anywhere = Mailbox::from_canonical("postmaster");
        let permit = self.access.permit(&Caller::Program, Verb::List, Target::Mailbox(&anywhere))?;
        let store = self.vault.open(&permit);
        store.ready().await?;
        match timeout(READY_WAIT, store.position(&anywhere)).await {
            Ok(answer) => Ok(answer.map(drop)?),
            Err(_) => Err(store::Error::try_later("the store does not answer at once").into()),
        }
    }
}

/// Those of these messages that are there. An engine finds a message by its place, of which the id tells.
async fn find(store: &dyn Store, mailbox: &Mailbox, ids: &[MessageId], order: Order) -> store::Result<Listing> {
    let mut found = Listing { position: store.position(mailbox).await?, ..Listing::default() };
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        let after = Some(Position(id.number().saturating_sub(1)));
        let listing = store.list(mailbox, Page { after, limit: 1, order: Order::Oldest }).await?;
        found.items.extend(listing.items.into_iter().filter(|summary| summary.id == id));
    }
    if order == Order::Newest {
        found.items.reverse();
    }
    Ok(found)
}

/// The newest message of a mailbox.
async fn latest(store: &dyn Store, mailbox: &Mailbox) -> Result<Option<MessageId>> {
    let newest = Page { after: None, limit: 1, order: Order::Newest };
    Ok(store.list(mailbox, newest).await?.items.first().map(|summary| summary.id))
}

/// Whether a position is one that the store has not come to. Mostly its mailbox has come so far, and nothing else is asked.
async fn is_ahead(store: &dyn Store, scope: &Scope, position: Position) -> Result<bool> {
    if let Scope::Mailbox(mailbox) = scope
        && store.position(mailbox).await? >= position
    {
        return Ok(false);
    }
    Ok(store.recent(RecentPage { before: None, limit: 1 }).await?.position < position)
}

fn latest_vanishes() -> Error {
    store::Error::try_later("the newest message was taken away again and again while it was asked for").into()
}

/// How a denial is told to an SMTP client.
fn refusal_of(denied: &Error) -> Verdict {
    let enhanced = match denied {
        Error::Denied(Denial::InboxExpired { .. } | Denial::NoInbox) => (5, 1, 1),
        _ => (5, 7, 1),
    };
    Verdict::refuse(550, enhanced, denied.to_string())
}

#[cfg(test)]
mod tests;
