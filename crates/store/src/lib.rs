//! What an engine must do, told once as a trait; the memory engine; and the suite that holds every engine to it.
//!
//! An engine keeps and hands back. It names no mailbox (the naming policy does), publishes nothing (the mailroom does),
//! takes no message apart but to search it, and knows neither callers nor protocols.

pub mod change;
pub mod clock;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod delivery;
pub mod error;
pub mod list;
pub mod memory;
pub mod outbox;
pub mod peers;
pub mod queue;
pub mod readers;
pub mod registry;
pub mod search;
mod sync;

use async_trait::async_trait;
use mail::{Mailbox, MessageId};

pub use change::{Change, Changes, Filed, News, Position, Scope};
pub use clock::{Clock, ManualClock, SystemClock};
pub use delivery::{Copy, Delivery, Sorted, Stored};
pub use error::{Error, Result};
pub use list::{Item, Listing, MailboxOrder, MailboxPage, MailboxState, Page, RecentPage};
pub use memory::Memory;
pub use outbox::{DeadJob, Handback, IfFull, Job, JobId, Lease, NewJob, Outbox};
pub use peers::{Gathered, Peers};
pub use registry::{Entry, Expect, Put, Registry, RegistryChange, Version};
pub use search::{Budget, Found, Query, Scan, Span};

/// A store of mail. All calls may be made at once from many tasks; each may fail as [`Error`] says.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// What this engine is and what it promises.
    fn abilities(&self) -> Abilities;

    /// Whether mail would be taken now, as far as that is known without trying; why not, if not.
    async fn ready(&self) -> Result<()> {
        Ok(())
    }

    /// Put one message into all its mailboxes, or into none: with its jobs, all or nothing, durable as the engine
    /// promises before this returns. The answer names the message in each mailbox, in the order of `delivery.copies`.
    /// After any error but [`Error::UnknownOutcome`] there is no copy, no job and no change, now or later.
    async fn append(&self, delivery: Delivery) -> Result<Vec<Filed>>;

    /// Summaries of a mailbox. An unknown mailbox is an empty one. Bodies are not touched.
    async fn list(&self, mailbox: &Mailbox, page: Page) -> Result<Listing>;

    /// Summaries over all mailboxes, newest first.
    async fn recent(&self, page: RecentPage) -> Result<Listing<Item>>;

    /// The mailboxes that hold mail.
    async fn mailboxes(&self, page: MailboxPage<'_>) -> Result<Vec<MailboxState>>;

    /// Where a mailbox stands: what is listed or followed after this position is what comes from now on, nothing of
    /// that missing and nothing of what was there before.
    ///
    /// While a mailbox holds mail this is its last delivery, delete or purge, so that it tells whether a list is still
    /// good (but for age and cap, which move nothing). Of a mailbox without mail an engine may have no memory: it answers
    /// any position that keeps the first sentence, as the store's last one or [`Position::START`].
    async fn position(&self, mailbox: &Mailbox) -> Result<Position>;

    /// One message whole; none when the mailbox does not hold it.
    async fn read(&self, mailbox: &Mailbox, id: MessageId) -> Result<Option<Stored>>;

    /// Take messages out of a mailbox, all in one step with the jobs. The answer names those that were there, in the
    /// order asked; when none was, nothing happens: no change, no job.
    async fn delete(&self, mailbox: &Mailbox, ids: &[MessageId], jobs: Vec<NewJob>) -> Result<Vec<MessageId>>;

    /// Take every message up to and including a position out of a mailbox, in one step with the jobs; how many went.
    /// When none was there, nothing happens: no change, no job.
    async fn purge(&self, mailbox: &Mailbox, up_to: Position, jobs: Vec<NewJob>) -> Result<u64>;

    /// Search, within a budget. The default reads summaries, then bodies, and says how far it came.
    async fn search(&self, query: &dyn Query, span: &Span, budget: Budget) -> Result<Found> {
        let mut scan = Scan::new(self, query, budget);
        scan.walk(span).await?;
        Ok(scan.found)
    }

    /// Everything that changes after a position, in order per mailbox, as long as the stream is held. What is known to
    /// be missing is said by [`News::Lost`]. What lies in the past is told as far as it is still so: the delivery of a
    /// message that has gone since may be left out. From [`Position::END`]: what changes from now on.
    ///
    /// A position among all mailboxes is one only where the view is whole ([`Abilities::whole_view`]). Elsewhere a stream
    /// of all of them begins at the end, and from any other position it says first that it lost something.
    async fn changes(&self, scope: Scope, after: Position) -> Result<Changes>;

    /// The jobs that appends, deletes and purges carried.
    fn outbox(&self) -> &dyn Outbox;

    /// Small records with versions: tokens, sessions, fault plans.
    fn registry(&self) -> &dyn Registry;

    /// The other nodes over the same store.
    fn peers(&self) -> &dyn Peers;
}

/// What an engine is; told to users, and decided on by the mailroom instead of by an engine's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Abilities {
    /// `memory`, `disk`, `jetstream`.
    pub engine: &'static str,
    /// What a `250` promises, as one phrase: "until the program ends".
    pub promise: &'static str,
    /// Differs when positions and ids of an earlier start mean nothing any more: a cursor of another epoch is old.
    pub epoch: u64,
    /// Whether lists over all mailboxes are complete here, or only this node's memory of them.
    pub whole_view: bool,
}
