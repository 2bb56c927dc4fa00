//! What the clients of one round asked for, and what they saw. Facts only: nothing here judges.
//!
//! Time is a count of ticks that all clients share: each takes one before it asks and one after it has the whole
//! answer. What really happened lies between the two, and no clock of the machine has a say in it, except about what is
//! old enough to be dropped.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A moment, later than all smaller ones.
pub(super) type Tick = u64;

/// Where the ticks come from: one for the whole campaign.
#[derive(Default)]
pub(super) struct Clock(AtomicU64);

impl Clock {
    pub(super) fn tick(&self) -> Tick {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

/// From before the question until after its answer. Without an answer it ends with the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) begin: Tick,
    pub(super) end: Tick,
}

/// The end of what was never answered, until the death of the server is known.
pub(super) const OPEN: Tick = Tick::MAX;

/// The name of one message over the whole campaign; it stands in its subject.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Canary {
    pub(super) round: u32,
    pub(super) client: u16,
    pub(super) turn: u16,
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
pub(super) enum Outcome {
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
pub(super) struct Send {
    pub(super) canary: Canary,
    /// Each once, whatever the recipients were.
    pub(super) mailboxes: Vec<String>,
    /// When the span began.
    pub(super) at: Instant,
    pub(super) span: Span,
    pub(super) outcome: Outcome,
}

/// What was to be removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Message(String),
    All,
}

/// One delete or purge.
#[derive(Clone, Debug)]
pub(super) struct Removal {
    pub(super) mailbox: String,
    pub(super) target: Target,
    pub(super) span: Span,
    pub(super) outcome: Outcome,
}

/// A message as a list or a source shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub(super) id: String,
    /// None when it is no message of this campaign; then the subject, or what else stood there.
    pub(super) canary: Result<Canary, String>,
    /// Bytes, trace fields included.
    pub(super) size: u64,
}

/// What was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Scope {
    /// The list of a mailbox: what is not in it was not there.
    Mailbox,
    /// The source of one message.
    Message(String),
}

/// One answer to a list or to a source; `rows` holds at most one for a source.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) mailbox: String,
    pub(super) scope: Scope,
    pub(super) span: Span,
    pub(super) rows: Vec<Row>,
    /// Of a source: what its bytes are.
    pub(super) print: Option<Print>,
}

/// The bytes of a stored message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Print {
    /// A checksum of all of them.
    pub(super) sum: u64,
    /// Why they are not the known trace fields and then exactly what was sent.
    pub(super) fault: Option<String>,
}

/// One round: the clients at work, the death of the server, and all that is there after it came back.
#[derive(Clone, Default, Debug)]
pub(super) struct History {
    pub(super) sends: Vec<Send>,
    pub(super) removals: Vec<Removal>,
    /// While the clients were at work.
    pub(super) looks: Vec<Look>,
    /// When the server was certainly dead.
    pub(super) died: Tick,
    /// After the restart, with nobody else at work: the list of every mailbox and the source of every message.
    pub(super) after: Vec<Look>,
    /// `mailbox.messages_max`, when it was set: the smaller of this start and the next one.
    pub(super) messages_max: Option<usize>,
    /// When everything had been read, less `mailbox.retention`, when that was set: what came before may have gone.
    pub(super) expired: Option<Instant>,
}

impl History {
    /// Take over what one client saw.
    pub(super) fn absorb(&mut self, other: History) {
        self.sends.extend(other.sends);
        self.removals.extend(other.removals);
        self.looks.extend(other.looks);
    }

    /// The power went within this span, and with it, in earnest, the machine: what was under way was never answered, and
    /// nothing was seen any more. It must be so, as ext4 may report a sync as done that its own shutdown overtook. What
    /// was asked after that, and answered with yes over a dead disk, stays a yes.
    pub(super) fn cut(&mut self, cut: Span) {
        let under_way = |span: &Span| span.begin < cut.end && span.end > cut.begin;
        for send in self.sends.iter_mut().filter(|send| send.outcome == Outcome::Done && under_way(&send.span)) {
            (send.outcome, send.span.end) = (Outcome::Unknown, OPEN);
        }
        for removal in self.removals.iter_mut().filter(|removal| under_way(&removal.span)) {
            (removal.outcome, removal.span.end) = (Outcome::Unknown, OPEN);
        }
        self.looks.retain(|look| look.span.end < cut.begin);
    }

    /// The server is dead: what was never answered ended here, one way or the other.
    pub(super) fn close(&mut self, died: Tick) {
        self.died = died;
        let spans = self.sends.iter_mut().map(|send| &mut send.span);
        for span in spans.chain(self.removals.iter_mut().map(|removal| &mut removal.span)) {
            if span.end == OPEN {
                span.end = died;
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
        write!(out, "{} send {} to {}: {}", self.span, self.canary, self.mailboxes.join(" "), self.outcome)
    }
}

impl fmt::Display for Removal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Target::Message(id) => write!(out, "{} delete {}/{id}: {}", self.span, self.mailbox, self.outcome),
            Target::All => write!(out, "{} purge {}: {}", self.span, self.mailbox, self.outcome),
        }
    }
}

impl fmt::Display for Look {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            Scope::Mailbox => write!(out, "{} list {}: {} messages", self.span, self.mailbox, self.rows.len()),
            Scope::Message(id) if self.rows.is_empty() => {
                write!(out, "{} source {}/{id}: not there (404)", self.span, self.mailbox)
            }
            Scope::Message(id) => {
                write!(out, "{} source {}/{id}: {} bytes", self.span, self.mailbox, self.rows[0].size)
            }
        }
    }
}
