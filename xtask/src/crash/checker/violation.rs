//! A broken promise, and what of the history shows it.

use std::fmt;

use super::super::history::{Canary, History, Scope, Target};

/// Which promise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Kind {
    /// Answered with success, or seen once, and not there although nothing can have removed it.
    Lost,
    /// Answered with success, not there at first, and there later.
    Late,
    /// In some of its mailboxes and not in others.
    Half,
    /// Refused, or never sent to its end, and there.
    Kept,
    /// There again after it was gone.
    Back,
    /// There more than once in one mailbox.
    Twice,
    /// Nobody sent it, or not to here.
    Ghost,
    /// Its bytes are not those that were sent, or not those of before.
    Changed,
    /// An id that another message had.
    Reused,
    /// Ids that do not ascend in the order of arrival.
    Order,
    /// Listed, and cannot be read.
    Unreadable,
    /// A delivery failed although nothing was wrong that a sender should notice.
    Failed,
    /// `/readyz` did not tell the truth in time.
    Ready,
    /// The server did not come back, came back too late, or ended without being asked to.
    Server,
}

/// One broken promise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Violation {
    pub(crate) kind: Kind,
    pub(crate) what: String,
    /// The lines of the history that belong to it.
    pub(crate) lines: Vec<String>,
}

/// So much of a history is printed with each.
const LINES_MAX: usize = 16;

impl Violation {
    pub(crate) fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), lines: Vec::new() }
    }

    /// About a message in these mailboxes, with what happened to it there.
    pub(super) fn about(
        kind: Kind,
        what: String,
        canary: Canary,
        copies: &[(&str, Option<&str>)],
        of: &History,
    ) -> Self {
        let mut lines = told(canary, copies, of);
        lines.sort();
        let more = lines.len().saturating_sub(LINES_MAX);
        let mut lines: Vec<_> = lines.split_off(more).into_iter().map(|(_, line)| line).collect();
        if more > 0 {
            lines.insert(0, format!("… {more} earlier lines"));
        }
        Self { kind, what, lines }
    }
}

/// Every line that has to do with the message, by its tick.
fn told(canary: Canary, copies: &[(&str, Option<&str>)], of: &History) -> Vec<(u64, String)> {
    let mut lines = vec![(of.closed, format!("{} nothing is under way any more", of.closed))];
    let begin = of.sends.iter().find(|send| send.canary == canary).map_or(0, |send| send.span.begin);
    lines.extend(of.sends.iter().filter(|send| send.canary == canary).map(|send| (send.span.begin, send.to_string())));
    for (mailbox, id) in copies {
        for removal in of.removals.iter().filter(|removal| removal.mailbox == *mailbox) {
            let concerned = match &removal.target {
                Target::All => true,
                Target::Message(other) => *id == Some(other.as_str()),
            };
            if concerned {
                lines.push((removal.span.begin, removal.to_string()));
            }
        }
        for look in of.looks.iter().chain(&of.after).filter(|look| look.mailbox == *mailbox) {
            let shows = look.rows.iter().find(|row| row.canary == Ok(canary));
            let line = match (shows, &look.scope) {
                (Some(row), _) => format!("{look}, with it as {}", row.id),
                (None, _) if look.span.end < begin => continue,
                (None, Scope::Mailbox) => format!("{look}, without it"),
                (None, Scope::Message(other)) if *id == Some(other.as_str()) => look.to_string(),
                (None, Scope::Message(_)) => continue,
            };
            lines.push((look.span.begin, line));
        }
    }
    lines
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Lost => "lost",
            Self::Late => "late",
            Self::Half => "half",
            Self::Kept => "kept",
            Self::Back => "back",
            Self::Twice => "twice",
            Self::Ghost => "ghost",
            Self::Changed => "changed",
            Self::Reused => "reused",
            Self::Order => "order",
            Self::Unreadable => "unreadable",
            Self::Failed => "failed",
            Self::Ready => "ready",
            Self::Server => "server",
        })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.kind, self.what)?;
        self.lines.iter().try_for_each(|line| write!(out, "\n    {line}"))
    }
}
