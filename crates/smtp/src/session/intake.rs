//! A message while it comes in: trace fields first, then what the client sends, within its limits.

use jiff::Timestamp;
use mail::Envelope;

use crate::reply::Reply;
use crate::settings::Settings;

/// Room for trace fields and a small message, so that most messages need one allocation.
const ROOM: usize = 2048;
/// Room is made for what SIZE announces up to here; beyond it grows with what really comes.
const ANNOUNCED_ROOM_MAX: u64 = 1 << 20;

const TOO_LARGE: Reply =
    Reply::new(552, (5, 3, 4), "The message is larger than this server takes; EHLO tells the limit");
const NO_ROOM: Reply = Reply::new(452, (4, 3, 1), "Too much mail is coming in at this moment; try again soon");

/// The bytes of a message so far.
#[derive(Debug)]
pub(super) struct Intake {
    raw: Vec<u8>,
    /// Length of our own trace fields at the front.
    trace: usize,
    content_max: u64,
    fault: Option<Fault>,
    /// Octets read and dropped since a fault.
    dropped: u64,
}

/// Why the message will not be kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    TooLarge,
    NoRoom,
}

impl Intake {
    pub(super) fn new(settings: &Settings, envelope: &Envelope, announced: Option<u64>, now: Timestamp) -> Self {
        let announced = announced.unwrap_or(0).min(ANNOUNCED_ROOM_MAX) as usize;
        let mut raw = Vec::with_capacity(ROOM + announced);
        mail::trace::write(&mut raw, envelope, &settings.hostname, settings.trace_peer, now);
        Self { trace: raw.len(), raw, content_max: settings.message_max, fault: None, dropped: 0 }
    }

    /// Take a run of content, or drop it after a fault.
    pub(super) fn keep(&mut self, run: &[u8]) {
        if self.fault.is_none() && (self.content_len() + run.len()) as u64 > self.content_max {
            self.fail(Fault::TooLarge);
        }
        match self.fault {
            None => self.grow(run),
            Some(_) => self.dropped += run.len() as u64,
        }
    }

    /// Large messages grow by half and not to the double: they are counted against the budget by their room.
    fn grow(&mut self, run: &[u8]) {
        let free = self.raw.capacity() - self.raw.len();
        if free < run.len() {
            self.raw.reserve_exact(run.len().max(self.raw.capacity() / 2));
        }
        self.raw.extend_from_slice(run);
    }

    /// The shared budget has no room for it.
    pub(super) fn no_room(&mut self) {
        if self.fault.is_none() {
            self.fail(Fault::NoRoom);
        }
    }

    fn fail(&mut self, fault: Fault) {
        self.fault = Some(fault);
        self.raw = Vec::new();
        self.trace = 0;
    }

    /// Octets of content kept so far.
    pub(super) fn content_len(&self) -> usize {
        self.raw.len() - self.trace
    }

    /// Memory in use.
    pub(super) fn room(&self) -> usize {
        self.raw.capacity()
    }

    /// Octets read and dropped since a fault.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// What is to be said of the fault, if there was one.
    pub(super) fn fault(&self) -> Option<Reply> {
        self.fault.map(|fault| match fault {
            Fault::TooLarge => TOO_LARGE,
            Fault::NoRoom => NO_ROOM,
        })
    }

    /// What the client sent.
    pub(super) fn content(&self) -> &[u8] {
        &self.raw[self.trace..]
    }

    /// The bytes to store.
    pub(super) fn into_raw(mut self) -> bytes::Bytes {
        self.raw.shrink_to_fit();
        self.raw.into()
    }
}

/// What is said when a message is too large, also before any of it came.
pub(super) const fn too_large() -> Reply {
    TOO_LARGE
}
