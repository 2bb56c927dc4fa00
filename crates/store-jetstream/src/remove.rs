//! Taking mail out: first a mark in the mailbox, which is the event and the decision, then the lines themselves.
//!
//! A message can be deleted once: its grave, stored with the mark, refuses a second. A mark stays until its lines are
//! surely gone everywhere, so whoever dies in between leaves a delete that the next look at the mailbox ends.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use mail::{Mailbox, MessageId};
use store::{Error, Filed, NewJob, Position, Result};

use crate::deliver::GUARD_LIFE;
use crate::engine::Parts;
use crate::names::{Deed, Place};
use crate::office::Office;
use crate::record::{self, Gone, Intent, JobLine, Mark, What};
use crate::wire::{Failed, Outgoing, Patience, Pick};

/// So long a mark is remembered, for watchers that come back and for replicas that lag.
pub(crate) const MARK_LIFE: Duration = Duration::from_secs(900);
/// So many messages are deleted in one step: each takes two of the thousand messages of a batch.
const STEP_MAX: usize = 400;
/// So many messages are looked at, or taken out, at once.
const AT_ONCE: usize = 16;

impl Parts {
    /// Delete messages; those that were there.
    pub(crate) async fn delete(
        &self,
        mailbox: &Mailbox,
        ids: &[MessageId],
        jobs: Vec<NewJob>,
    ) -> Result<Vec<MessageId>> {
        let patience = self.office.patience();
        let mut gone = Vec::new();
        for ids in ids.chunks(STEP_MAX) {
            let there = self.office.those_there(mailbox, ids, patience).await.map_err(Failed::into_harmless)?;
            gone.extend(there.into_iter().filter(|seq| !gone.contains(seq)).collect::<Vec<_>>());
        }
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        let jobs = self.outbox.admit(jobs).await?;
        let what = What::Delete { mailbox: mailbox.as_str().to_owned(), seqs: gone.clone() };
        let gone = match jobs.is_empty() {
            true => self.delete_now(Deed::new(), mailbox, gone, patience).await.map_err(Failed::into_error)?,
            false => self.remove_by_intent(what, jobs, patience).await?,
        };
        Ok(gone.into_iter().map(MessageId::new).collect())
    }

    /// Take everything up to a position out; how many messages went.
    pub(crate) async fn purge(&self, mailbox: &Mailbox, up_to: Position, jobs: Vec<NewJob>) -> Result<u64> {
        let patience = self.office.patience();
        let deed = Deed::new();
        if jobs.is_empty() {
            return self.purge_now(deed, mailbox, up_to, patience).await.map_err(Failed::into_error);
        }
        let count = self.office.count_to_purge(mailbox, up_to, patience).await.map_err(Failed::into_harmless)?;
        if count > 0 {
            let jobs = self.outbox.admit(jobs).await?;
            let what = What::Purge { mailbox: mailbox.as_str().to_owned(), up_to: up_to.0 };
            self.remove_by_intent(what, jobs, patience).await?;
        }
        Ok(count)
    }

    /// Write down what is to go with its jobs, and do it.
    async fn remove_by_intent(&self, what: What, jobs: Vec<JobLine>, patience: Patience) -> Result<Vec<u64>> {
        let deed = Deed::new();
        let intent = Intent { deed: deed.0, begun_at: Timestamp::now().as_microsecond(), what, jobs };
        let (shard, seq) = self.office.put_intent(deed, None, &intent, patience).await.map_err(Failed::into_error)?;
        let unknown = |failed: Failed| Error::UnknownOutcome { why: failed.last.to_string() };
        let gone = self.finish(&intent, (shard, seq), patience).await.map_err(unknown)?;
        self.forget_intent(shard, seq);
        Ok(gone)
    }

    /// Delete messages that were there when they were looked at; those that this deed took.
    pub(crate) async fn delete_now(
        &self,
        deed: Deed,
        mailbox: &Mailbox,
        seqs: Vec<u64>,
        patience: Patience,
    ) -> Result<Vec<u64>, Failed> {
        let place = self.office.names.place(mailbox);
        let mut gone = Vec::new();
        for seqs in seqs.chunks(STEP_MAX) {
            let (ours, marks) = self.office.bury(deed, mailbox, &place, seqs.to_vec(), patience).await?;
            let graves: Vec<_> = ours.iter().map(|seq| Gone::One(*seq)).collect();
            self.office.dig(&place, &graves, patience).await.map_err(surely_begun)?;
            self.janitor.later(place.shard, marks);
            gone.extend(ours);
        }
        Ok(gone)
    }

    /// Empty a mailbox up to a position; how many messages were there.
    pub(crate) async fn purge_now(
        &self,
        deed: Deed,
        mailbox: &Mailbox,
        up_to: Position,
        patience: Patience,
    ) -> Result<u64, Failed> {
        let office = &self.office;
        let place = office.names.place(mailbox);
        let mut counted = 0;
        let mark = loop {
            let log = office.log(mailbox, 0, patience).await?;
            if let Some((seq, _)) = log.marks.iter().find(|(_, mark)| mark.deed == deed.0) {
                // An attempt whose answer was lost.
                break *seq;
            }
            counted = log.lines.iter().filter(|(seq, _)| *seq <= up_to.0).count() as u64;
            if counted == 0 {
                // That there is nothing to do must be as sure as doing it.
                match office.is_current(&place, &log, patience).await? {
                    true => return Ok(0),
                    false => continue,
                }
            }
            let mark = office.mark(deed, mailbox, &place, Gone::UpTo(up_to.0)).after(log.last_mark());
            match patience.of(|| office.link.publish(mark.clone())).await {
                Ok(ack) => break ack.seq,
                // Somebody else took something out meanwhile, or an attempt of ours was stored: look again.
                Err(failed) if failed.last.stands_at().is_some() && patience.is_left() => {}
                Err(failed) => return Err(failed),
            }
        };
        let gone = Gone::UpTo(up_to.0.min(mark - 1));
        office.end_removals(&place, &[gone], patience).await.map_err(surely_begun)?;
        self.janitor.later(place.shard, mark..mark + 1);
        Ok(counted)
    }

    /// The messages a deed took, named as its jobs name them.
    pub(crate) fn named(mailbox: &Mailbox, seqs: &[u64]) -> Vec<Filed> {
        seqs.iter().map(|seq| Filed { mailbox: mailbox.clone(), id: MessageId::new(*seq) }).collect()
    }
}

impl Office {
    /// How many messages there are up to a position; that there is none is as sure as taking them out would be.
    async fn count_to_purge(&self, mailbox: &Mailbox, up_to: Position, patience: Patience) -> Result<u64, Failed> {
        let place = self.names.place(mailbox);
        loop {
            let log = self.log(mailbox, 0, patience).await?;
            let count = log.lines.iter().filter(|(seq, _)| *seq <= up_to.0).count() as u64;
            if count > 0 || self.is_current(&place, &log, patience).await? {
                return Ok(count);
            }
        }
    }

    /// Which of these messages are there, in the order asked, each once.
    async fn those_there(&self, mailbox: &Mailbox, ids: &[MessageId], patience: Patience) -> Result<Vec<u64>, Failed> {
        let mut seqs: Vec<u64> = Vec::new();
        for id in ids.iter().map(|id| id.number()) {
            if !seqs.contains(&id) {
                seqs.push(id);
            }
        }
        let look = |seq| async move { Ok(self.line_at(mailbox, seq, patience).await?.map(|_| seq)) };
        let there: Vec<Option<u64>> = stream::iter(seqs).map(look).buffered(AT_ONCE).try_collect().await?;
        Ok(there.into_iter().flatten().collect())
    }

    /// Mark messages as deleted, each with its grave, in one step; those that nobody else buried before, and where the
    /// marks stand.
    pub(crate) async fn bury(
        &self,
        deed: Deed,
        mailbox: &Mailbox,
        place: &Place,
        mut seqs: Vec<u64>,
        patience: Patience,
    ) -> Result<(Vec<u64>, std::ops::Range<u64>), Failed> {
        while !seqs.is_empty() {
            let grave = |seq: &u64| {
                let subject = self.names.grave(place.shard, *seq);
                Outgoing::new(subject, deed.0.to_be_bytes().to_vec()).after(0).living(GUARD_LIFE)
            };
            let mut messages: Vec<_> = seqs.iter().map(grave).collect();
            messages.extend(seqs.iter().map(|seq| self.mark(deed, mailbox, place, Gone::One(*seq))));
            match patience.of(|| self.link.publish_all(messages.clone())).await {
                Ok(ack) => return Ok((seqs.clone(), ack.seq + 1 - seqs.len() as u64..ack.seq + 1)),
                Err(failed) if failed.last.stands_at().is_some() => {}
                Err(failed) => return Err(failed),
            }
            let owners = self.owners(place.shard, &seqs, patience).await?;
            if let Some((seq, _)) = owners.iter().flatten().find(|(_, owner)| *owner == deed.0) {
                // An attempt whose answer was lost: all of it was stored, the marks behind the graves.
                let first = seq + seqs.len() as u64;
                return Ok((seqs.clone(), first..first + seqs.len() as u64));
            }
            let mut owners = owners.into_iter();
            seqs.retain(|_| owners.next().flatten().is_none());
        }
        Ok((Vec::new(), 0..0))
    }

    /// Who buried each message, and where the grave stands.
    async fn owners(&self, shard: usize, seqs: &[u64], patience: Patience) -> Result<Vec<Option<(u64, u128)>>, Failed> {
        let stream = self.names.summaries(shard);
        let look = |seq: u64| {
            let (stream, subject) = (&stream, self.names.grave(shard, seq));
            async move {
                let raw = patience.of(|| self.link.leader_has(stream, Pick::Last(&subject))).await?;
                let owner = |data: &[u8]| data.try_into().map_or(0, u128::from_be_bytes);
                Ok(raw.map(|raw| (raw.seq, owner(&raw.data))))
            }
        };
        stream::iter(seqs.to_vec()).map(look).buffered(AT_ONCE).try_collect().await
    }

    /// Take out the lines of what was buried.
    async fn dig(&self, place: &Place, gone: &[Gone], patience: Patience) -> Result<(), Failed> {
        let dig = |gone: Gone| async move { self.end_removals(place, &[gone], patience).await };
        stream::iter(gone.to_vec()).map(dig).buffer_unordered(AT_ONCE).try_collect().await
    }

    pub(crate) fn mark(&self, deed: Deed, mailbox: &Mailbox, place: &Place, gone: Gone) -> Outgoing {
        let mark = Mark { deed: deed.0, mailbox: mailbox.as_str().to_owned(), gone };
        Outgoing::new(self.names.marks(place), record::write(&mark))
    }
}

/// The mark stands: whatever else failed, this will be done.
fn surely_begun(failed: Failed) -> Failed {
    Failed { unknown: true, ..failed }
}
