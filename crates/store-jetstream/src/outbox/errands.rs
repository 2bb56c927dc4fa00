//! Errands: the jobs of mail to one mailbox, stored in one step with its line and in the same stream, so that mail waits no
//! longer for having jobs. Behind that they are brought among the jobs, each once, and always in the order of their mailbox:
//! whoever brings one brings those before it first, whosever they are.
//!
//! An errand goes when the node that stored it has brought it. One that somebody else brought stays for a while, since it
//! keeps its node, which may not have heard that it is stored, from storing the same once more.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use mail::{Mailbox, MessageId};
use store::Filed;
use tokio::sync::{Notify, OnceCell};
use tokio::time::Instant;

use super::writing::BATCH;
use super::{Outbox, hold};
use crate::names::{Deed, Place};
use crate::record::{self, Errand, LANES};
use crate::wire::{Failed, Failure, Outgoing, Patience, Pick, Raw};

/// So many are brought in one batch.
const GROUP: usize = 200;
/// So many questions are asked at the same time.
const AT_ONCE: usize = 16;
/// So many wait for this node; those beyond are left to the reconciler.
const QUEUE_MAX: usize = 10_000;
/// How long one group is worked on before it is left to the reconciler.
const WORK_MAX: Duration = Duration::from_secs(4);
/// One that was brought by another node than its own stays so long at least.
const KEPT_LEAST: Duration = Duration::from_secs(60);
/// So many are looked at in one shard at a time.
const LOOK_MAX: usize = 256;

/// Those that this node stored and has not brought among the jobs yet.
#[derive(Default)]
pub(super) struct Errands {
    queue: Mutex<VecDeque<Found>>,
    bell: Notify,
    /// Held by the one who brings them.
    turn: tokio::sync::Mutex<()>,
    /// Whether it was looked once for those of a process that died.
    looked: OnceCell<()>,
}

/// An errand and where it stands; right behind it stands the line of its message.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) shard: usize,
    pub(crate) seq: u64,
    pub(crate) errand: Errand,
}

/// What a reconciler has seen: where, when first, and whether it was brought.
#[derive(Default)]
pub(crate) struct Seen(HashMap<(usize, u64), (Instant, bool)>);

impl Found {
    fn read(shard: usize, raw: &Raw) -> Option<Self> {
        let errand = record::read_as(LANES, &raw.data).ok();
        if errand.is_none() {
            tracing::error!(shard, seq = raw.seq, "what is to be done for a message cannot be read; it is left alone");
        }
        errand.map(|errand| Self { shard, seq: raw.seq, errand })
    }

    fn mailbox(&self) -> Mailbox {
        Mailbox::from_canonical(&self.errand.mailbox)
    }

    fn message(&self) -> [Filed; 1] {
        [Filed { mailbox: self.mailbox(), id: MessageId::new(self.seq + 1) }]
    }
}

impl Outbox {
    /// This is to be brought among the jobs; nobody waits for it.
    pub(crate) fn run(&self, found: Found) {
        let mut queue = hold(&self.errands.queue);
        if queue.len() < QUEUE_MAX {
            queue.push_back(found);
            self.errands.bell.notify_one();
        }
    }

    /// Bring what this node stored, for ever.
    pub(crate) async fn run_errands(self: Arc<Self>) {
        loop {
            self.finish_own_errands().await;
            self.errands.bell.notified().await;
        }
    }

    /// When this ends, whatever this node stored before it began is among the jobs, or left to the reconciler.
    pub(super) async fn finish_own_errands(&self) {
        let _turn = self.errands.turn.lock().await;
        // In vain when the brokers are away; then the reconciler finds them.
        let _ = self.errands.looked.get_or_try_init(|| self.finish_found_errands()).await;
        loop {
            let group: Vec<_> = {
                let mut queue = hold(&self.errands.queue);
                let count = queue.len().min(GROUP);
                queue.drain(..count).collect()
            };
            if group.is_empty() {
                return;
            }
            match self.bring(&group, Patience::new(WORK_MAX)).await {
                Ok(()) => self.clear_away(&group).await,
                Err(failed) => tracing::debug!(failure = %failed.last, "jobs cannot be written now; they are later"),
            }
        }
    }

    /// Those that are there from before this node began.
    async fn finish_found_errands(&self) -> Result<(), Failure> {
        for shard in 0..self.office.settings.shards {
            let found = self.look(shard).await?;
            let brought = self.bring(&found, Patience::new(WORK_MAX)).await;
            brought.map_err(|failed| failed.last)?;
        }
        Ok(())
    }

    /// Bring what others have left for so long. What was seen, when first, and whether it was brought is remembered for the
    /// next time.
    pub(crate) async fn help_errands(&self, left_alone: Duration, seen: &mut Seen) {
        let mut still = Seen::default();
        for shard in 0..self.office.settings.shards {
            let Ok(found) = self.look(shard).await else { continue };
            for one in &found {
                let known = seen.0.get(&(shard, one.seq)).copied().unwrap_or((Instant::now(), false));
                still.0.insert((shard, one.seq), known);
            }
            self.help_some(found, left_alone, &mut still).await;
        }
        *seen = still;
    }

    async fn help_some(&self, found: Vec<Found>, left_alone: Duration, seen: &mut Seen) {
        let keep = KEPT_LEAST.max(self.office.settings.wait_max * 3);
        let (mut due, mut over) = (Vec::new(), Vec::new());
        for one in found {
            match seen.0.get(&(one.shard, one.seq)) {
                Some((first, true)) if first.elapsed() >= keep => over.push(one),
                Some((first, false)) if first.elapsed() >= left_alone => due.push(one),
                _ => {}
            }
        }
        self.clear_away(&over).await;
        match self.bring(&due, Patience::new(WORK_MAX)).await {
            Ok(()) => due.iter().for_each(|one| {
                tracing::info!(
                    deed = Deed(one.errand.deed).hex(),
                    "wrote the jobs of mail that another process had stored"
                );
                if let Some((_, brought)) = seen.0.get_mut(&(one.shard, one.seq)) {
                    *brought = true;
                }
            }),
            Err(failed) => tracing::warn!(failure = %failed.last, "jobs of mail cannot be written now"),
        }
    }

    async fn look(&self, shard: usize) -> Result<Vec<Found>, Failure> {
        let (stream, subject) = (self.office.names.summaries(shard), self.office.names.errands(shard));
        let (mut found, mut next) = (Vec::new(), 1);
        while found.len() < LOOK_MAX
            && let Some(raw) = self.office.link.leader_has(&stream, Pick::Next(&subject, next)).await?
        {
            next = raw.seq + 1;
            found.extend(Found::read(shard, &raw));
        }
        Ok(found)
    }

    /// Bring those of these mailboxes that stand before a place, each before its own.
    pub(crate) async fn finish_errands(&self, mailboxes: &[(Mailbox, u64)], patience: Patience) -> Result<(), Failed> {
        let mut before = self.standing_before(mailboxes, patience).await?;
        before.sort_by_key(|found| (found.shard, found.seq));
        self.bring_all(&before, patience).await
    }

    async fn standing_before(&self, mailboxes: &[(Mailbox, u64)], patience: Patience) -> Result<Vec<Found>, Failed> {
        let look = |(mailbox, before): (Mailbox, u64)| async move {
            self.of_mailbox(&self.office.names.place(&mailbox), before, patience).await
        };
        let found: Vec<_> = stream::iter(mailboxes.to_vec()).map(look).buffer_unordered(AT_ONCE).collect().await;
        Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }

    async fn of_mailbox(&self, place: &Place, before: u64, patience: Patience) -> Result<Vec<Found>, Failed> {
        let (stream, subject) = (self.office.names.summaries(place.shard), self.office.names.errands_of(place));
        let (mut found, mut next) = (Vec::new(), 1);
        while next < before
            && let Some(raw) = patience.of(|| self.office.link.leader_has(&stream, Pick::Next(&subject, next))).await?
            && raw.seq < before
        {
            next = raw.seq + 1;
            found.extend(Found::read(place.shard, &raw));
        }
        Ok(found)
    }

    /// Bring some among the jobs, and with them those of others that stand before any of them in the same mailbox.
    async fn bring(&self, group: &[Found], patience: Patience) -> Result<(), Failed> {
        let mut lasts: BTreeMap<String, (Mailbox, u64)> = BTreeMap::new();
        for found in group {
            let last = lasts.entry(found.errand.mailbox.clone()).or_insert_with(|| (found.mailbox(), found.seq));
            last.1 = last.1.max(found.seq);
        }
        let before = self.standing_before(&lasts.into_values().collect::<Vec<_>>(), patience).await?;
        let all: BTreeMap<_, _> =
            group.iter().cloned().chain(before).map(|found| ((found.shard, found.seq), found)).collect();
        self.bring_all(&all.into_values().collect::<Vec<_>>(), patience).await
    }

    /// Bring these, in this order: in one step, or one by one when they are too many or somebody else has brought one.
    async fn bring_all(&self, all: &[Found], patience: Patience) -> Result<(), Failed> {
        if all.is_empty() {
            return Ok(());
        }
        let batch: Vec<Outgoing> = all.iter().flat_map(|found| self.batch_of(found)).collect();
        if batch.len() <= BATCH && patience.of(|| self.office.link.publish_all(batch.clone())).await.is_ok() {
            return Ok(());
        }
        for found in all {
            self.bring_one(found, patience).await?;
        }
        Ok(())
    }

    fn batch_of(&self, found: &Found) -> Vec<Outgoing> {
        self.batch(Deed(found.errand.deed), 0, &found.errand.jobs, &found.message())
    }

    async fn bring_one(&self, found: &Found, patience: Patience) -> Result<(), Failed> {
        self.write(Deed(found.errand.deed), &found.errand.jobs, &found.message(), patience).await
    }

    /// What is among the jobs goes from the mailbox's stream. If that fails, somebody finds it, finds it done, and tries
    /// again.
    async fn clear_away(&self, group: &[Found]) {
        let remove = |(shard, seq): (usize, u64)| async move {
            let _ = self.office.link.remove(&self.office.names.summaries(shard), seq).await;
        };
        let places: Vec<_> = group.iter().map(|found| (found.shard, found.seq)).collect();
        stream::iter(places).map(remove).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    }
}
