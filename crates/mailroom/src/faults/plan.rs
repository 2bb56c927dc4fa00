//! A fault plan: whom it meets, at which attempts, and what it does then. Values, and how the store's records write them;
//! counting is done elsewhere.

use std::time::Duration;

use jiff::Timestamp;
use mail::address::Charset;
use mail::{Address, Domain, Mailbox, ReversePath};
use serde::{Deserialize, Serialize};

use super::act::Act;
use crate::refusals::Stage;
use crate::verdict::Status;

/// The first octet of a record.
const FORM: u8 = 1;
/// Octets of a plan's note, and of the text of its reply.
pub const TEXT_MAX: usize = 200;
/// Attempts that can be counted to.
pub const ATTEMPTS_MAX: u64 = 1_000_000_000;

/// A plan as it is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewPlan {
    /// Whom it meets.
    pub whom: Whom,
    /// Where.
    pub stage: Stage,
    /// What it does.
    pub act: Act,
    /// At which attempts.
    pub when: When,
    /// What is counted together.
    pub per: Per,
    /// How long it is in force; `faults.ttl_default` unless said.
    pub ttl: Option<Duration>,
    /// What people call it; may be empty.
    pub note: String,
}

/// A plan in force.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// What it goes by.
    pub id: String,
    /// Whom it meets.
    pub whom: Whom,
    /// Where.
    pub stage: Stage,
    /// What it does.
    pub act: Act,
    /// At which attempts.
    pub when: When,
    /// What is counted together.
    pub per: Per,
    /// What people call it.
    pub note: String,
    /// Since when.
    pub created: Timestamp,
    /// Until when.
    pub expires: Timestamp,
}

/// Whom a plan meets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Whom {
    /// Mail for this mailbox.
    Mailbox(Mailbox),
    /// Mail from this address, or from all of a domain, as `@example.com`; in lower case.
    Sender(String),
    /// All mail.
    Everything,
}

/// At which attempts a plan acts. The first attempt is 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum When {
    /// At each.
    Always,
    /// At the first so many, and then no more.
    First(u64),
    /// At this one only.
    Nth(u64),
    /// At so many of a hundred, drawn from the seed: the same attempts each time.
    Percent(u8, u64),
}

/// What is counted together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Per {
    /// Every attempt that the plan meets.
    Plan,
    /// Those for one recipient's address.
    Recipient,
    /// Those from one sender's address to one recipient's, as greylisting counts.
    Pair,
}

/// Why there can be no such plan, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{detail}")]
pub struct BadPlan {
    /// The member that is wrong, as the API calls it.
    pub member: &'static str,
    /// What is wrong with it.
    pub detail: String,
}

impl When {
    /// Whether a plan acts at this attempt.
    pub fn fires(self, attempt: u64) -> bool {
        match self {
            Self::Always => true,
            Self::First(count) => attempt <= count,
            Self::Nth(number) => attempt == number,
            Self::Percent(percent, seed) => draw(seed, attempt) < u64::from(percent),
        }
    }

    /// As it is told: `2 of 2`, `attempt 3`.
    pub fn told(self, attempt: u64) -> String {
        match self {
            Self::First(count) => format!("{attempt} of {count}"),
            _ => format!("attempt {attempt}"),
        }
    }
}

/// A number below 100 that depends on nothing but these two: the generator splitmix64.
fn draw(seed: u64, attempt: u64) -> u64 {
    let mut state = seed.wrapping_add(attempt.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state ^ (state >> 31)) % 100
}

impl Whom {
    /// Mail from an address, or from a domain, as `@example.com`.
    pub fn of_sender(text: &str) -> Option<Self> {
        let sender = match text.strip_prefix('@') {
            Some(domain) => format!("@{}", Domain::parse(domain).ok()?),
            None => Address::parse(text, Charset::Utf8).ok()?.to_string(),
        };
        Some(Self::Sender(sender.to_lowercase()))
    }

    /// Whether a message of this sender to this mailbox is meant. At MAIL no mailbox is known.
    pub(crate) fn meets(&self, sender: &ReversePath, mailbox: Option<&Mailbox>) -> bool {
        match self {
            Self::Everything => true,
            Self::Mailbox(wanted) => mailbox == Some(wanted),
            Self::Sender(wanted) => sender.0.as_ref().is_some_and(|sender| is_from(wanted, sender)),
        }
    }
}

fn is_from(wanted: &str, sender: &Address) -> bool {
    match wanted.strip_prefix('@') {
        Some(domain) => sender.domain().eq_ignore_ascii_case(domain) || sender.domain().to_lowercase() == domain,
        None => sender.to_string().to_lowercase() == wanted,
    }
}

impl NewPlan {
    /// Whether such a plan makes sense; a plan that only slows acts when the recipient is named, before content comes.
    pub(crate) fn checked(mut self, limits: &super::Settings) -> Result<Self, BadPlan> {
        if self.stage == Stage::Data && self.act.slow.is_some() {
            let slow = Act { slow: self.act.slow, ..Act::default() };
            let detail =
                "How fast content is read is decided before it comes. Leave stage out, or plan the rest apart.";
            ensure(self.act == slow, "slow", detail)?;
            self.stage = Stage::Rcpt;
        }
        let nothing = "It does nothing. Say reply, delay, drop or slow.";
        ensure(!self.act.is_nothing(), "reply", nothing)?;
        let early = "At MAIL no mailbox is known yet. Take stage rcpt or data, or a sender instead of a mailbox.";
        ensure(self.stage != Stage::Mail || !matches!(self.whom, Whom::Mailbox(_)), "stage", early)?;
        let alone = "At MAIL no recipient is known yet. Count per plan there.";
        ensure(self.stage != Stage::Mail || self.per == Per::Plan, "per", alone)?;
        self.check_reply()?;
        self.check_numbers(limits)?;
        let note = format!("It has up to {TEXT_MAX} octets on one line.");
        ensure(self.note.len() <= TEXT_MAX && !self.note.contains(char::is_control), "note", note)?;
        Ok(self)
    }

    /// A reply is a refusal, its enhanced code goes with it, and its text is one line that SMTP can carry.
    fn check_reply(&self) -> Result<(), BadPlan> {
        let Some(Status { code, enhanced, text }) = &self.act.reply else { return Ok(()) };
        ensure((400..600).contains(code), "reply.code", "It is the code of a refusal, from 400 to 599.")?;
        let fits = u16::from(enhanced.0) == code / 100 && enhanced.1 <= 999 && enhanced.2 <= 999;
        ensure(fits, "reply.enhanced", "It is as 4.3.0 or 5.1.1, and begins as the code does.")?;
        let is_line = text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && text.len() <= TEXT_MAX;
        ensure(is_line, "reply.text", format!("It has up to {TEXT_MAX} printable ASCII characters on one line."))
    }

    fn check_numbers(&self, limits: &super::Settings) -> Result<(), BadPlan> {
        let (member, is_sound) = match self.when {
            When::Always => ("", true),
            When::First(count) => ("first", (1..=ATTEMPTS_MAX).contains(&count)),
            When::Nth(number) => ("nth", (1..=ATTEMPTS_MAX).contains(&number)),
            When::Percent(percent, _) => ("percent", (1..=100).contains(&percent)),
        };
        let range = if member == "percent" { "It is a number from 1 to 100." } else { "It counts from 1." };
        ensure(is_sound, member, range)?;
        let delay = self.act.delay.unwrap_or_default() <= limits.delay_max;
        ensure(delay, "delay", format!("It is at most {} s (faults.delay_max).", limits.delay_max.as_secs_f32()))?;
        ensure(self.act.slow != Some(0), "slow", "It is at least 1 octet a second.")?;
        let ttl = self.ttl.unwrap_or(limits.ttl_default);
        let detail = format!("It is more than 0 and at most {} s (faults.ttl_max).", limits.ttl_max.as_secs());
        ensure(!ttl.is_zero() && ttl <= limits.ttl_max, "ttl", detail)
    }
}

fn ensure(holds: bool, member: &'static str, detail: impl Into<String>) -> Result<(), BadPlan> {
    if holds { Ok(()) } else { Err(BadPlan { member, detail: detail.into() }) }
}

/// A plan as a record has it.
#[derive(Serialize, Deserialize)]
struct Record {
    whom: (u8, String),
    stage: u8,
    reply: Option<(u16, (u8, u16, u16), String)>,
    delay: Option<u64>,
    drop: bool,
    slow: Option<u64>,
    when: When,
    per: Per,
    note: String,
    created: i64,
}

const STAGES: [Stage; 3] = [Stage::Mail, Stage::Rcpt, Stage::Data];

impl Plan {
    /// Whether it is in force still.
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires
    }

    /// As a record tells it.
    pub(crate) fn write(&self) -> Vec<u8> {
        let record = Record {
            whom: match &self.whom {
                Whom::Mailbox(mailbox) => (0, mailbox.as_str().to_owned()),
                Whom::Sender(sender) => (1, sender.clone()),
                Whom::Everything => (2, String::new()),
            },
            stage: STAGES.iter().position(|stage| *stage == self.stage).unwrap_or_default() as u8,
            reply: self.act.reply.as_ref().map(|reply| (reply.code, reply.enhanced, reply.text.clone())),
            delay: self.act.delay.map(|delay| delay.as_millis() as u64),
            drop: self.act.drop,
            slow: self.act.slow,
            when: self.when,
            per: self.per,
            note: self.note.clone(),
            created: self.created.as_microsecond(),
        };
        // A plain structure: writing it cannot fail.
        postcard::to_allocvec(&(FORM, record)).unwrap_or_default()
    }

    /// What a record says; none when this version cannot read it.
    pub(crate) fn read(entry: &store::Entry) -> Option<Self> {
        let (form, record) = postcard::from_bytes::<(u8, Record)>(&entry.value).ok()?;
        let whom = match record.whom {
            (0, mailbox) => Whom::Mailbox(Mailbox::from_canonical(&mailbox)),
            (1, sender) => Whom::Sender(sender),
            (2, _) => Whom::Everything,
            _ => return None,
        };
        let reply = record.reply.map(|(code, enhanced, text)| Status { code, enhanced, text });
        let delay = record.delay.map(Duration::from_millis);
        (form == FORM).then_some(())?;
        Some(Self {
            id: entry.key.clone(),
            whom,
            stage: *STAGES.get(usize::from(record.stage))?,
            act: Act { reply, delay, drop: record.drop, slow: record.slow },
            when: record.when,
            per: record.per,
            note: record.note,
            created: Timestamp::from_microsecond(record.created).ok()?,
            expires: entry.expires?,
        })
    }
}

#[cfg(test)]
mod tests;
