//! The registry on the brokers: a subject for each key, the last message of it is the record, and its sequence the
//! version. Expectations are the broker's own ("only behind this sequence"), so that of several nodes one wins.
//!
//! Time is what the clock says. The brokers clear away later what the clock has let go.

mod card;
mod fresh;
#[cfg(test)]
pub(crate) mod rig;
#[cfg(test)]
mod tests;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;
use store::registry::RegistryChanges;
use store::{Entry, Error, Expect, Put, Result, Version};

use crate::names::token_of;
use crate::office::Office;
use crate::record;
use crate::wire::{Failed, Failure, Outgoing, Patience, Pick};

use card::Card;
pub(crate) use fresh::fresh;
use watch::Watch;

/// Expired records cleared away at once when there is no room.
const SWEEP: usize = 1_000;

/// The records of a store.
pub(crate) struct Registry {
    office: Arc<Office>,
    stream: String,
}

/// What stands at a key.
struct There {
    /// Where, live or not; 0: nowhere.
    seq: u64,
    mark: Option<u128>,
    live: Option<Entry>,
}

/// What became of an attempt to put something in the place of something else.
enum Swap {
    /// It stands, at this sequence.
    Done(u64),
    /// This was there, and was not right.
    Wrong(Option<Entry>),
}

impl Registry {
    pub(crate) fn new(office: Arc<Office>) -> Self {
        let stream = office.names.records();
        Self { office, stream }
    }

    fn subject(&self, kind: &str, key: &str) -> String {
        self.office.names.below(&["r", &token_of(kind), &token_of(key)])
    }

    async fn there(&self, kind: &str, key: &str, patience: Patience) -> Result<There> {
        let subject = self.subject(kind, key);
        let raw = patience.of(|| self.office.link.leader_has(&self.stream, Pick::Last(&subject))).await;
        let Some(raw) = raw.map_err(Failed::into_harmless)? else {
            return Ok(There { seq: 0, mark: None, live: None });
        };
        let unreadable =
            |_| Error::try_later(format!("the record {key} of {kind} cannot be read: a later version wrote it"));
        let card = Card::read(&raw.data).map_err(unreadable)?;
        let (mark, now) = (card.mark, self.office.clock.now());
        // Another name with the same hash is not served as this one.
        let live =
            Some(card).filter(|card| card.kind == kind && card.key == key).and_then(|card| card.live(raw.seq, now));
        Ok(There { seq: raw.seq, mark: Some(mark), live })
    }

    fn message(&self, card: &Card) -> Outgoing {
        let message = Outgoing::new(self.subject(&card.kind, &card.key), record::write(card));
        match card.life(self.office.clock.now()) {
            Some(life) => message.living(life),
            None => message,
        }
    }

    /// Put a card down whatever is there. The id lets an attempt whose answer was lost be done once.
    async fn put_down(&self, card: &Card) -> Result<u64> {
        let patience = self.office.patience();
        let message = self.message(card).id(&format!("{:032x}", card.mark));
        let mut outcome = patience.of(|| self.office.link.publish(message.clone())).await;
        if outcome.as_ref().is_err_and(is_full) {
            self.sweep(patience).await;
            outcome = patience.of(|| self.office.link.publish(message.clone())).await;
        }
        outcome.map(|ack| ack.seq).map_err(Failed::into_error)
    }

    /// Put a card down if what is there is right, and nothing comes between.
    async fn swap(&self, card: &Card, is_right: impl Fn(Option<&Entry>) -> bool) -> Result<Swap> {
        let patience = self.office.patience();
        let message = self.message(card);
        // Behind this sequence an attempt may have been done.
        let mut unsure = None;
        let mut swept = false;
        loop {
            let there = match self.there(&card.kind, &card.key, patience).await {
                Err(error) if unsure.is_some() => return Err(Error::UnknownOutcome { why: error.to_string() }),
                there => there?,
            };
            if there.mark == Some(card.mark) {
                return Ok(Swap::Done(there.seq));
            }
            if unsure.is_some_and(|seq| seq != there.seq) {
                let why = "the answer to a write was lost, and somebody else has written since".to_owned();
                return Err(Error::UnknownOutcome { why });
            }
            if !is_right(there.live.as_ref()) {
                return Ok(Swap::Wrong(there.live));
            }
            match patience.of(|| self.office.link.publish(message.clone().after(there.seq))).await {
                Ok(ack) => return Ok(Swap::Done(ack.seq)),
                Err(failed) if failed.last.stands_at().is_some() && patience.is_left() => {
                    unsure = unsure.or(failed.unknown.then_some(there.seq));
                }
                Err(failed) if is_full(&failed) && !swept => {
                    self.sweep(patience).await;
                    swept = true;
                }
                Err(failed) => {
                    return Err(Failed { unknown: failed.unknown || unsure.is_some(), ..failed }.into_error());
                }
            }
        }
    }

    /// Where there is no room even to write that a record is deleted, it is taken out first.
    async fn take_out(&self, card: &Card, is_right: impl Fn(Option<&Entry>) -> bool) -> Result<bool> {
        let patience = self.office.patience();
        let there = self.there(&card.kind, &card.key, patience).await?;
        if !is_right(there.live.as_ref()) {
            return Ok(false);
        }
        let gone =
            patience.of(|| self.office.link.remove(&self.stream, there.seq)).await.map_err(Failed::into_error)?;
        // Those who watch hear of it if there is room now; whoever asks sees it anyway.
        let _ = self.office.link.publish(self.message(card).after(0)).await;
        Ok(gone)
    }

    /// Clear away what has expired.
    async fn sweep(&self, patience: Patience) {
        let all = self.office.names.below(&["r", ">"]);
        let Ok(told) = patience.of(|| fresh(&self.office.link, &self.stream, &all, 0, usize::MAX)).await else {
            return;
        };
        let now = self.office.clock.now();
        let is_expired = |data: &[u8]| Card::read(data).is_ok_and(|card| !card.deleted && card.live(0, now).is_none());
        for raw in told.into_iter().filter(|raw| is_expired(&raw.data)).take(SWEEP) {
            // What cannot be cleared away now can be the next time.
            let _ = self.office.link.remove(&self.stream, raw.seq).await;
        }
    }
}

#[async_trait]
impl store::Registry for Registry {
    async fn get(&self, kind: &str, key: &str) -> Result<Option<Entry>> {
        Ok(self.there(kind, key, self.office.patience()).await?.live)
    }

    async fn list(&self, kind: &str) -> Result<Vec<Entry>> {
        let subject = self.office.names.below(&["r", &token_of(kind), "*"]);
        let reading = || fresh(&self.office.link, &self.stream, &subject, 0, usize::MAX);
        let told = self.office.patience().of(reading).await.map_err(Failed::into_harmless)?;
        let mut cards = BTreeMap::new();
        for raw in told {
            if let Some(card) = card::of_kind(&raw, kind) {
                cards.insert(card.key.clone(), (raw.seq, card));
            }
        }
        let now = self.office.clock.now();
        Ok(cards.into_values().filter_map(|(seq, card)| card.live(seq, now)).collect())
    }

    async fn put(
        &self,
        kind: &str,
        key: &str,
        value: Bytes,
        expires: Option<Timestamp>,
        expect: Expect,
    ) -> Result<Put> {
        let card = Card::put(kind, key, &value, expires);
        if expect == Expect::Any {
            return self.put_down(&card).await.map(|seq| Put::Written(Version(seq)));
        }
        Ok(match self.swap(&card, |there| expect.is_met(there)).await? {
            Swap::Done(seq) => Put::Written(Version(seq)),
            Swap::Wrong(there) => Put::Conflict(there),
        })
    }

    async fn delete(&self, kind: &str, key: &str, expect: Expect) -> Result<bool> {
        let card = Card::deleted(kind, key);
        let is_right = |there: Option<&Entry>| there.is_some() && expect.is_met(there);
        match self.swap(&card, is_right).await {
            Ok(swap) => Ok(matches!(swap, Swap::Done(_))),
            Err(Error::Full { .. }) => self.take_out(&card, is_right).await,
            Err(error) => Err(error),
        }
    }

    async fn watch(&self, kind: &str) -> Result<RegistryChanges> {
        let watch = Watch::begin(Arc::clone(&self.office), self.stream.clone(), kind).await?;
        Ok(Box::pin(watch.changes()))
    }
}

fn is_full(failed: &Failed) -> bool {
    !failed.unknown && matches!(&failed.last, Failure::Refused(refusal) if refusal.is_no_room())
}
