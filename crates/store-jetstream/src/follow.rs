//! What changes in one mailbox, from a position on: first what lies in the past, then what is told when it happens. What is
//! told live may get lost on the way; each change names the one before it, so a hole is seen and filled from the log.

pub(crate) mod all;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::{Message, Subscriber};
use futures_util::{StreamExt, stream};
use jiff::{SignedDuration, Timestamp};
use mail::{Mailbox, MessageId};
use store::{Change, Changes, News, Position, Result};
use tokio::time::{Instant, sleep, sleep_until};

use crate::log::Log;
use crate::names::Place;
use crate::office::Office;
use crate::record::{self, Gone, Mark};
use crate::remove::MARK_LIFE;
use crate::wire::{Failed, Failure, Patience, Pick};

/// The last change of a mailbox may get lost on its way with nothing behind it that would show it: so it is looked up.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Marks older than this may have been taken away, a while before their time is over by anybody's clock.
const REMEMBERED: SignedDuration = SignedDuration::from_secs(MARK_LIFE.as_secs() as i64 * 2 / 3);
const AGAIN: Duration = Duration::from_millis(250);

/// A mailbox that is followed.
struct Following {
    office: Arc<Office>,
    mailbox: Mailbox,
    place: Place,
    live: Subscriber,
    /// The last line and the last mark that were told, or that lie before what is to be told.
    lines: u64,
    marks: u64,
    waiting: VecDeque<News>,
    /// The connection this is up to date with.
    made: u64,
    /// When it was last known that nothing is missing.
    good_at: Instant,
}

/// What a message that was told says about itself.
struct Told {
    subject: String,
    seq: u64,
    /// The one before it on its subject.
    previous: u64,
}

/// Follow a mailbox.
pub(crate) async fn follow(office: Arc<Office>, mailbox: Mailbox, after: Position) -> Result<Changes> {
    let following = Following::begin(office, mailbox, after).await.map_err(Failed::into_harmless)?;
    Ok(Box::pin(stream::unfold(following, |mut following| async move { Some((following.next().await, following)) })))
}

impl Following {
    /// The subscription comes first: what happens after the log was read comes by it.
    async fn begin(office: Arc<Office>, mailbox: Mailbox, after: Position) -> Result<Self, Failed> {
        let patience = office.patience();
        let place = office.names.place(&mailbox);
        let made = office.link.made();
        let live = patience.of(|| office.link.follow(office.names.told(&place))).await?;
        let (waiting, good_at) = (VecDeque::new(), Instant::now());
        office.followed.fetch_add(1, Ordering::Relaxed);
        let mut this = Self { office, mailbox, place, live, lines: after.0, marks: after.0, waiting, made, good_at };
        if after == Position::END {
            let last = this.office.last(&this.mailbox, patience).await?.0;
            (this.lines, this.marks) = (last, last);
        } else if this.is_beyond(after, patience).await? {
            // Whoever names it saw another store; nothing of this one may be taken for old.
            (this.lines, this.marks) = (0, 0);
            this.lose(patience).await?;
        } else if this.is_forgotten(after, patience).await? {
            this.lose(patience).await?;
        } else {
            this.catch_up(patience).await?;
        }
        Ok(this)
    }

    /// The next thing that happened.
    async fn next(&mut self) -> News {
        loop {
            if let Some(news) = self.waiting.pop_front() {
                return news;
            }
            let office = Arc::clone(&self.office);
            let mended = office.link.mended();
            let outcome = if self.made == office.link.made() {
                tokio::select! {
                    told = self.live.next() => self.hear(told).await,
                    () = mended => Ok(()),
                    () = sleep_until(self.good_at + office.look_every()) => self.look().await,
                }
            } else {
                self.come_back().await
            };
            if outcome.is_err() {
                sleep(AGAIN).await;
            }
        }
    }

    /// Something was told.
    async fn hear(&mut self, told: Option<Message>) -> Result<(), Failed> {
        let Some(message) = told else {
            // The subscription ended with its connection for good: there is nothing to do but to look.
            sleep(AGAIN).await;
            return self.look().await;
        };
        let Some(Told { subject, seq, previous }) = told_by(&message) else { return Ok(()) };
        let is_line = subject == self.office.names.mail(&self.place);
        let known = if is_line { self.lines } else { self.marks };
        if seq <= known {
            return Ok(());
        }
        if previous > known {
            return self.catch_up(self.patience()).await;
        }
        let news = if is_line { self.line(seq, &message.payload) } else { self.mark(seq, &message.payload) };
        *(if is_line { &mut self.lines } else { &mut self.marks }) = seq;
        self.waiting.extend(news);
        Ok(())
    }

    /// Whether something happened that was not told.
    async fn look(&mut self) -> Result<(), Failed> {
        let last = self.office.last(&self.mailbox, self.patience()).await?.0;
        self.good_at = Instant::now();
        if last > self.lines.max(self.marks) { self.catch_up(self.patience()).await } else { Ok(()) }
    }

    /// The connection was made anew: what happened meanwhile was not told.
    async fn come_back(&mut self) -> Result<(), Failed> {
        let (made, patience) = (self.office.link.made(), self.patience());
        let known = Position(self.lines.min(self.marks));
        let long = self.good_at.elapsed().as_secs() as i64 > REMEMBERED.as_secs() / 2;
        match long && self.is_forgotten(known, patience).await? {
            true => self.lose(patience).await?,
            false => self.catch_up(patience).await?,
        }
        self.made = made;
        Ok(())
    }

    /// Tell from the log what was not told yet. What belongs before something that was told already cannot be told in its
    /// place any more.
    async fn catch_up(&mut self, patience: Patience) -> Result<(), Failed> {
        let (from, told) = (self.lines.min(self.marks), self.lines.max(self.marks));
        let log = self.office.log(&self.mailbox, from + 1, patience).await?;
        let late = |seq: u64, known: u64| seq > known && seq < told;
        let too_late = log.lines.iter().any(|(seq, _)| late(*seq, self.lines))
            || log.marks.iter().any(|(seq, _)| late(*seq, self.marks));
        let cut = self.office.settings.messages_max;
        let forgot = cut != 0 && log.marks.len() >= cut && log.marks.first().is_some_and(|(seq, _)| *seq > from);
        self.good_at = Instant::now();
        let last = log.last.0.max(told);
        if too_late || (forgot && from > 0) {
            self.waiting.push_back(News::Lost { position: Position(last) });
        } else {
            self.tell(log);
        }
        (self.lines, self.marks) = (last, last);
        Ok(())
    }

    /// Say that changes were lost, and go on behind what there is.
    async fn lose(&mut self, patience: Patience) -> Result<(), Failed> {
        let last = self.office.last(&self.mailbox, patience).await?.0.max(self.lines).max(self.marks);
        self.waiting.push_back(News::Lost { position: Position(last) });
        (self.lines, self.marks, self.good_at) = (last, last, Instant::now());
        Ok(())
    }

    /// Put what the log has into the queue, in its order.
    fn tell(&mut self, log: Log) {
        let lines = log.lines.into_iter().filter(|(seq, _)| *seq > self.lines);
        let marks = log.marks.into_iter().filter(|(seq, _)| *seq > self.marks);
        let summary = |(seq, line)| self.office.summary(seq, line).map(|summary| (seq, summary));
        let delivered = lines.filter_map(summary).map(|(seq, summary)| {
            let (mailbox, summary) = (self.mailbox.clone(), Arc::new(summary));
            (seq, Change::Delivered { mailbox, summary })
        });
        let mut all: Vec<_> =
            delivered.chain(marks.map(|(seq, mark)| (seq, removed(&self.mailbox, seq, &mark)))).collect();
        all.sort_by_key(|(seq, _)| *seq);
        self.waiting.extend(all.into_iter().map(|(_, change)| News::Change(change)));
    }

    fn line(&self, seq: u64, data: &[u8]) -> Option<News> {
        let line = self.office.readable(&self.mailbox, seq, data)?;
        let summary = Arc::new(self.office.summary(seq, line)?);
        Some(Change::Delivered { mailbox: self.mailbox.clone(), summary }.into())
    }

    fn mark(&self, seq: u64, data: &[u8]) -> Option<News> {
        let mark = record::read::<Mark>(data).ok().filter(|mark| mark.mailbox == self.mailbox.as_str())?;
        Some(removed(&self.mailbox, seq, &mark).into())
    }

    /// Whether marks behind a position may have been taken away: what came next in the shard tells how long ago that was.
    async fn is_forgotten(&self, after: Position, patience: Patience) -> Result<bool, Failed> {
        if after == Position::START {
            // From the beginning on a list is as good: nothing that has gone need be told.
            return Ok(false);
        }
        let stream = self.office.names.summaries(self.place.shard);
        let next = || async {
            let next = self.office.link.leader_has(&stream, Pick::Next(">", after.0 + 1)).await?;
            Ok::<_, Failure>(next.map(|raw| raw.at))
        };
        let age = self.office.settings.retention.map_or(REMEMBERED, |age| {
            SignedDuration::try_from(age).map_or(REMEMBERED, |age| (age * 2 / 3).min(REMEMBERED))
        });
        Ok(patience.of(next).await?.is_some_and(|at| Timestamp::now().duration_since(at) > age))
    }

    /// Whether a position lies behind everything that ever happened in this shard.
    async fn is_beyond(&self, position: Position, patience: Patience) -> Result<bool, Failed> {
        let stream = self.office.names.summaries(self.place.shard);
        let info = patience.of(|| self.office.link.stream(&stream)).await?;
        Ok(info.is_some_and(|info| position.0 > info.state.last_seq))
    }

    fn patience(&self) -> Patience {
        self.office.patience()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.office.followed.fetch_sub(1, Ordering::Relaxed);
    }
}

fn removed(mailbox: &Mailbox, seq: u64, mark: &Mark) -> Change {
    let (mailbox, position) = (mailbox.clone(), Position(seq));
    match mark.gone {
        Gone::One(id) => Change::Deleted { mailbox, id: MessageId::new(id), position },
        Gone::UpTo(up_to) => Change::Purged { mailbox, up_to: Position(up_to).min(position), position },
    }
}

fn told_by(message: &Message) -> Option<Told> {
    let headers = message.headers.as_ref()?;
    let number = |name: &str| headers.get(name)?.as_str().parse().ok();
    Some(Told {
        subject: headers.get("Nats-Subject")?.as_str().to_owned(),
        seq: number("Nats-Sequence")?,
        previous: number("Nats-Last-Sequence").unwrap_or(0),
    })
}

impl Office {
    /// The more mailboxes are followed the more seldom each is looked at, so that looking costs the brokers no more than
    /// a few hundred questions a second.
    fn look_every(&self) -> Duration {
        let followed = self.followed.load(Ordering::Relaxed);
        LOOK_EVERY.max(Duration::from_millis(followed * 5))
    }
}
