//! The engine itself: one lock, and every call a step or a few under it.

use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::{Arc, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::Stream;
use jiff::Timestamp;
use mail::{Mailbox, MessageId};

use crate::change::{Changes, Filed, News, Position, Scope};
use crate::clock::Clock;
use crate::delivery::{Delivery, Stored};
use crate::error::Result;
use crate::list::{Item, Listing, MailboxPage, MailboxState, Page, RecentPage};
use crate::outbox::{DeadJob, Handback, Job, JobId, Lease, NewJob, Outbox};
use crate::peers::{Alone, Peers};
use crate::queue::Queue;
use crate::registry::Registry;
use crate::sync::Mutex;
use crate::{Abilities, Store};

use super::debris::Debris;
use super::jobs::Jobs;
use super::kept::{Draft, Micros};
use super::records::Records;
use super::settings::Settings;
use super::state::{Drops, State};
use super::views::Walk;

/// Messages let go, or places looked at, before the lock is opened for others.
const SLICE: usize = 256;
/// Lapsed messages freed by each call beside its own work.
const SWEEP: usize = 16;

/// The memory engine.
pub struct Memory {
    pub(super) state: Arc<Mutex<State>>,
    records: Records,
    clock: Arc<dyn Clock>,
    pub(super) settings: Settings,
    epoch: u64,
}

impl Memory {
    /// An empty store within these bounds.
    pub fn new(settings: Settings, clock: Arc<dyn Clock>) -> Self {
        let state = Arc::new(Mutex::new(State::new(&settings)));
        let records = Records::new(settings.registry_bytes_max, settings.lag_max, Arc::clone(&clock));
        let epoch = RandomState::new().hash_one("epoch");
        Self { state, records, clock, settings, epoch }
    }

    /// Free messages whose time has come, in slices, at most `budget`; how many went. Worth calling now and then where
    /// no other call is made.
    pub fn sweep(&self, budget: usize) -> usize {
        let mut swept = 0;
        while swept < budget {
            let slice = SLICE.min(budget - swept);
            let went = self.step(|state, now, debris| state.sweep(now, slice, debris));
            swept += went;
            if went < slice {
                break;
            }
        }
        swept
    }

    /// What the bounds have cost so far.
    pub fn drops(&self) -> Drops {
        self.step(|state, _, _| state.drops)
    }

    /// How many bytes are charged now; over `bytes_max` only while an append makes room.
    pub fn bytes(&self) -> u64 {
        self.step(|state, _, _| state.bytes())
    }

    /// One step under the lock. Nothing in a step panics; should one, the lock opens all the same.
    pub(super) fn step<T>(&self, step: impl FnOnce(&mut State, Micros, &mut Debris) -> T) -> T {
        let now = self.clock.now().as_microsecond();
        let mut debris = Debris::default();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = step(&mut state, now, &mut debris);
        drop(state);
        debris.clear_away();
        answer
    }

    /// One step that first frees a little of what has lapsed.
    pub(super) fn step_swept<T>(&self, step: impl FnOnce(&mut State, Micros, &mut Debris) -> T) -> T {
        self.step(|state, now, debris| {
            state.sweep(now, SWEEP, debris);
            step(state, now, debris)
        })
    }

    /// One step on the jobs.
    fn step_jobs<T>(&self, step: impl FnOnce(&mut Jobs, Timestamp) -> T) -> T {
        let now = self.clock.now();
        self.step(|state, _, _| step(&mut state.jobs, now))
    }
}

#[async_trait]
impl Store for Memory {
    fn abilities(&self) -> Abilities {
        Abilities { engine: "memory", promise: "until the program ends", epoch: self.epoch, whole_view: true }
    }

    async fn append(&self, delivery: Delivery) -> Result<Vec<Filed>> {
        let draft = Draft::of(delivery, &self.settings);
        let (filed, newcomer, mut fits, first_loss) = self.step_swept(|state, now, debris| {
            let newcomer = state.last().0 + 1;
            let lossless = state.drops.room == 0;
            let filed = state.append(draft, now, debris);
            let fits = state.make_room(newcomer, now, SLICE, debris);
            (filed, newcomer, fits, lossless && state.drops.room > 0)
        });
        while !fits {
            fits = self.step(|state, now, debris| state.make_room(newcomer, now, SLICE, debris));
        }
        if first_loss {
            tracing::warn!(
                bytes_max = self.settings.bytes_max,
                "the store is full: the largest mailboxes lose their oldest mail from now on"
            );
        }
        filed
    }

    async fn list(&self, mailbox: &Mailbox, page: Page) -> Result<Listing> {
        Ok(self.step_swept(|state, now, _| state.list(mailbox, page, now)))
    }

    async fn recent(&self, page: RecentPage) -> Result<Listing<Item>> {
        Ok(self.step_swept(|state, now, _| state.recent(page, now)))
    }

    async fn mailboxes(&self, page: MailboxPage<'_>) -> Result<Vec<MailboxState>> {
        let mut walk = Walk::new(page);
        while !self.step_swept(|state, now, _| walk.step(state, now, SLICE)) {
            breathe().await;
        }
        Ok(walk.found)
    }

    async fn position(&self, mailbox: &Mailbox) -> Result<Position> {
        Ok(self.step_swept(|state, _, _| state.position(mailbox)))
    }

    async fn read(&self, mailbox: &Mailbox, id: MessageId) -> Result<Option<Stored>> {
        Ok(self.step_swept(|state, now, _| state.read(mailbox, id, now)))
    }

    async fn delete(&self, mailbox: &Mailbox, ids: &[MessageId], jobs: Vec<NewJob>) -> Result<Vec<MessageId>> {
        self.step_swept(|state, now, debris| state.delete(mailbox, ids, jobs, now, debris))
    }

    async fn purge(&self, mailbox: &Mailbox, up_to: Position, jobs: Vec<NewJob>) -> Result<u64> {
        self.step_swept(|state, now, debris| state.purge(mailbox, up_to, jobs, now, debris))
    }

    async fn changes(&self, scope: Scope, after: Position) -> Result<Changes> {
        let queue = self.step(|state, now, _| {
            let begin = state.changes_since(&scope, after, self.settings.changes_max, now);
            state.log.join(&scope, begin)
        });
        Ok(Box::pin(Watch { queue, scope, state: Arc::downgrade(&self.state) }))
    }

    fn outbox(&self) -> &dyn Outbox {
        self
    }

    fn registry(&self) -> &dyn Registry {
        &self.records
    }

    fn peers(&self) -> &dyn Peers {
        &Alone
    }
}

#[async_trait]
impl Outbox for Memory {
    async fn take(&self, kind: &str, limit: usize, lease: Duration) -> Result<Vec<Job>> {
        Ok(self.step_jobs(|jobs, now| jobs.take(kind, limit, lease, now)))
    }

    async fn done(&self, lease: Lease) -> Result<Handback> {
        Ok(self.step_jobs(|jobs, _| jobs.done(lease)))
    }

    async fn retry(&self, lease: Lease, not_before: Timestamp) -> Result<Handback> {
        Ok(self.step_jobs(|jobs, _| jobs.retry(lease, not_before)))
    }

    async fn dead(&self, lease: Lease, reason: &str) -> Result<Handback> {
        Ok(self.step_jobs(|jobs, now| jobs.bury(lease, reason, now)))
    }

    async fn submit(&self, jobs: Vec<NewJob>) -> Result<Vec<JobId>> {
        self.step_jobs(|all, _| all.submit(jobs))
    }

    async fn revive(&self, job: JobId) -> Result<Option<JobId>> {
        self.step_jobs(|jobs, _| jobs.revive(job))
    }

    async fn dead_job(&self, job: JobId) -> Result<Option<DeadJob>> {
        Ok(self.step_jobs(|jobs, _| jobs.dead_job(job)))
    }

    async fn dead_jobs(&self, kind: &str, limit: usize) -> Result<Vec<DeadJob>> {
        Ok(self.step_jobs(|jobs, _| jobs.dead(kind, limit)))
    }

    async fn waiting(&self, kind: &str) -> Result<u64> {
        Ok(self.step_jobs(|jobs, _| jobs.waiting(kind)))
    }

    fn left_out(&self) -> u64 {
        self.step_jobs(|jobs, _| jobs.left_out())
    }
}

/// One held stream of changes.
struct Watch {
    queue: Arc<Queue<News>>,
    scope: Scope,
    state: Weak<Mutex<State>>,
}

impl Stream for Watch {
    type Item = News;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<News>> {
        self.queue.poll(context)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(state) = self.state.upgrade() {
            state.lock().unwrap_or_else(PoisonError::into_inner).log.leave(&self.scope, &self.queue);
        }
    }
}

/// Let other tasks of this thread run.
async fn breathe() {
    let mut first = true;
    std::future::poll_fn(|context| {
        if !std::mem::take(&mut first) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
