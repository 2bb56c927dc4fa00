//! What a fault does, whoever asked for it: an address or a plan. Values only; who does it is the edge's business.

use std::time::Duration;

use crate::refusals::{ByFault, Stage};
use crate::verdict::{Decision, Status, Verdict};

/// What is done at one stage of a transaction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Act {
    /// This is answered.
    pub reply: Option<Status>,
    /// The answer, whatever it is, is held back so long.
    pub delay: Option<Duration>,
    /// The connection is cut: behind a reply if there is one, else without a word.
    pub drop: bool,
    /// From here on the message is read at so many octets a second.
    pub slow: Option<u64>,
}

/// What several faults of one stage come to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Outcome {
    /// Who refuses or cuts the line, and what is said.
    pub(crate) refusal: Option<(ByFault, Status)>,
    /// Nothing is said at all.
    pub(crate) is_silent: bool,
    hang_up: bool,
    delay: Option<Duration>,
    slow: Option<u64>,
    /// Those that acted without refusing, and what they did.
    pub(crate) acted: Vec<(ByFault, String)>,
}

impl Act {
    /// Whether it does nothing.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// What is done, in words: `451 4.3.0, after 3 s`.
    pub fn words(&self) -> String {
        let reply = self.reply.as_ref().map(|reply| format!("{} {}", reply.code, enhanced(reply.enhanced)));
        let delay = self.delay.map(|delay| format!("held back for {} ms", delay.as_millis()));
        let slow = self.slow.map(|octets| format!("the message is read at {octets} octets a second"));
        let drop = self.drop.then(|| "the connection is cut".to_owned());
        let words: Vec<String> = [reply, delay, slow, drop].into_iter().flatten().collect();
        if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
    }
}

impl Outcome {
    /// Whether what follows is not asked any more.
    pub(crate) fn is_final(&self) -> bool {
        self.refusal.is_some()
    }

    /// One more fault acts: the longest delay and the slowest reading of all hold, and the first refusal.
    pub(crate) fn add(&mut self, fault: ByFault, stage: Stage, act: &Act) {
        if act.is_nothing() || self.is_final() {
            return;
        }
        self.delay = self.delay.max(act.delay);
        self.slow = match (self.slow, act.slow) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        match &act.reply {
            Some(reply) => {
                // 421 says that the server closes the channel (RFC 5321 §4.2.3), so it does.
                self.hang_up = act.drop || reply.code == 421;
                self.refusal = Some((fault, reply.clone()));
            }
            None if act.drop => {
                (self.hang_up, self.is_silent) = (true, true);
                self.refusal = Some((fault.clone(), cut(&fault, stage)));
            }
            None => self.acted.push((fault, act.words())),
        }
    }

    /// How long what is told is held back.
    pub(crate) fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// As an edge takes it; whether mail is taken, when no fault says, is for others to decide.
    pub(crate) fn verdict(self) -> Verdict {
        let (decision, fault) = match self.refusal {
            Some((fault, status)) => (Decision::Refuse(status), Some(Box::new(fault))),
            None => (Decision::Accept, None),
        };
        Verdict { decision, delay: self.delay, hang_up: self.hang_up, silent: self.is_silent, slow: self.slow, fault }
    }

    /// What others decided, told as faults want it.
    pub(crate) fn told(&self, verdict: Verdict) -> Verdict {
        Verdict { delay: self.delay.max(verdict.delay), slow: self.slow.or(verdict.slow), ..verdict }
    }
}

/// What is remembered, and told where there is no line to cut, when the client hears nothing.
fn cut(fault: &ByFault, stage: Stage) -> Status {
    let text = format!("The connection was cut at {} without a reply, by {fault}", stage.command());
    Status { code: 421, enhanced: (4, 4, 2), text }
}

/// `5.1.1`
pub(crate) fn enhanced((class, subject, detail): (u8, u16, u16)) -> String {
    format!("{class}.{subject}.{detail}")
}

/// `5.1.1`, read: a class of 4 or 5, the others without leading zeros and up to 999 (RFC 3463 §2).
pub fn read_enhanced(text: &str) -> Option<(u8, u16, u16)> {
    let mut parts = text.split('.').map(|part| {
        let is_number = !part.is_empty() && part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
        let is_padded = part.len() > 1 && part.starts_with('0');
        if is_number && !is_padded { part.parse::<u16>().ok() } else { None }
    });
    let found = (parts.next()??, parts.next()??, parts.next()??);
    let class = u8::try_from(found.0).ok().filter(|class| matches!(class, 4 | 5))?;
    parts.next().is_none().then_some((class, found.1, found.2))
}

/// The enhanced code that goes with a code when none is told (RFC 5248, and what mail servers say).
pub fn usual_enhanced(code: u16) -> (u8, u16, u16) {
    match code {
        421 => (4, 3, 2),
        450 => (4, 2, 1),
        451 => (4, 3, 0),
        452 => (4, 3, 1),
        454 => (4, 7, 0),
        455 | 501 | 504 | 555 => ((code / 100) as u8, 5, 4),
        500 => (5, 5, 2),
        502 | 503 => (5, 5, 1),
        521 => (5, 3, 2),
        530 => (5, 7, 0),
        535 => (5, 7, 8),
        550 => (5, 1, 1),
        551 => (5, 1, 6),
        552 => (5, 2, 2),
        553 => (5, 1, 3),
        554 => (5, 7, 1),
        556 => (5, 1, 10),
        _ => ((code / 100) as u8, 0, 0),
    }
}
