//! The engine itself: every call is handed to the part that does it.

use std::sync::Arc;

use async_trait::async_trait;
use mail::{Mailbox, MessageId};
use store::list::{Item, Listing, MailboxPage, MailboxState, Order, Page, RecentPage};
use store::outbox::Outbox as Jobs;
use store::peers::Peers as Nodes;
use store::registry::Registry as Records;
use store::{
    Abilities, Budget, Changes, Clock, Delivery, Error, Filed, Found, NewJob, Position, Query, Result, Scan, Scope,
    Span, Store, Stored,
};
use tokio::task::AbortHandle;

use crate::bodies::{self, Fetched};
use crate::error::OpenError;
use crate::follow;
use crate::janitor::Janitor;
use crate::names::Names;
use crate::office::Office;
use crate::outbox::Outbox;
use crate::peers::Peers;
use crate::pulse::{self, Health};
use crate::registry::Registry;
use crate::settings::Settings;
use crate::streams;
use crate::wire::{Failed, Link};

/// The distributed engine.
pub struct Jetstream {
    pub(crate) parts: Arc<Parts>,
    records: Registry,
    nodes: Peers,
    health: Arc<Health>,
    at_work: Vec<AbortHandle>,
}

/// What deliveries and removals, and those who finish them, have in common.
pub(crate) struct Parts {
    pub(crate) office: Arc<Office>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) janitor: Janitor,
}

impl Jetstream {
    /// Connect to the brokers, see to it that the store is there, and that they can keep a promise.
    pub async fn open(settings: Settings, clock: Arc<dyn Clock>) -> std::result::Result<Self, OpenError> {
        let link = Link::open(&settings).await?;
        let names = Names::new(&settings.prefix, settings.shards);
        let office = Office::new(link, names, settings, clock);
        office.check_connected()?;
        let brokers = streams::ensure(&office.link, &office.names, &office.settings).await?;
        let records = Registry::new(Arc::clone(&office));
        office.check_brokers(&brokers, &records).await?;
        let parts = Arc::new(Parts {
            outbox: Arc::new(Outbox::new(Arc::clone(&office))),
            janitor: Janitor::start(Arc::clone(&office)),
            office: Arc::clone(&office),
        });
        let health = Arc::new(Health::new());
        let at_work = vec![
            tokio::spawn(Arc::clone(&parts).reconcile()).abort_handle(),
            tokio::spawn(Arc::clone(&parts.outbox).run_errands()).abort_handle(),
            tokio::spawn(pulse::feel(Arc::clone(&office), Arc::clone(&health))).abort_handle(),
        ];
        Ok(Self { parts, records, nodes: Peers::new(office), health, at_work })
    }

    /// End what this engine does by itself. What is unfinished is finished by another process, or by the next one.
    pub fn close(&self) {
        self.at_work.iter().for_each(AbortHandle::abort);
    }

    fn office(&self) -> &Arc<Office> {
        &self.parts.office
    }
}

impl Drop for Jetstream {
    fn drop(&mut self) {
        self.close();
    }
}

#[async_trait]
impl Store for Jetstream {
    fn abilities(&self) -> Abilities {
        let promise = match self.office().settings.replicas {
            0..=2 => "through a crash of the broker",
            _ => "through the loss of any one machine",
        };
        Abilities { engine: "jetstream", promise, epoch: 0, whole_view: false }
    }

    async fn ready(&self) -> Result<()> {
        self.health.check(self.office().link.stands())
    }

    async fn append(&self, delivery: Delivery) -> Result<Vec<Filed>> {
        self.parts.deliver(delivery).await
    }

    async fn list(&self, mailbox: &Mailbox, page: Page) -> Result<Listing> {
        let office = self.office();
        // Behind a position nothing is needed of what lies before it.
        let from = match page {
            Page { after: Some(after), order: Order::Oldest, .. } => after.0.saturating_add(1),
            _ => 0,
        };
        let log = office.log(mailbox, from, office.patience()).await.map_err(Failed::into_harmless)?;
        let position = if from == 0 { log.last } else { log.last.max(page.after.unwrap_or_default()) };
        let all = log.lines.into_iter().filter_map(|(seq, line)| office.summary(seq, line)).map(Arc::new);
        let mut items: Vec<_> = all.collect();
        let total = (from == 0).then_some(items.len() as u64);
        if page.order == Order::Newest {
            items.reverse();
            items.retain(|summary| page.after.is_none_or(|after| Position::from(summary.id) < after));
        }
        let more = items.len() > page.limit;
        items.truncate(page.limit);
        Ok(Listing { items, position, more, total })
    }

    async fn recent(&self, _page: RecentPage) -> Result<Listing<Item>> {
        let (what, instead) = ("list the newest mail of all mailboxes", "list one mailbox");
        Err(Error::Unsupported { what, instead })
    }

    async fn mailboxes(&self, _page: MailboxPage<'_>) -> Result<Vec<MailboxState>> {
        let (what, instead) = ("list all mailboxes", "name the mailbox");
        Err(Error::Unsupported { what, instead })
    }

    async fn position(&self, mailbox: &Mailbox) -> Result<Position> {
        self.office().last(mailbox, self.office().patience()).await.map_err(Failed::into_harmless)
    }

    async fn read(&self, mailbox: &Mailbox, id: MessageId) -> Result<Option<Stored>> {
        let (office, patience) = (self.office(), self.office().patience());
        let line = office.line_at(mailbox, id.number(), patience).await.map_err(Failed::into_harmless)?;
        let Some(line) = line else { return Ok(None) };
        let at = line.body;
        let damaged = || Error::Damaged { mailbox: mailbox.clone(), id };
        let summary = line.summary(id.number()).map_err(|_| damaged())?;
        let record = match office.fetch_body(at, patience).await.map_err(Failed::into_harmless)? {
            Fetched::Whole(record) => record,
            Fetched::Damaged => return Err(damaged()),
            Fetched::Gone => return Ok(None),
        };
        let (raw, envelope) = bodies::open(&record, &summary).map_err(|_| damaged())?;
        Ok(Some(Stored { summary: Arc::new(summary), envelope: Arc::new(envelope), raw }))
    }

    async fn delete(&self, mailbox: &Mailbox, ids: &[MessageId], jobs: Vec<NewJob>) -> Result<Vec<MessageId>> {
        self.parts.delete(mailbox, ids, jobs).await
    }

    async fn purge(&self, mailbox: &Mailbox, up_to: Position, jobs: Vec<NewJob>) -> Result<u64> {
        self.parts.purge(mailbox, up_to, jobs).await
    }

    /// A mailbox's summaries in one look, and the bodies of its newest messages.
    async fn search(&self, query: &dyn Query, span: &Span, budget: Budget) -> Result<Found> {
        let Scope::Mailbox(mailbox) = &span.scope else {
            let (what, instead) = ("search all mailboxes", "search one mailbox, or list the newest mail");
            return Err(Error::Unsupported { what, instead });
        };
        let page = Page { after: Some(span.after), limit: usize::MAX, order: Order::Oldest };
        let mut summaries = self.list(mailbox, page).await?.items;
        // From whichever end: it is the newest whose bodies are read.
        let oldest_read = summaries.len().saturating_sub(self.office().settings.bodies_max);
        let readable = summaries.get(oldest_read).map(|summary| Position::from(summary.id)).unwrap_or(Position::END);
        summaries.retain(|summary| Position::from(summary.id) < span.before);
        if span.order == Order::Newest {
            summaries.reverse();
        }
        let mut scan = Scan::new(self, query, budget).with_bodies_from(readable);
        for summary in summaries {
            scan.look(Item { mailbox: mailbox.clone(), summary }).await?;
            if scan.is_over() {
                break;
            }
        }
        Ok(scan.found)
    }

    async fn changes(&self, scope: Scope, after: Position) -> Result<Changes> {
        let office = Arc::clone(self.office());
        match scope {
            Scope::Mailbox(mailbox) => follow::follow(office, mailbox, after).await,
            Scope::All => follow::all::follow(office, after).await,
        }
    }

    fn outbox(&self) -> &dyn Jobs {
        &*self.parts.outbox
    }

    fn registry(&self) -> &dyn Records {
        &self.records
    }

    fn peers(&self) -> &dyn Nodes {
        &self.nodes
    }
}
