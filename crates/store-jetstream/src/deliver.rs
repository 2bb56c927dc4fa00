//! One message into all its mailboxes, or into none.
//!
//! To one mailbox: the body, then the line in the mailbox, whose acknowledgement is the commit; jobs are an errand in one
//! batch with it, see [`crate::outbox`]. To several of one shard: the body, then one batch. To several shards, or to several
//! mailboxes with jobs: the body and an intent that says all that is left to do, in one batch, which is the commit; then a
//! part in each shard. A part is a batch with a guard that can be stored once, so whoever does it and however often, it
//! is done once; what is left undone is done by the reconciler of any node.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mail::{Mailbox, MessageId, Summary};
use store::{Delivery, Error, Filed, Result, Sorted};

use crate::bodies::Packed;
use crate::engine::Parts;
use crate::names::{Deed, Place};
use crate::office::Office;
use crate::outbox::Found;
use crate::record::{self, BodyRef, Errand, Intent, JobLine, LANES, Line, What};
use crate::wire::{Failed, Outgoing, Patience};

/// A guard outlives every question that is asked of it.
pub(crate) const GUARD_LIFE: Duration = Duration::from_secs(3600);
/// So many lines go into one batch; a broker takes a thousand.
const PART_MAX: usize = 400;
/// What is received earlier than this against the clock is old, and goes earlier than its stream would have it.
const FRESH: SignedDuration = SignedDuration::from_secs(5);

impl Parts {
    /// Put a message into its mailboxes.
    pub(crate) async fn deliver(&self, delivery: Delivery) -> Result<Vec<Filed>> {
        let Sorted { raw, envelope, copies, jobs } = delivery.sort();
        let packed = Packed::new(raw, envelope).await;
        let (deed, patience) = (Deed::new(), self.office.patience());
        let shards = self.office.parts(copies.iter().map(|(mailbox, _)| mailbox));
        let jobs = self.outbox.admit(jobs).await?;
        match (shards.len(), jobs.is_empty()) {
            (0, _) => Ok(Vec::new()),
            (1, true) => self.office.deliver_at_once(deed, &packed, copies, patience).await,
            (1, false) if copies.len() == 1 => {
                let copy = copies.into_iter().next().expect("there is one");
                self.deliver_with_errand(deed, &packed, copy, jobs, patience).await
            }
            _ => self.deliver_by_intent(deed, &packed, copies, jobs, patience).await,
        }
    }

    /// The body, then the line with what is to be done for it, in one step. That it comes among the jobs nobody waits for.
    async fn deliver_with_errand(
        &self,
        deed: Deed,
        packed: &Packed,
        (mailbox, summary): (Mailbox, Summary),
        jobs: Vec<JobLine>,
        patience: Patience,
    ) -> Result<Vec<Filed>> {
        let body = self.office.put_body(packed, deed, patience).await.map_err(Failed::into_harmless)?;
        let place = self.office.names.place(&mailbox);
        let line = Line::new(deed, &mailbox, summary, body);
        let errand = Errand { deed: deed.0, mailbox: mailbox.as_str().to_owned(), jobs };
        let seq = self.office.put_errand(&errand, &line, patience).await.map_err(Failed::into_error)?;
        self.outbox.run(Found { shard: place.shard, seq, errand });
        Ok(vec![Filed { mailbox, id: MessageId::new(seq + 1) }])
    }

    /// Write down what is to be done, and do it. Once it is written down there is no way back.
    async fn deliver_by_intent(
        &self,
        deed: Deed,
        packed: &Packed,
        copies: Vec<(Mailbox, Summary)>,
        jobs: Vec<JobLine>,
        patience: Patience,
    ) -> Result<Vec<Filed>> {
        let unplaced = packed.at(0, 0);
        let lines: Vec<_> = copies.into_iter().map(|(to, summary)| Line::new(deed, &to, summary, unplaced)).collect();
        let mailboxes: Vec<_> = lines.iter().map(|line| Mailbox::from_canonical(&line.mailbox)).collect();
        let what = What::Deliver { lines, body: None, done: Vec::new() };
        let intent = Intent { deed: deed.0, begun_at: Timestamp::now().as_microsecond(), what, jobs };
        let (shard, seq) =
            self.office.put_intent(deed, Some(packed), &intent, patience).await.map_err(Failed::into_error)?;
        let done = self.finish(&intent, (shard, seq), patience).await.map_err(unknown)?;
        self.forget_intent(shard, seq);
        let filed = |(mailbox, seq)| Filed { mailbox, id: MessageId::new(seq) };
        Ok(mailboxes.into_iter().zip(done).map(filed).collect())
    }

    /// Do what an intent to deliver says is left; where each of its lines stands then.
    pub(crate) async fn finish_delivery(
        &self,
        deed: Deed,
        mut lines: Vec<Line>,
        body: BodyRef,
        done: &[(u32, u64)],
        patience: Patience,
    ) -> Result<Vec<u64>, (Vec<(u32, u64)>, Failed)> {
        lines.iter_mut().for_each(|line| line.body = body);
        let mailboxes: Vec<_> = lines.iter().map(|line| Mailbox::from_canonical(&line.mailbox)).collect();
        let parts = self.office.parts(mailboxes.iter());
        let doing = parts.iter().zip(0u32..).map(|(part, number)| {
            let there = done.iter().find(|(done, _)| *done == number).map(|(_, guard)| *guard);
            let lines = part.iter().map(|place| &lines[*place]);
            async move {
                match there {
                    Some(guard) => Ok((number, guard)),
                    None => {
                        self.office.put_part(deed, number as usize, lines, patience).await.map(|guard| (number, guard))
                    }
                }
            }
        });
        let done: Vec<_> = futures_util::future::join_all(doing).await;
        let mut seqs = vec![0; lines.len()];
        let (mut stand, mut failed) = (Vec::new(), None);
        for (outcome, part) in done.into_iter().zip(&parts) {
            match outcome {
                Ok((number, guard)) => {
                    stand.push((number, guard));
                    part.iter().zip(guard + 1..).for_each(|(place, seq)| seqs[*place] = seq);
                }
                Err(failure) => failed = Some(failure),
            }
        }
        match failed {
            None => Ok(seqs),
            Some(failed) => Err((stand, failed)),
        }
    }
}

impl Office {
    /// Which mailboxes go into one batch, by their place in the order given: those of one shard, and not too many.
    pub(crate) fn parts<'a>(&self, mailboxes: impl Iterator<Item = &'a Mailbox>) -> Vec<Vec<usize>> {
        let mut shards: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, mailbox) in mailboxes.enumerate() {
            shards.entry(self.names.place(mailbox).shard).or_default().push(number);
        }
        shards.values().flat_map(|shard| shard.chunks(PART_MAX).map(<[usize]>::to_vec)).collect()
    }

    /// The body, then its lines, which are of one part.
    async fn deliver_at_once(
        &self,
        deed: Deed,
        packed: &Packed,
        copies: Vec<(Mailbox, Summary)>,
        patience: Patience,
    ) -> Result<Vec<Filed>> {
        let body = self.put_body(packed, deed, patience).await.map_err(Failed::into_harmless)?;
        let mailboxes: Vec<_> = copies.iter().map(|(mailbox, _)| mailbox.clone()).collect();
        let lines: Vec<_> = copies.into_iter().map(|(to, summary)| Line::new(deed, &to, summary, body)).collect();
        let first = match &lines[..] {
            [line] => self.put_line(deed, line, patience).await,
            _ => self.put_part(deed, 0, lines.iter(), patience).await.map(|guard| guard + 1),
        };
        let first = first.map_err(Failed::into_error)?;
        let filed = |(mailbox, seq)| Filed { mailbox, id: MessageId::new(seq) };
        Ok(mailboxes.into_iter().zip(first..).map(filed).collect())
    }

    /// One line into its mailbox. The id makes a second attempt find the first.
    async fn put_line(&self, deed: Deed, line: &Line, patience: Patience) -> Result<u64, Failed> {
        let message = self.line(line).id(&deed.hex());
        patience.of(|| self.link.publish(message.clone())).await.map(|ack| ack.seq)
    }

    /// Several lines into mailboxes of one shard, all or none, and once; where their guard stands. They stand behind it.
    async fn put_part<'a>(
        &self,
        deed: Deed,
        part: usize,
        lines: impl Iterator<Item = &'a Line>,
        patience: Patience,
    ) -> Result<u64, Failed> {
        let lines: Vec<_> = lines.collect();
        let Some(first) = lines.first() else { return Ok(0) };
        let shard = self.place_of(first).shard;
        let guard = Outgoing::new(self.names.guard(shard, deed, part), deed.0.to_be_bytes().to_vec());
        let mut messages = vec![guard.after(0).living(GUARD_LIFE)];
        messages.extend(lines.iter().map(|line| self.line(line)));
        self.put_behind_first(messages, patience).await
    }

    /// A line behind what is to be done for it, both or none, and once; where the errand stands. It is a guard as well,
    /// which nobody takes away while this goes on.
    pub(crate) async fn put_errand(&self, errand: &Errand, line: &Line, patience: Patience) -> Result<u64, Failed> {
        let subject = self.names.errand(&self.place_of(line), Deed(errand.deed));
        let errand = Outgoing::new(subject, record::write_as(LANES, errand)).after(0).for_good();
        self.put_behind_first(vec![errand, self.line(line)], patience).await
    }

    /// Messages of a shard of which the first is a guard; where that stands.
    async fn put_behind_first(&self, messages: Vec<Outgoing>, patience: Patience) -> Result<u64, Failed> {
        let count = messages.len() as u64 - 1;
        let put = || {
            let messages = messages.clone();
            async move {
                match self.link.publish_all(messages).await {
                    Ok(ack) => Ok(ack.seq - count),
                    Err(failure) => failure.stands_at().ok_or(failure),
                }
            }
        };
        patience.of(put).await
    }

    /// A line as it goes into its mailbox.
    fn line(&self, line: &Line) -> Outgoing {
        let message = Outgoing::new(self.names.mail(&self.place_of(line)), record::write(line));
        match self.lifetime(line) {
            Some(time) => message.living(time),
            None => message,
        }
    }

    pub(crate) fn place_of(&self, line: &Line) -> Place {
        self.names.place(&Mailbox::from_canonical(&line.mailbox))
    }

    /// How long a line is to stay; none: as long as its stream has it.
    fn lifetime(&self, line: &Line) -> Option<Duration> {
        let now = self.clock.now();
        let is_old = record::time(line.received_at).is_ok_and(|received| received + FRESH < now);
        let end = end(line, self.settings.retention.filter(|_| is_old))?;
        Some(Duration::try_from(end.duration_since(now)).unwrap_or(Duration::ZERO))
    }

    /// Whether a line's time has come.
    pub(crate) fn has_lapsed(&self, line: &Line) -> bool {
        end(line, self.settings.retention).is_some_and(|end| end <= self.clock.now())
    }

    /// Write down what is begun, with the body if there is one, in one step; in which shard, and where.
    pub(crate) async fn put_intent(
        &self,
        deed: Deed,
        packed: Option<&Packed>,
        intent: &Intent,
        patience: Patience,
    ) -> Result<(usize, u64), Failed> {
        let record = record::write_intent(intent);
        let mut shards = self.body_shards(deed);
        let put = || {
            let shard = shards.next().unwrap_or_default();
            let mut messages = packed.map(|packed| packed.messages(&self.names.body(shard))).unwrap_or_default();
            messages.push(Outgoing::new(self.names.intent(shard, deed), record.clone()).for_good());
            async move { self.publish_some(messages).await.map(|ack| (shard, ack.seq)) }
        };
        patience.of(put).await
    }
}

/// When a line goes that is kept for so long.
fn end(line: &Line, retention: Option<Duration>) -> Option<Timestamp> {
    let expires = line.expires.and_then(|at| record::time(at).ok());
    let aged = retention.zip(record::time(line.received_at).ok());
    let aged = aged.and_then(|(age, received)| received.checked_add(age).ok());
    expires.into_iter().chain(aged).min()
}

/// What is written down will be done: nothing else may be said.
fn unknown(failed: Failed) -> Error {
    Error::UnknownOutcome { why: failed.last.to_string() }
}
