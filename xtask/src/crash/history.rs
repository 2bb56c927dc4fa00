//! What the clients of one round asked for, and what they saw. Facts only, and the terms on which they are to be judged:
//! nothing here judges.
//!
//! Time is a count of ticks that all clients share: each takes one before it asks and one after it has the whole
//! answer. What really happened lies between the two, and no clock of the machine has a say in it, except about what is
//! old enough to be dropped.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A moment, later than all smaller ones.
pub(crate) type Tick = u64;

/// Where the ticks come from: one for the whole campaign.
#[derive(Default)]
pub(crate) struct Clock(AtomicU64);

impl Clock {
    pub(crate) fn tick(&self) -> Tick {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

/// From before the question until after its answer. Without an answer it ends when nothing is under way any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) begin: Tick,
    pub(crate) end: Tick,
}

/// A power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cut {
    /// When the disks went.
    pub(crate) disks: Span,
    /// When whoever wrote on them was gone as well.
    pub(crate) dark: Tick,
}

/// The end of what was never answered, until it is known when nothing was under way any more.
pub(crate) const OPEN: Tick = Tick::MAX;

/// The name of one message over the whole campaign; it stands in its subject.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Canary {
    pub(crate) round: u32,
    pub(crate) client: u16,
    pub(crate) turn: u16,
}

impl fmt::Display for Canary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "canary-{}-{}-{}", self.round, self.client, self.turn)
    }
}

impl FromStr for Canary {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut numbers = text.strip_prefix("canary-").ok_or(())?.split('-');
        let mut next = || numbers.next().ok_or(());
        let (round, client, turn) = (next()?, next()?, next()?);
        let canary = Self {
            round: round.parse().map_err(|_| ())?,
            client: client.parse().map_err(|_| ())?,
            turn: turn.parse().map_err(|_| ())?,
        };
        if canary.to_string() == text { Ok(canary) } else { Err(()) }
    }
}

/// How a question ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// 250, or 200.
    Done,
    /// The server said no, in these words; nothing may have changed.
    Refused(String),
    /// The question never went out whole; nothing may have changed.
    Unasked,
    /// There is no message of this id (delete only).
    Absent,
    /// Asked, and no answer seen: either.
    Unknown,
}

/// One message handed over SMTP. The span begins before its last byte went out.
#[derive(Clone, Debug)]
pub(crate) struct Send {
    pub(crate) canary: Canary,
    /// Each once, whatever the recipients were.
    pub(crate) mailboxes: Vec<String>,
    /// When the span began.
    pub(crate) at: Instant,
    pub(crate) span: Span,
    pub(crate) outcome: Outcome,
    /// By which door.
    pub(crate) door: usize,
    /// From the final dot to the reply, or to the end of the connection.
    pub(crate) waited: Option<Duration>,
}

/// What was to be removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Message(String),
    All,
}

/// One delete or purge.
#[derive(Clone, Debug)]
pub(crate) struct Removal {
    pub(crate) mailbox: String,
    pub(crate) target: Target,
    pub(crate) span: Span,
    pub(crate) outcome: Outcome,
    /// By which door.
    pub(crate) door: usize,
}

/// A message as a list or a source shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    pub(crate) id: String,
    /// None when it is no message of this campaign; then the subject, or what else stood there.
    pub(crate) canary: Result<Canary, String>,
    /// Bytes, trace fields included.
    pub(crate) size: u64,
}

/// What was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Scope {
    /// The list of a mailbox: what is not in it was not there.
    Mailbox,
    /// The source of one message.
    Message(String),
}

/// One answer to a list or to a source; `rows` holds at most one for a source.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) mailbox: String,
    pub(crate) scope: Scope,
    pub(crate) span: Span,
    /// By which door.
    pub(crate) door: usize,
    pub(crate) rows: Vec<Row>,
    /// Of a source: what its bytes are.
    pub(crate) print: Option<Print>,
}

/// The bytes of a stored message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Print {
    /// A checksum of all of them.
    pub(crate) sum: u64,
    /// Why they are not the known trace fields and then exactly what was sent.
    pub(crate) fault: Option<String>,
}

/// How a message comes into its mailboxes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Entering {
    /// Into all of them at one moment.
    #[default]
    AtOnce,
    /// Into each at a moment of its own, all of them before the reply.
    OneByOne,
}

/// What a list or a source tells of the moment at which it was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Reads {
    /// All that was there.
    #[default]
    Exact,
    /// What was there at some moment before: only while the clients are at work, never when everything is read back.
    Lagging,
}

/// One round: the clients at work, the death of what is under trial, and all that is there after it came back.
#[derive(Clone, Default, Debug)]
pub(crate) struct History {
    pub(crate) sends: Vec<Send>,
    pub(crate) removals: Vec<Removal>,
    /// While the clients were at work.
    pub(crate) looks: Vec<Look>,
    /// When nothing was under way any more: the server was dead, or all of them were quiet.
    pub(crate) closed: Tick,
    /// After that, with nobody else at work: by each door, the list of every mailbox and the source of every message.
    pub(crate) after: Vec<Look>,
    /// `mailbox.messages_max`, when it was set: the smaller of this start and the next one.
    pub(crate) messages_max: Option<usize>,
    /// When everything had been read, less `mailbox.retention`, when that was set: what came before may have gone.
    pub(crate) expired: Option<Instant>,
    pub(crate) entering: Entering,
    pub(crate) reads: Reads,
}

impl History {
    /// Take over what one client saw.
    pub(crate) fn absorb(&mut self, other: History) {
        self.sends.extend(other.sends);
        self.removals.extend(other.removals);
        self.looks.extend(other.looks);
    }

    /// The power went, and with it, in earnest, the machine: what was under way was never answered, and nothing was seen
    /// any more. It must be so, as ext4 may report a sync as done that its own shutdown overtook. What was asked after
    /// that, and answered with yes over a dead disk, stays a yes.
    pub(crate) fn cut(&mut self, Cut { disks, dark }: Cut) {
        let under_way = |span: &Span| span.begin < disks.end && span.end > disks.begin;
        for send in self.sends.iter_mut().filter(|send| send.outcome == Outcome::Done && under_way(&send.span)) {
            (send.outcome, send.span.end) = (Outcome::Unknown, OPEN);
        }
        for removal in self.removals.iter_mut().filter(|removal| under_way(&removal.span)) {
            (removal.outcome, removal.span.end) = (Outcome::Unknown, OPEN);
        }
        self.looks.retain(|look| look.span.end < disks.begin || look.span.begin > dark);
    }

    /// Nothing is under way any more: what was never answered ended here, one way or the other.
    pub(crate) fn close(&mut self, closed: Tick) {
        self.closed = closed;
        let spans = self.sends.iter_mut().map(|send| &mut send.span);
        for span in spans.chain(self.removals.iter_mut().map(|removal| &mut removal.span)) {
            if span.end == OPEN {
                span.end = closed;
            }
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}–{}", self.begin, self.end)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => out.write_str("done"),
            Self::Refused(reply) => write!(out, "refused ({reply})"),
            Self::Unasked => out.write_str("never asked in full"),
            Self::Absent => out.write_str("not there (404)"),
            Self::Unknown => out.write_str("no answer seen"),
        }
    }
}

impl fmt::Display for Send {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { canary, mailboxes, span, outcome, door, .. } = self;
        write!(out, "{span} @{} send {canary} to {}: {outcome}", door + 1, mailboxes.join(" "))?;
        self.waited.map_or(Ok(()), |waited| write!(out, " after {waited:.1?}"))
    }
}

impl fmt::Display for Removal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mailbox, target, span, outcome, door } = self;
        match target {
            Target::Message(id) => write!(out, "{span} @{} delete {mailbox}/{id}: {outcome}", door + 1),
            Target::All => write!(out, "{span} @{} purge {mailbox}: {outcome}", door + 1),
        }
    }
}

impl fmt::Display for Look {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} @{} ", self.span, self.door + 1)?;
        match &self.scope {
            Scope::Mailbox => write!(out, "list {}: {} messages", self.mailbox, self.rows.len()),
            Scope::Message(id) if self.rows.is_empty() => write!(out, "source {}/{id}: not there (404)", self.mailbox),
            Scope::Message(id) => write!(out, "source {}/{id}: {} bytes", self.mailbox, self.rows[0].size),
        }
    }
}
