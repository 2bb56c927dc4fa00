//! Following the records of a kind. The brokers tell of each change once and do not look whether it arrived, so twice a
//! second the stream itself is asked for changes that were not heard of; whoever watches is then told to list anew.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Message, Subscriber};
use futures_util::{Stream, StreamExt, stream};
use jiff::Timestamp;
use store::{RegistryChange, Result};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::card::{self, Card};
use super::fresh;
use crate::names::token_of;
use crate::office::Office;
use crate::wire::{Failed, Pick};

/// A change that did not arrive is noticed within two of these.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// One who watches.
pub(super) struct Watch {
    office: Arc<Office>,
    stream: String,
    kind: String,
    /// The subjects of this kind.
    subject: String,
    arriving: Subscriber,
    looking: Interval,
    /// The connection that this follows over.
    made: u64,
    /// Up to here everything was told, or said to be lost.
    settled: u64,
    /// What was heard behind that.
    heard: BTreeSet<u64>,
    /// Stood in the stream at the last look without having been heard of.
    overdue: Option<u64>,
}

impl Watch {
    /// Watch from now on. When the leader answers what is asked behind the subscription, it knows of that: what it stores
    /// later is told, and what it stored before is seen by whoever lists.
    pub(super) async fn begin(office: Arc<Office>, stream: String, kind: &str) -> Result<Self> {
        let patience = office.patience();
        let (made, token) = (office.link.made(), token_of(kind));
        let told = office.names.below(&["rg", &token, "*"]);
        let arriving = patience.of(|| office.link.follow(told.clone())).await.map_err(Failed::into_harmless)?;
        let subject = office.names.below(&["r", &token, "*"]);
        let last = patience.of(|| office.link.leader_has(&stream, Pick::Last(&subject))).await;
        let settled = last.map_err(Failed::into_harmless)?.map_or(0, |raw| raw.seq);
        let mut looking = interval(LOOK_EVERY);
        looking.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (kind, heard) = (kind.to_owned(), BTreeSet::new());
        Ok(Self { office, stream, kind, subject, arriving, looking, made, settled, heard, overdue: None })
    }

    pub(super) fn changes(self) -> impl Stream<Item = RegistryChange> + Send {
        stream::unfold(self, |mut watch| async move { watch.next().await.map(|change| (change, watch)) })
    }

    async fn next(&mut self) -> Option<RegistryChange> {
        let office = Arc::clone(&self.office);
        loop {
            let mended = office.link.mended();
            if office.link.made() != self.made {
                self.begin_anew().await;
                return Some(RegistryChange::Lost);
            }
            tokio::select! {
                // What has arrived is taken before it is asked what has not.
                biased;
                () = mended => (),
                message = self.arriving.next() => {
                    if let Some(change) = self.hear(&message?) {
                        return Some(change);
                    }
                }
                _ = self.looking.tick() => {
                    if self.is_something_lost().await {
                        return Some(RegistryChange::Lost);
                    }
                }
            }
        }
    }

    /// The connection was made anew. Whoever lists from now on sees what stands now.
    async fn begin_anew(&mut self) {
        self.made = self.office.link.made();
        let asking = || self.office.link.leader_has(&self.stream, Pick::Last(&self.subject));
        if let Ok(Some(last)) = self.office.patience().of(asking).await {
            self.settle(last.seq);
        }
    }

    fn hear(&mut self, message: &Message) -> Option<RegistryChange> {
        let headers = message.headers.as_ref()?;
        let seq = headers.get("Nats-Sequence")?.as_str().parse().ok()?;
        if seq <= self.settled || !self.heard.insert(seq) {
            return None;
        }
        let card = Card::read(&message.payload).ok().filter(|card| card.kind == self.kind)?;
        if card.deleted {
            return Some(RegistryChange::Deleted(card.key));
        }
        card.live(seq, Timestamp::MIN).map(RegistryChange::Put)
    }

    /// Whether a change stands in the stream that was not heard of, and stood there at the last look as well: between two
    /// looks it would have arrived.
    async fn is_something_lost(&mut self) -> bool {
        let told = fresh(&self.office.link, &self.stream, &self.subject, self.settled + 1, usize::MAX).await;
        // Without brokers nothing is known; when they are back, it is asked again.
        let Ok(told) = told else { return false };
        let Some(last) = told.last().map(|raw| raw.seq) else { return false };
        let unheard = told.iter().filter(|raw| card::of_kind(raw, &self.kind).is_some()).map(|raw| raw.seq);
        let unheard: Vec<_> = unheard.filter(|seq| !self.heard.contains(seq)).collect();
        let heard_last = self.heard.last().copied().unwrap_or(0);
        let is_lost = self.overdue.is_some_and(|seq| heard_last < seq || unheard.contains(&seq));
        match unheard.first() {
            Some(first) if !is_lost => self.overdue = Some(*first),
            _ => self.settle(last),
        }
        is_lost
    }

    /// Nothing up to here is told any more, nor missed.
    fn settle(&mut self, seq: u64) {
        self.settled = seq;
        self.heard = self.heard.split_off(&(seq + 1));
        self.overdue = None;
    }
}
