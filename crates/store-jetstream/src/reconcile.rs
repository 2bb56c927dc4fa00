//! What was begun is finished, by whoever began it or, when that one died or could not, by any other process. Several may
//! do so at once: every step happens once, whoever takes it. There is no lease and no clock in this but to save work.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use jiff::{SignedDuration, Timestamp};
use mail::Mailbox;
use store::Filed;
use tokio::time::{Instant, sleep};

use crate::engine::Parts;
use crate::names::Deed;
use crate::outbox::Seen;
use crate::record::{self, BodyRef, Intent, Line, What};
use crate::wire::{Failed, Failure, Patience, Pick, Raw};

/// How often intents are looked for; each shard of bodies adds to it, so that looking costs the brokers little.
const EVERY: Duration = Duration::from_secs(1);
const EVERY_MORE: Duration = Duration::from_millis(100);
/// Whoever began something has so long to finish it. One that is slower is helped, which harms nobody.
const LEFT_ALONE: Duration = Duration::from_millis(1500);
/// So many are finished at once.
const AT_ONCE: usize = 8;
/// So many are looked at in one shard at a time.
const LOOK_MAX: usize = 256;
/// How long one is worked on before the next.
const WORK_MAX: Duration = Duration::from_secs(4);
/// Guards may have gone by now, so what is done is looked for in the mailboxes themselves.
const GUARDS_TRUSTED: SignedDuration = SignedDuration::from_mins(50);

impl Parts {
    /// Look for what is left undone, for ever.
    pub(crate) async fn reconcile(self: Arc<Self>) {
        let mut seen: HashMap<(usize, u64), Instant> = HashMap::new();
        let mut errands = Seen::default();
        loop {
            sleep(EVERY + EVERY_MORE * self.office.settings.body_shards as u32).await;
            self.outbox.help_errands(LEFT_ALONE, &mut errands).await;
            let mut still = HashMap::new();
            for shard in 0..self.office.settings.body_shards {
                match self.left_undone(shard).await {
                    Ok(intents) => self.finish_some(shard, intents, &seen, &mut still).await,
                    Err(failure) => {
                        tracing::debug!(shard, %failure, "cannot look for unfinished deliveries now");
                        still
                            .extend(seen.iter().filter(|((there, _), _)| *there == shard).map(|(key, at)| (*key, *at)));
                    }
                }
            }
            seen = still;
        }
    }

    async fn left_undone(&self, shard: usize) -> Result<Vec<Raw>, Failure> {
        let (stream, subject) = (self.office.names.bodies(shard), self.office.names.intents(shard));
        let mut intents: Vec<Raw> = Vec::new();
        let mut next = 1;
        while intents.len() < LOOK_MAX
            && let Some(raw) = self.office.link.leader_has(&stream, Pick::Next(&subject, next)).await?
        {
            next = raw.seq + 1;
            intents.push(raw);
        }
        Ok(intents)
    }

    /// Finish those that were there long enough; note the others.
    async fn finish_some(
        &self,
        shard: usize,
        intents: Vec<Raw>,
        seen: &HashMap<(usize, u64), Instant>,
        still: &mut HashMap<(usize, u64), Instant>,
    ) {
        let mut due = Vec::new();
        for raw in intents {
            let first = *seen.get(&(shard, raw.seq)).unwrap_or(&Instant::now());
            still.insert((shard, raw.seq), first);
            if first.elapsed() >= LEFT_ALONE {
                due.push(raw);
            }
        }
        let take_up = |raw: Raw| async move {
            match record::read_intent(&raw.data) {
                Ok(intent) => self.take_up(shard, raw.seq, intent).await,
                Err(_) => {
                    tracing::error!(shard, seq = raw.seq, "an unfinished delivery cannot be read; it is left alone")
                }
            }
        };
        stream::iter(due).for_each_concurrent(AT_ONCE, take_up).await;
    }

    /// Finish one, or write down how far it came.
    pub(crate) async fn take_up(&self, shard: usize, seq: u64, mut intent: Intent) {
        let patience = Patience::new(WORK_MAX);
        if let Err(failed) = self.doubt_guards(shard, seq, &mut intent, patience).await {
            tracing::warn!(failure = %failed.last, "an old unfinished delivery cannot be looked into now");
            return;
        }
        match self.advance(&intent, (shard, seq), patience).await {
            Ok(_) => {
                tracing::info!(deed = Deed(intent.deed).hex(), "finished what another process had begun");
                self.forget_intent(shard, seq);
            }
            Err((done, failed)) => {
                tracing::warn!(failure = %failed.last, "an unfinished delivery cannot be finished now");
                self.note_progress((shard, seq), intent, done, patience).await;
            }
        }
    }

    /// Do what is left of a deed. The sequences it put in or took out.
    pub(crate) async fn finish(
        &self,
        intent: &Intent,
        at: (usize, u64),
        patience: Patience,
    ) -> Result<Vec<u64>, Failed> {
        self.advance(intent, at, patience).await.map_err(|(_, failed)| failed)
    }

    async fn advance(
        &self,
        intent: &Intent,
        at: (usize, u64),
        patience: Patience,
    ) -> Result<Vec<u64>, (Vec<(u32, u64)>, Failed)> {
        let deed = Deed(intent.deed);
        let stuck = |failed| (Vec::new(), failed);
        let (seqs, messages) = match &intent.what {
            What::Deliver { lines, body, done } => {
                let body = body.unwrap_or_else(|| before(lines, at));
                let seqs = self.finish_delivery(deed, lines.clone(), body, done, patience).await?;
                let named = lines.iter().map(|line| line.mailbox.clone()).zip(seqs.iter().copied());
                let messages: Vec<Filed> = named.map(record::filed).collect();
                (seqs, messages)
            }
            What::Delete { mailbox, seqs } => {
                let mailbox = Mailbox::from_canonical(mailbox);
                let gone = self.delete_now(deed, &mailbox, seqs.clone(), patience).await.map_err(stuck)?;
                if gone.is_empty() {
                    // Somebody else took them all: there is nothing that jobs could be about.
                    return Ok(gone);
                }
                let messages = Self::named(&mailbox, &gone);
                (gone, messages)
            }
            What::Purge { mailbox, up_to } => {
                let mailbox = Mailbox::from_canonical(mailbox);
                self.purge_now(deed, &mailbox, store::Position(*up_to), patience).await.map_err(stuck)?;
                (Vec::new(), Vec::new())
            }
        };
        if !intent.jobs.is_empty() {
            self.errands_before(intent, &messages, patience).await.map_err(stuck)?;
            self.outbox.write(deed, &intent.jobs, &messages, patience).await.map_err(stuck)?;
        }
        Ok(seqs)
    }

    /// What is to be done for earlier mail of the same mailboxes is among the jobs before what this is about.
    async fn errands_before(&self, intent: &Intent, messages: &[Filed], patience: Patience) -> Result<(), Failed> {
        let before = |filed: &Filed| match intent.what {
            What::Deliver { .. } => (filed.mailbox.clone(), filed.id.number()),
            _ => (filed.mailbox.clone(), u64::MAX),
        };
        let mut mailboxes: Vec<_> = messages.iter().map(before).collect();
        if let What::Purge { mailbox, .. } = &intent.what {
            mailboxes.push((Mailbox::from_canonical(mailbox), u64::MAX));
        }
        mailboxes.dedup();
        self.outbox.finish_errands(&mailboxes, patience).await
    }

    /// When a delivery is so old that its guards may have gone, take as done what is found in the mailboxes.
    async fn doubt_guards(
        &self,
        shard: usize,
        seq: u64,
        intent: &mut Intent,
        patience: Patience,
    ) -> Result<(), Failed> {
        let begun = record::time(intent.begun_at).unwrap_or(Timestamp::UNIX_EPOCH);
        let (deed, old) = (intent.deed, Timestamp::now().duration_since(begun) > GUARDS_TRUSTED);
        let What::Deliver { lines, done, body } = &mut intent.what else { return Ok(()) };
        if !old {
            return Ok(());
        }
        let placed = body.unwrap_or_else(|| before(lines, (shard, seq)));
        *body = Some(placed);
        let mailboxes: Vec<_> = lines.iter().map(|line| Mailbox::from_canonical(&line.mailbox)).collect();
        for (part, number) in self.office.parts(mailboxes.iter()).iter().zip(0u32..) {
            if done.iter().any(|(known, _)| *known == number) {
                continue;
            }
            for (line, behind) in part.iter().zip(1..) {
                let log = self.office.log(&mailboxes[*line], 0, patience).await?;
                if let Some((seq, _)) = log.lines.iter().find(|(_, line)| line.deed == deed) {
                    done.push((number, seq - behind));
                    break;
                }
            }
        }
        Ok(())
    }

    /// Write an intent anew with the parts that are done, so that nobody asks for their guards again.
    pub(crate) async fn note_progress(
        &self,
        at: (usize, u64),
        mut intent: Intent,
        done: Vec<(u32, u64)>,
        patience: Patience,
    ) {
        let What::Deliver { lines, body, done: known } = &mut intent.what else { return };
        if done.len() <= known.len() {
            return;
        }
        *body = Some(body.unwrap_or_else(|| before(lines, at)));
        *known = done;
        if self.office.put_intent(Deed(intent.deed), None, &intent, patience).await.is_ok() {
            self.forget_intent(at.0, at.1);
        }
    }

    /// An intent that is done goes. If that fails, somebody finds it, finds all done, and tries again.
    pub(crate) fn forget_intent(&self, shard: usize, seq: u64) {
        let office = Arc::clone(&self.office);
        tokio::spawn(async move {
            let stream = office.names.bodies(shard);
            let _ = Patience::new(WORK_MAX).of(|| office.link.remove(&stream, seq)).await;
        });
    }
}

/// The body that lies right before an intent.
fn before(lines: &[Line], (shard, seq): (usize, u64)) -> BodyRef {
    let unplaced = lines.first().map_or(BodyRef { shard: 0, seq: 0, chunks: 0, hash: [0; 32] }, |line| line.body);
    BodyRef { shard: shard as u32, seq: seq.saturating_sub(u64::from(unplaced.chunks)), ..unplaced }
}
