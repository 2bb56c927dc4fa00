//! Everything under the one lock, and the steps that change it. Each step is whole: whoever takes the lock next finds
//! every index in agreement. Nothing here waits, frees a body, or wakes anybody; that is left in [`Debris`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mail::{Mailbox, MessageId};

use crate::change::{Change, Filed, Position};
use crate::error::{Error, Result};
use crate::outbox::NewJob;

use super::debris::Debris;
use super::folder::{Folders, Slot};
use super::jobs::Jobs;
use super::kept::{Draft, FOLDER_WEIGHT, Kept, Micros, NEVER};
use super::log::Log;
use super::settings::Settings;

/// What the memory engine let go by its own bounds since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Drops {
    /// For the bound on the messages of a mailbox.
    pub cap: u64,
    /// For the bound on bytes.
    pub room: u64,
    /// For their age, or because they were to expire.
    pub age: u64,
}

/// The mail, its indexes, its log, its jobs.
pub(super) struct State {
    pub(super) folders: Folders,
    /// Every message by id, with its mailbox.
    pub(super) order: BTreeMap<u64, Slot>,
    /// Every message that goes by itself, the next first.
    deadlines: BTreeSet<(Micros, u64)>,
    /// No deadline lies before this; a cheap answer to "is anything due?".
    next_deadline: Micros,
    pub(super) log: Log,
    pub(super) jobs: Jobs,
    pub(super) drops: Drops,
    /// Charged for messages; see [`State::bytes`].
    bytes: u64,
    bytes_max: u64,
    messages_max: usize,
    last: u64,
}

impl State {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            folders: Folders::default(),
            order: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            next_deadline: NEVER,
            log: Log::new(settings.changes_max, settings.lag_max),
            jobs: Jobs::new(settings.jobs_bytes_max, settings.dead_jobs_max),
            drops: Drops::default(),
            bytes: 0,
            bytes_max: settings.bytes_max,
            messages_max: settings.messages_max,
            last: 0,
        }
    }

    /// The last position drawn.
    pub(super) fn last(&self) -> Position {
        Position(self.last)
    }

    /// Where a mailbox stands. One without mail stands where the store stands: every later delivery lies behind that,
    /// every earlier one before it, and no name need be remembered.
    pub(super) fn position(&self, mailbox: &Mailbox) -> Position {
        Position(self.folders.named(mailbox).map_or(self.last, |folder| folder.position))
    }

    /// Whether messages are held whose time has come.
    pub(super) fn has_lapsed(&self, now: Micros) -> bool {
        now >= self.next_deadline
    }

    /// The next position: ahead of all others, and of the time in microseconds, which keeps ids ahead of those of an
    /// earlier start. A clock that steps back only makes them denser.
    fn draw(&mut self, now: Micros) -> u64 {
        let by_clock = u64::try_from(now).unwrap_or(0).min(u64::MAX >> 11) << 10;
        self.last = by_clock.max(self.last + 1);
        self.last
    }

    /// Put a message in, all copies and jobs or nothing. The bytes may then be over their bound: see
    /// [`State::make_room`].
    pub(super) fn append(&mut self, draft: Draft, now: Micros, debris: &mut Debris) -> Result<Vec<Filed>> {
        debug_assert!(!draft.copies.is_empty(), "a delivery has a mailbox");
        if draft.copies.is_empty() {
            return Ok(Vec::new());
        }
        let alone = draft.weight_alone();
        if alone > self.bytes_max {
            let what = format!("one message would take {alone} bytes, and the bound is {}", self.bytes_max);
            return Err(Error::Full { what });
        }
        let jobs = self.jobs.admit(draft.jobs, draft.copies.len())?;
        self.bytes += draft.weight;
        let mut filed = Vec::with_capacity(draft.copies.len());
        for (mailbox, kept) in draft.copies {
            let id = MessageId::new(self.draw(now));
            self.file(&mailbox, id, kept, now, debris);
            filed.push(Filed { mailbox, id });
        }
        self.jobs.add(jobs, &filed);
        Ok(filed)
    }

    fn file(&mut self, mailbox: &Mailbox, id: MessageId, mut kept: Kept, now: Micros, debris: &mut Debris) {
        if let Some(summary) = Arc::get_mut(&mut kept.summary) {
            summary.id = id;
        }
        if self.log.is_read(mailbox) {
            let summary = Arc::clone(&kept.summary);
            self.log.tell(&Change::Delivered { mailbox: mailbox.clone(), summary }, debris);
        }
        let slot = self.folders.open(mailbox);
        self.order.insert(id.number(), slot);
        if kept.deadline != NEVER {
            self.deadlines.insert((kept.deadline, id.number()));
            self.next_deadline = self.next_deadline.min(kept.deadline);
        }
        if let Some(folder) = self.folders.at_mut(slot) {
            folder.put(id.number(), kept);
        }
        self.hold_cap(slot, now, debris);
        self.folders.settle(slot);
    }

    /// Keep a mailbox within its number of messages: what has lapsed goes first, then the oldest.
    fn hold_cap(&mut self, slot: Slot, now: Micros, debris: &mut Debris) {
        if self.messages_max == 0 || self.count(slot) <= self.messages_max {
            return;
        }
        if self.has_lapsed(now) {
            let lapsed = self.folders.at(slot).map(|folder| folder.lapsed(now)).unwrap_or_default();
            for id in lapsed {
                self.drops.age += u64::from(self.take_out(slot, id, debris));
            }
        }
        while self.count(slot) > self.messages_max
            && let Some(oldest) = self.folders.at(slot).and_then(|folder| folder.oldest())
        {
            self.drops.cap += u64::from(self.take_out(slot, oldest, debris));
        }
    }

    fn count(&self, slot: Slot) -> usize {
        self.folders.at(slot).map_or(0, |folder| folder.kept.len())
    }

    /// Let messages go until the bytes are within their bound, at most `budget` of them: what has lapsed first, then the
    /// oldest of the largest mailbox. Nothing from `newcomer` on goes: a message does not fall to its own arrival. False
    /// when there is more to do.
    pub(super) fn make_room(&mut self, newcomer: u64, now: Micros, budget: usize, debris: &mut Debris) -> bool {
        for _ in 0..budget {
            if self.bytes() <= self.bytes_max {
                return true;
            }
            if self.sweep(now, 1, debris) > 0 {
                continue;
            }
            let Some((slot, id)) = self.folders.victim(newcomer) else { return true };
            self.drops.room += u64::from(self.take_out(slot, id, debris));
            self.folders.settle(slot);
        }
        self.bytes() <= self.bytes_max
    }

    /// Free messages whose time has come, at most `budget`; how many went.
    pub(super) fn sweep(&mut self, now: Micros, budget: usize, debris: &mut Debris) -> usize {
        let mut swept = 0;
        while swept < budget && self.has_lapsed(now) {
            let Some((deadline, id)) = self.deadlines.first().copied() else {
                self.next_deadline = NEVER;
                break;
            };
            self.next_deadline = deadline;
            if now < deadline {
                break;
            }
            match self.order.get(&id).copied() {
                Some(slot) => {
                    self.drops.age += u64::from(self.take_out(slot, id, debris));
                    self.folders.settle(slot);
                }
                None => _ = self.deadlines.pop_first(),
            }
            swept += 1;
        }
        swept
    }

    /// Take messages out of a mailbox on request.
    pub(super) fn delete(
        &mut self,
        mailbox: &Mailbox,
        ids: &[MessageId],
        jobs: Vec<NewJob>,
        now: Micros,
        debris: &mut Debris,
    ) -> Result<Vec<MessageId>> {
        let jobs = self.jobs.admit(jobs, ids.len())?;
        let Some(slot) = self.folders.slot(mailbox) else { return Ok(Vec::new()) };
        let mut gone = Vec::new();
        for id in ids {
            if self.is_live(slot, id.number(), now) && self.take_out(slot, id.number(), debris) {
                let position = Position(self.draw(now));
                self.mark(slot, position);
                self.log.tell_removal(Change::Deleted { mailbox: mailbox.clone(), id: *id, position }, debris);
                gone.push(*id);
            }
        }
        self.folders.settle(slot);
        if !gone.is_empty() && !jobs.is_empty() {
            let filed: Vec<_> = gone.iter().map(|id| Filed { mailbox: mailbox.clone(), id: *id }).collect();
            self.jobs.add(jobs, &filed);
        }
        Ok(gone)
    }

    /// Empty a mailbox up to a position, on request.
    pub(super) fn purge(
        &mut self,
        mailbox: &Mailbox,
        up_to: Position,
        jobs: Vec<NewJob>,
        now: Micros,
        debris: &mut Debris,
    ) -> Result<u64> {
        let jobs = self.jobs.admit(jobs, 0)?;
        let Some(slot) = self.folders.slot(mailbox) else { return Ok(0) };
        let up_to = up_to.min(self.last());
        let mut gone = 0;
        while let Some(oldest) = self.folders.at(slot).and_then(|folder| folder.oldest())
            && oldest <= up_to.0
        {
            let live = self.is_live(slot, oldest, now);
            self.take_out(slot, oldest, debris);
            if live { gone += 1 } else { self.drops.age += 1 }
        }
        if gone > 0 {
            let position = Position(self.draw(now));
            self.mark(slot, position);
            self.log.tell_removal(Change::Purged { mailbox: mailbox.clone(), up_to, position }, debris);
            self.jobs.add(jobs, &[]);
        }
        self.folders.settle(slot);
        Ok(gone)
    }

    fn is_live(&self, slot: Slot, id: u64, now: Micros) -> bool {
        self.folders.at(slot).and_then(|folder| folder.kept.get(&id)).is_some_and(|kept| kept.is_live(now))
    }

    fn mark(&mut self, slot: Slot, position: Position) {
        if let Some(folder) = self.folders.at_mut(slot) {
            folder.position = position.0;
        }
    }

    /// Take one message out of its mailbox and of every index but the ranks; its parcel is freed with its last copy.
    fn take_out(&mut self, slot: Slot, id: u64, debris: &mut Debris) -> bool {
        let Some(kept) = self.folders.at_mut(slot).and_then(|folder| folder.take(id)) else { return false };
        self.order.remove(&id);
        if kept.deadline != NEVER {
            self.deadlines.remove(&(kept.deadline, id));
        }
        self.bytes -= kept.weight;
        debris.summaries.push(kept.summary);
        if let Some(parcel) = Arc::into_inner(kept.parcel) {
            self.bytes -= parcel.weight;
            debris.parcels.push(parcel);
        }
        true
    }

    /// What is charged now.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes + FOLDER_WEIGHT * self.folders.len() as u64
    }
}
