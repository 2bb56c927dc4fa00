//! The mailboxes that hold mail: found by name in one hashing, walked in the order of names, and ranked by what they are
//! charged for, so that the largest is known at any time.
//!
//! Names are hashed with a random key: nobody outside can choose names that collide. The ordered map is touched only
//! when a mailbox begins or ends to hold mail.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use mail::{Mailbox, Summary};

use super::kept::{Kept, Micros};

/// The place of a mailbox in memory, as long as it holds mail; used anew afterwards.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Slot(u32);

/// What it is charged, then the age of its oldest message: among equals the one with the oldest stands last.
type Rank = (u64, Reverse<u64>);

/// One mailbox.
pub(super) struct Folder {
    pub(super) mailbox: Mailbox,
    /// By id, which is the order of arrival.
    pub(super) kept: BTreeMap<u64, Kept>,
    /// Sizes of the messages as lists show them.
    pub(super) bytes: u64,
    /// What the messages are charged.
    pub(super) charge: u64,
    /// Its last delivery, delete or purge.
    pub(super) position: u64,
    rank: Option<Rank>,
}

impl Folder {
    fn new(mailbox: Mailbox) -> Self {
        Self { mailbox, kept: BTreeMap::new(), bytes: 0, charge: 0, position: 0, rank: None }
    }

    /// Put a message in.
    pub(super) fn put(&mut self, id: u64, kept: Kept) {
        self.bytes += kept.summary.size;
        self.charge += kept.charge();
        self.position = id;
        self.kept.insert(id, kept);
    }

    /// Take a message out.
    pub(super) fn take(&mut self, id: u64) -> Option<Kept> {
        let kept = self.kept.remove(&id)?;
        self.bytes -= kept.summary.size;
        self.charge -= kept.charge();
        Some(kept)
    }

    /// Its oldest message, lapsed or not.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.kept.first_key_value().map(|(id, _)| *id)
    }

    /// Its newest message that has not lapsed.
    pub(super) fn newest(&self, now: Micros) -> Option<&Summary> {
        self.kept.values().rev().find(|kept| kept.is_live(now)).map(|kept| &*kept.summary)
    }

    /// The messages whose time has come.
    pub(super) fn lapsed(&self, now: Micros) -> Vec<u64> {
        self.kept.iter().filter(|(_, kept)| !kept.is_live(now)).map(|(id, _)| *id).collect()
    }

    fn rank_now(&self) -> Option<Rank> {
        self.oldest().map(|oldest| (self.charge, Reverse(oldest)))
    }
}

/// All mailboxes that hold mail.
#[derive(Default)]
pub(super) struct Folders {
    slots: HashMap<Mailbox, Slot>,
    names: BTreeMap<Mailbox, Slot>,
    places: Vec<Option<Box<Folder>>>,
    free: Vec<Slot>,
    ranks: BTreeSet<(Rank, Slot)>,
}

impl Folders {
    /// The place of a mailbox, when it holds mail.
    pub(super) fn slot(&self, mailbox: &Mailbox) -> Option<Slot> {
        self.slots.get(mailbox).copied()
    }

    /// The mailbox by its name.
    pub(super) fn named(&self, mailbox: &Mailbox) -> Option<&Folder> {
        self.at(self.slot(mailbox)?)
    }

    /// The mailbox at a place.
    pub(super) fn at(&self, slot: Slot) -> Option<&Folder> {
        self.places.get(slot.0 as usize)?.as_deref()
    }

    /// The mailbox at a place. Whoever changes what it holds calls [`Folders::settle`] afterwards.
    pub(super) fn at_mut(&mut self, slot: Slot) -> Option<&mut Folder> {
        self.places.get_mut(slot.0 as usize)?.as_deref_mut()
    }

    /// Where a mailbox is, made when it is not there; followed by [`Folders::settle`].
    pub(super) fn open(&mut self, mailbox: &Mailbox) -> Slot {
        if let Some(slot) = self.slot(mailbox) {
            return slot;
        }
        let folder = Some(Box::new(Folder::new(mailbox.clone())));
        let slot = match self.free.pop() {
            Some(slot) => {
                self.places[slot.0 as usize] = folder;
                slot
            }
            None => {
                self.places.push(folder);
                Slot(self.places.len() as u32 - 1)
            }
        };
        self.slots.insert(mailbox.clone(), slot);
        self.names.insert(mailbox.clone(), slot);
        slot
    }

    /// Bring the ranks up to date after a change; a mailbox left empty is forgotten, name and all.
    pub(super) fn settle(&mut self, slot: Slot) {
        let Some(folder) = self.places.get_mut(slot.0 as usize).and_then(Option::as_mut) else { return };
        let rank = folder.rank_now();
        if rank != folder.rank {
            if let Some(old) = folder.rank {
                self.ranks.remove(&(old, slot));
            }
            if let Some(new) = rank {
                self.ranks.insert((new, slot));
            }
            folder.rank = rank;
        }
        if rank.is_none() {
            self.slots.remove(&folder.mailbox);
            self.names.remove(&folder.mailbox);
            self.places[slot.0 as usize] = None;
            self.free.push(slot);
        }
    }

    /// Which message is to go first when room is needed: the oldest of the largest mailbox, passing over mailboxes that
    /// hold nothing older than `newer_than`.
    pub(super) fn victim(&self, newer_than: u64) -> Option<(Slot, u64)> {
        let mut largest_first = self.ranks.iter().rev();
        largest_first.find_map(|((_, Reverse(oldest)), slot)| (*oldest < newer_than).then_some((*slot, *oldest)))
    }

    /// Names from here on, in order.
    pub(super) fn names_from(&self, from: std::ops::Bound<&Mailbox>) -> impl Iterator<Item = (&Mailbox, Slot)> {
        self.names.range::<Mailbox, _>((from, std::ops::Bound::Unbounded)).map(|(name, slot)| (name, *slot))
    }

    /// How many mailboxes hold mail.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }
}
