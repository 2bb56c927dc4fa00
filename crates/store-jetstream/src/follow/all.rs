//! What changes in all mailboxes, from now on. The brokers tell each change to whoever follows, but that may get lost on its
//! way. So what was heard is told only together with what stands in its shard behind what was told before: from there comes
//! what got lost, and what has gone since was heard. Where nothing was heard, a look now and then finds what is there.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Message, Subscriber};
use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use mail::Mailbox;
use store::{Change, Changes, News, Position, Result};
use tokio::time::{Instant, sleep, sleep_until};

use super::{AGAIN, LOOK_EVERY, REMEMBERED, Told, removed, told_by};
use crate::office::Office;
use crate::record::{self, Line, Mark};
use crate::wire::{Failed, Failure, Pick, Raw};

/// So many shards are asked at once.
const AT_ONCE: usize = 16;
/// Looking asks every shard; the more there are the more seldom it is done.
const LOOK_PER_SHARD: Duration = Duration::from_millis(20);
/// A replica that lags is asked again, so often and after so long; then the leader is asked.
const LAG_TRIES: usize = 50;
const LAG_PAUSE: Duration = Duration::from_millis(2);
/// So much of a shard that does not answer is kept; what is still there when it does is read anyway.
const HEARD_MAX: usize = 10_000;

/// All mailboxes, followed.
struct Following {
    office: Arc<Office>,
    live: Subscriber,
    shards: Vec<Shard>,
    waiting: VecDeque<News>,
    /// The connection this is up to date with.
    made: u64,
    look_at: Instant,
    /// When it was last known how far every shard had come.
    good_at: Instant,
}

/// How far a shard was told.
#[derive(Default)]
struct Shard {
    /// Everything up to here was told.
    told: u64,
    /// Something stands here, or stood.
    reached: u64,
    /// What was heard and is not told yet.
    heard: BTreeMap<u64, Entry>,
    /// How often it was asked in vain for what it has reached.
    tries: usize,
    /// Of each mailbox, the marks that were told since nothing was left to tell.
    marks: HashMap<String, usize>,
}

/// A line or a mark.
struct Entry {
    subject: String,
    data: Bytes,
}

/// What a shard answered.
struct Answer {
    shard: usize,
    raws: Vec<Raw>,
    /// Whether there is nothing else there, as its leader says.
    is_whole: bool,
}

/// Follow all mailboxes. There is no place among all of them to go on from: of what lies in the past is said that it is lost.
pub(crate) async fn follow(office: Arc<Office>, after: Position) -> Result<Changes> {
    let mut following = Following::begin(office).await.map_err(Failed::into_harmless)?;
    if after != Position::END {
        following.waiting.push_back(LOST);
    }
    Ok(Box::pin(stream::unfold(following, |mut following| async move { Some((following.next().await, following)) })))
}

const LOST: News = News::Lost { position: Position::START };

impl Following {
    async fn begin(office: Arc<Office>) -> Result<Self, Failed> {
        let (patience, made) = (office.patience(), office.link.made());
        let live = patience.of(|| office.link.follow(office.names.told_anywhere())).await?;
        let reached =
            patience.of(|| async { office.reached().await.into_iter().collect::<Result<Vec<_>, _>>() }).await?;
        let shard = |reached| Shard { told: reached, reached, ..Shard::default() };
        let (shards, waiting, now) = (reached.into_iter().map(shard).collect(), VecDeque::new(), Instant::now());
        Ok(Self { look_at: now + office.look_everywhere_every(), office, live, shards, waiting, made, good_at: now })
    }

    /// The next thing that happened.
    async fn next(&mut self) -> News {
        loop {
            if let Some(news) = self.waiting.pop_front() {
                return news;
            }
            let office = Arc::clone(&self.office);
            let mended = office.link.mended();
            if self.made != office.link.made() || Instant::now() >= self.look_at {
                self.look().await;
            } else if self.shards.iter().any(Shard::is_behind) {
                self.read().await;
            } else {
                tokio::select! {
                    told = self.live.next() => match told {
                        Some(message) => self.hear(message),
                        // The subscription ended with its connection for good: there is nothing to do but to look.
                        None => sleep_until(self.look_at).await,
                    },
                    () = mended => {}
                    () = sleep_until(self.look_at) => {}
                }
            }
        }
    }

    fn hear(&mut self, message: Message) {
        let shard = self.office.names.shard_told(&message.subject).and_then(|shard| self.shards.get_mut(shard));
        if let (Some(shard), Some(Told { subject, seq, .. })) = (shard, told_by(&message)) {
            shard.hear(seq, Entry { subject, data: message.payload });
        }
    }

    /// Ask how far every shard has come: after a while, and when the connection was made anew, as meanwhile nothing was told.
    async fn look(&mut self) {
        self.made = self.office.link.made();
        let answers = self.office.reached().await;
        let is_whole = answers.iter().all(Result::is_ok);
        let is_lost = is_whole && self.good_at.elapsed() > self.office.remembered();
        for (shard, reached) in self.shards.iter_mut().zip(answers) {
            shard.reached = shard.reached.max(reached.unwrap_or_default());
            if is_lost {
                // Marks may be gone that nobody saw; what is there now the next list shows.
                *shard = Shard { told: shard.reached, reached: shard.reached, ..Shard::default() };
            }
        }
        self.waiting.extend(is_lost.then_some(LOST));
        let now = Instant::now();
        self.good_at = if is_whole { now } else { self.good_at };
        self.look_at = now + if is_whole { self.office.look_everywhere_every() } else { AGAIN };
    }

    /// Read what stands behind what was read, in every shard of which it is known that something does.
    async fn read(&mut self) {
        // Whatever can be read now was told before, and may be here already.
        while let Some(Some(message)) = self.live.next().now_or_never() {
            self.hear(message);
        }
        let behind = self.shards.iter().enumerate().filter(|(_, shard)| shard.is_behind());
        let asked: Vec<_> = behind.map(|(number, shard)| (number, shard.told + 1, shard.tries)).collect();
        let office = Arc::clone(&self.office);
        let ask = |(shard, from, tries)| office.some_of(shard, from, tries >= LAG_TRIES);
        let answers: Vec<_> = stream::iter(asked).map(ask).buffer_unordered(AT_ONCE).collect().await;
        let (failed, mut moved) = (answers.iter().any(Result::is_err), false);
        for answer in answers.into_iter().flatten() {
            moved |= self.take(answer);
        }
        if failed {
            sleep(AGAIN).await;
        } else if !moved {
            sleep(LAG_PAUSE).await;
        }
    }

    /// Tell what a shard answered, and what was heard up to there; whether it was anything.
    fn take(&mut self, Answer { shard, raws, is_whole }: Answer) -> bool {
        let office = Arc::clone(&self.office);
        let Some(shard) = self.shards.get_mut(shard) else { return false };
        let end = match raws.last() {
            Some(last) => last.seq,
            // What it had reached has gone since.
            None if is_whole => shard.reached,
            None => {
                shard.tries += 1;
                return false;
            }
        };
        shard.tries = 0;
        shard.heard.extend(raws.into_iter().map(|Raw { subject, seq, data, .. }| (seq, Entry { subject, data })));
        let later = shard.heard.split_off(&(end + 1));
        for (seq, entry) in std::mem::replace(&mut shard.heard, later) {
            let change = office.change(seq, &entry);
            let is_mark = matches!(change, Some(Change::Deleted { .. } | Change::Purged { .. }));
            if is_mark && shard.counts_too_many(entry.subject, office.settings.messages_max) {
                self.waiting.push_back(LOST);
            }
            self.waiting.extend(change.map(News::Change));
        }
        shard.told = end;
        if !shard.is_behind() {
            shard.marks.clear();
        }
        true
    }
}

impl Shard {
    fn is_behind(&self) -> bool {
        self.reached > self.told
    }

    fn hear(&mut self, seq: u64, entry: Entry) {
        if seq > self.told {
            self.reached = self.reached.max(seq);
            self.heard.insert(seq, entry);
        }
        if self.heard.len() > HEARD_MAX {
            self.heard.pop_first();
        }
    }

    /// Of a mailbox the brokers keep so many marks. When there are as many, older ones may have gone that were not heard.
    fn counts_too_many(&mut self, subject: String, max: usize) -> bool {
        let marks = self.marks.entry(subject).or_default();
        *marks += 1;
        *marks == max
    }
}

impl Office {
    /// How far each shard has come, as its leader says.
    async fn reached(&self) -> Vec<Result<u64, Failure>> {
        let ask = |shard| async move {
            let (stream, all) = (self.names.summaries(shard), self.names.all_mailboxes(shard));
            Ok(self.link.leader_has(&stream, Pick::Last(&all)).await?.map_or(0, |raw| raw.seq))
        };
        stream::iter(0..self.settings.shards.max(1)).map(ask).buffered(AT_ONCE).collect().await
    }

    /// Some of what stands at or behind a sequence of a shard, in its order and without a hole, as any replica has it or as
    /// the leader has it.
    async fn some_of(&self, shard: usize, from: u64, by_leader: bool) -> Result<Answer, Failure> {
        let (stream, all) = (self.names.summaries(shard), self.names.all_mailboxes(shard));
        let mut raws = Vec::new();
        if by_leader {
            raws.extend(self.link.leader_has(&stream, Pick::Next(&all, from)).await?);
        } else {
            self.link.replica_tells_some(&stream, &all, from, &mut raws).await?;
        }
        Ok(Answer { shard, raws, is_whole: by_leader })
    }

    /// What a line or a mark says; none when it cannot be read, or its time has come.
    fn change(&self, seq: u64, entry: &Entry) -> Option<Change> {
        if self.names.is_mark(&entry.subject) {
            let mark = record::read::<Mark>(&entry.data).ok()?;
            return Some(removed(&Mailbox::from_canonical(&mark.mailbox), seq, &mark));
        }
        let Ok(line) = record::read::<Line>(&entry.data) else {
            tracing::error!(seq, subject = entry.subject, "a line cannot be read; it is left out");
            return None;
        };
        if self.has_lapsed(&line) {
            return None;
        }
        let mailbox = Mailbox::from_canonical(&line.mailbox);
        Some(Change::Delivered { mailbox, summary: Arc::new(self.summary(seq, line)?) })
    }

    /// So long marks are surely remembered.
    fn remembered(&self) -> Duration {
        let remembered = REMEMBERED.unsigned_abs();
        self.settings.retention.map_or(remembered, |age| (age * 2 / 3).min(remembered))
    }

    fn look_everywhere_every(&self) -> Duration {
        LOOK_EVERY.max(LOOK_PER_SHARD * u32::try_from(self.settings.shards).unwrap_or(u32::MAX))
    }
}
