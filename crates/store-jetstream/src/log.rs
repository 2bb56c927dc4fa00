//! A mailbox as it lies on the brokers: its lines, and marks that say what was taken out. Read from any replica, and
//! only believed when that replica has what the leader had.
//!
//! A message is there as long as its line is stored. A mark is written before the line goes, so what both tell is a
//! delete under way: whoever sees it ends it first, and then tells of neither.

use std::collections::HashSet;
use std::time::Duration;

use mail::{Mailbox, Summary};
use store::Position;
use tokio::time::sleep;

use crate::names::Place;
use crate::office::Office;
use crate::record::{self, Gone, Line, Mark};
use crate::wire::{Failed, Failure, Outgoing, Patience, Pick, Raw};

/// A replica that lags is asked again, so often and after so long; then the leader is asked message by message.
const LAG_TRIES: usize = 50;
const LAG_PAUSE: Duration = Duration::from_millis(2);
/// What was written only to ask goes by itself.
const BEAT_LIFE: Duration = Duration::from_secs(1);

/// What stands in a mailbox behind some position, in its order.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The messages that are there and whose time has not come.
    pub(crate) lines: Vec<(u64, Line)>,
    /// What was taken out, as far as it is remembered.
    pub(crate) marks: Vec<(u64, Mark)>,
    /// The last line that is stored, whether it is told or not; 0: there is none.
    pub(crate) last_line: u64,
    /// The last thing that stands there.
    pub(crate) last: Position,
}

impl Log {
    /// Where the last mark stands; 0: there is none.
    pub(crate) fn last_mark(&self) -> u64 {
        self.marks.last().map_or(0, |(seq, _)| *seq)
    }
}

impl Office {
    /// What stands in a mailbox at or behind a sequence.
    pub(crate) async fn log(&self, mailbox: &Mailbox, from: u64, patience: Patience) -> Result<Log, Failed> {
        let place = self.names.place(mailbox);
        let (last, raws) = patience.of(|| self.entries(&place, from)).await?;
        let (mut log, under_way) = self.fold(mailbox, &place, last, raws);
        if !under_way.is_empty() {
            self.end_removals(&place, &under_way, patience).await?;
        }
        log.lines.retain(|(_, line)| !self.has_lapsed(line) && !self.has_lost_its_body(line));
        Ok(log)
    }

    /// Where a mailbox stands, as its leader says.
    pub(crate) async fn last(&self, mailbox: &Mailbox, patience: Patience) -> Result<Position, Failed> {
        let place = self.names.place(mailbox);
        patience.of(|| self.stands_at(&place)).await
    }

    async fn stands_at(&self, place: &Place) -> Result<Position, Failure> {
        let (stream, subject) = (self.names.summaries(place.shard), self.names.mailbox(place));
        let last = self.link.leader_has(&stream, Pick::Last(&subject)).await?;
        Ok(last.map_or(Position::START, |raw| Position(raw.seq)))
    }

    /// Where a mailbox stood after this was called, and everything that stood there up to that place. Lines and marks are
    /// asked for apart, as a broker finds one subject by its index and several only by looking through them all; what came
    /// between the two questions lies behind that place and is left for later.
    async fn entries(&self, place: &Place, from: u64) -> Result<(Position, Vec<Raw>), Failure> {
        let last = self.stands_at(place).await?;
        if last.0 < from.max(1) {
            return Ok((last, Vec::new()));
        }
        let stream = self.names.summaries(place.shard);
        let (mail, marks) = (self.names.mail(place), self.names.marks(place));
        let (lines, marked) =
            tokio::join!(self.told_whole(&stream, &mail, from), self.link.leader_has(&stream, Pick::Last(&marks)));
        let mut all = lines?;
        // Most mailboxes have no marks.
        if marked?.is_some_and(|raw| raw.seq >= from) {
            all.extend(self.told_whole(&stream, &marks, from).await?);
            all.sort_by_key(|raw| raw.seq);
        }
        all.retain(|raw| raw.seq <= last.0);
        Ok((last, all))
    }

    /// Everything of a subject, from a replica that has what the leader had when this was called.
    async fn told_whole(&self, stream: &str, subject: &str, from: u64) -> Result<Vec<Raw>, Failure> {
        for _ in 0..LAG_TRIES {
            let leader = self.link.leader_has(stream, Pick::Last(subject));
            let replica = self.link.replica_tells(stream, subject, from);
            let (last, told) = tokio::try_join!(leader, replica)?;
            let (last, reached) = (last.map_or(0, |raw| raw.seq), told.last().map_or(0, |raw| raw.seq));
            if last < from.max(1) || reached >= last {
                return Ok(told);
            }
            sleep(LAG_PAUSE).await;
        }
        self.told_by_leader(stream, subject, from).await
    }

    async fn told_by_leader(&self, stream: &str, subject: &str, from: u64) -> Result<Vec<Raw>, Failure> {
        let mut all: Vec<Raw> = Vec::new();
        let mut next = from.max(1);
        while let Some(raw) = self.link.leader_has(stream, Pick::Next(subject, next)).await? {
            next = raw.seq + 1;
            all.push(raw);
        }
        Ok(all)
    }

    /// Whether a mailbox's last line is still the one that was read, as a majority of brokers says: a leader that was cut
    /// off from them goes on answering for a while, and what it shows is old.
    pub(crate) async fn is_current(&self, place: &Place, log: &Log, patience: Patience) -> Result<bool, Failed> {
        let beat = Outgoing::new(self.names.pulse_of_summaries(place.shard, &self.node), Vec::new());
        let beat = beat.living(BEAT_LIFE).if_last(&self.names.mail(place), log.last_line);
        match patience.of(|| self.link.publish(beat.clone())).await {
            Ok(_) => Ok(true),
            Err(failed) if failed.last.stands_at().is_some() => Ok(false),
            Err(failed) => Err(failed),
        }
    }

    /// Sort what was read; what is still stored although it was taken out comes apart.
    fn fold(&self, mailbox: &Mailbox, place: &Place, last: Position, raws: Vec<Raw>) -> (Log, Vec<Gone>) {
        let mut log = Log { last, ..Log::default() };
        let mail = self.names.mail(place);
        for Raw { subject, seq, data, .. } in raws {
            if subject != mail {
                log.marks.extend(record::read::<Mark>(&data).ok().map(|mark| (seq, mark)));
                continue;
            }
            log.last_line = seq;
            log.lines.extend(self.readable(mailbox, seq, &data).map(|line| (seq, line)));
        }
        log.marks.retain(|(_, mark)| mark.mailbox == mailbox.as_str());
        let under_way = self.take_out(&mut log);
        (log, under_way)
    }

    /// Drop the lines that marks speak of; which marks spoke of any.
    fn take_out(&self, log: &mut Log) -> Vec<Gone> {
        let mut one: HashSet<u64> = HashSet::new();
        let mut up_to = 0;
        for (at, mark) in &log.marks {
            match mark.gone {
                Gone::One(seq) => _ = one.insert(seq),
                Gone::UpTo(seq) => up_to = up_to.max(seq.min(at - 1)),
            }
        }
        let mut under_way = Vec::new();
        log.lines.retain(|(seq, _)| {
            let gone =
                if *seq <= up_to { Some(Gone::UpTo(up_to)) } else { one.contains(seq).then_some(Gone::One(*seq)) };
            under_way.extend(gone);
            gone.is_none()
        });
        under_way.dedup();
        under_way
    }

    /// Take out what marks say was taken out.
    pub(crate) async fn end_removals(&self, place: &Place, gone: &[Gone], patience: Patience) -> Result<(), Failed> {
        let (stream, mail) = (self.names.summaries(place.shard), self.names.mail(place));
        for gone in gone {
            match *gone {
                Gone::One(seq) => _ = patience.of(|| self.link.remove(&stream, seq)).await?,
                Gone::UpTo(seq) => _ = patience.of(|| self.link.remove_before(&stream, &mail, seq + 1)).await?,
            }
        }
        Ok(())
    }

    /// A line of this mailbox; none when it is no record, or another mailbox's of the same hash.
    pub(crate) fn readable(&self, mailbox: &Mailbox, seq: u64, data: &[u8]) -> Option<Line> {
        let Ok(line) = record::read::<Line>(data) else {
            tracing::error!(%mailbox, seq, "a line of this mailbox cannot be read; it is left out");
            return None;
        };
        (line.mailbox == mailbox.as_str()).then_some(line)
    }

    /// The summary of a line, unless it cannot be read.
    pub(crate) fn summary(&self, seq: u64, line: Line) -> Option<Summary> {
        let summary = line.summary(seq).ok();
        if summary.is_none() {
            tracing::error!(seq, "a summary cannot be read; it is left out");
        }
        summary
    }

    /// One line as the leader has it, if it is in this mailbox and its time has not come.
    pub(crate) async fn line_at(
        &self,
        mailbox: &Mailbox,
        seq: u64,
        patience: Patience,
    ) -> Result<Option<Line>, Failed> {
        if seq == 0 {
            return Ok(None);
        }
        let place = self.names.place(mailbox);
        let stream = self.names.summaries(place.shard);
        let raw = patience.of(|| self.link.leader_has(&stream, Pick::At(seq))).await?;
        let raw = raw.filter(|raw| raw.subject == self.names.mail(&place));
        let line = raw.and_then(|raw| self.readable(mailbox, seq, &raw.data));
        Ok(line.filter(|line| !self.has_lapsed(line) && !self.has_lost_its_body(line)))
    }

    /// Whether its body went because the bodies had used up their room.
    fn has_lost_its_body(&self, line: &Line) -> bool {
        line.body.seq < self.floors.of(line.body.shard as usize)
    }
}
