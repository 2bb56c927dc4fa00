//! Fault plans as JSON has them, read and written. What makes no sense together the mailroom says.

use mailroom::faults::{Act, Count, NewPlan, Per, Plan, When, Whom, read_enhanced, usual_enhanced};
use mailroom::{Mailroom, Stage, Status};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::time;
use crate::live;
use crate::problem::Problem;
use crate::v2::body;
use crate::v2::params::duration;

/// How a fault is planned. Without `mailbox` and `sender` all mail is meant; without `first`, `nth` and `percent` each
/// attempt.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FaultRequest {
    /// Mail for this mailbox.
    mailbox: Option<String>,
    /// Mail from this address, or from a domain, as `@example.com`.
    sender: Option<String>,
    /// `mail`, `rcpt` (unless said) or `data`: at which command.
    #[schema(example = "rcpt")]
    stage: Option<String>,
    /// What is answered.
    reply: Option<FaultReplyRequest>,
    /// The first so many attempts.
    #[schema(minimum = 1)]
    first: Option<u64>,
    /// This attempt only.
    #[schema(minimum = 1)]
    nth: Option<u64>,
    /// So many of a hundred attempts.
    #[schema(minimum = 1, maximum = 100)]
    percent: Option<u64>,
    /// What those are drawn from; 0 unless said.
    seed: Option<u64>,
    /// What is counted together: `plan` (unless said) all that the plan meets, `recipient` each recipient's on their own,
    /// `pair` each sender's to each recipient.
    #[schema(example = "plan")]
    per: Option<String>,
    /// The answer is held back so long, as `2s`.
    delay: Option<String>,
    /// The connection is cut, behind the reply or without one.
    drop: Option<bool>,
    /// The content is read at so many bytes a second, as `1KiB`.
    slow: Option<String>,
    /// How long the plan is in force, as `10m`.
    ttl: Option<String>,
    /// What people call it.
    note: Option<String>,
}

/// What is answered.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FaultReplyRequest {
    /// From 400 to 599.
    #[schema(minimum = 400, maximum = 599)]
    code: u16,
    /// As `4.7.1`; what goes with the code unless said.
    enhanced: Option<String>,
    /// One line of ASCII; the id of the plan unless said.
    text: Option<String>,
}

/// A plan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FaultPlan {
    /// What it goes by.
    id: String,
    /// Whose mail; null when it is not for a mailbox.
    mailbox: Option<String>,
    /// From whom; null when it is not for a sender.
    sender: Option<String>,
    /// `mail`, `rcpt` or `data`.
    stage: &'static str,
    /// What is answered; null when nothing is refused.
    reply: Option<FaultReply>,
    /// The first so many attempts.
    first: Option<u64>,
    /// This attempt only.
    nth: Option<u64>,
    /// So many of a hundred attempts.
    percent: Option<u8>,
    /// What those are drawn from.
    seed: Option<u64>,
    /// `plan`, `recipient` or `pair`.
    per: &'static str,
    /// How long the answer is held back.
    delay: Option<String>,
    /// Whether the connection is cut.
    drop: bool,
    /// At how many bytes a second the content is read.
    slow: Option<String>,
    /// What people call it.
    note: String,
    /// Since when it is in force.
    #[schema(format = DateTime)]
    created_at: String,
    /// Until when.
    #[schema(format = DateTime)]
    expires_at: String,
    /// How many attempts it met.
    attempts: u64,
    /// At how many of them it acted.
    fired: u64,
}

/// What is answered.
#[derive(Serialize, ToSchema)]
pub(crate) struct FaultReply {
    /// From 400 to 599.
    code: u16,
    /// As `4.7.1`.
    enhanced: String,
    /// What a person reads.
    text: String,
}

/// All of them.
#[derive(Serialize, ToSchema)]
pub(crate) struct FaultPlans {
    /// In the order in which they are asked.
    pub(crate) items: Vec<FaultPlan>,
}

const STAGES: [(&str, Stage); 3] = [("mail", Stage::Mail), ("rcpt", Stage::Rcpt), ("data", Stage::Data)];
const PERS: [(&str, Per); 3] = [("plan", Per::Plan), ("recipient", Per::Recipient), ("pair", Per::Pair)];
/// As in the configuration, the largest that a number is a whole number of first.
const SIZES: [(&str, u64); 5] = [("MiB", 1 << 20), ("KiB", 1 << 10), ("MB", 1_000_000), ("KB", 1_000), ("B", 1)];

impl FaultRequest {
    /// As the mailroom takes it.
    pub(crate) fn understood(self, mailroom: &Mailroom) -> Result<NewPlan, Problem> {
        let when = self.when()?;
        let whom = match (self.mailbox, self.sender) {
            (Some(_), Some(_)) => return Err(body::refuse("sender", "A plan is for a mailbox or a sender. Say one.")),
            (Some(name), None) => Whom::Mailbox(mailroom.named(&name).map_err(Problem::bad_mailbox)?),
            (None, Some(sender)) => Whom::of_sender(&sender).ok_or_else(|| {
                body::refuse("sender", "It is an address as a@example.com, or a domain as @example.com.")
            })?,
            (None, None) => Whom::Everything,
        };
        let time = |member: &str, text: Option<String>| {
            let bad = || body::refuse(member, "It is a duration such as 500ms, 2s or 10m.");
            text.map(|text| duration(&text).ok_or_else(bad)).transpose()
        };
        let act = Act {
            reply: self.reply.map(FaultReplyRequest::understood).transpose()?,
            delay: time("delay", self.delay)?,
            drop: self.drop.unwrap_or(false),
            slow: self.slow.map(|text| size(&text)).transpose()?,
        };
        Ok(NewPlan {
            whom,
            stage: word("stage", self.stage.as_deref(), &STAGES)?.unwrap_or(Stage::Rcpt),
            act,
            when,
            per: word("per", self.per.as_deref(), &PERS)?.unwrap_or(Per::Plan),
            ttl: time("ttl", self.ttl)?,
            note: self.note.unwrap_or_default(),
        })
    }

    fn when(&self) -> Result<When, Problem> {
        if self.seed.is_some() && self.percent.is_none() {
            return Err(body::refuse("seed", "A seed goes with percent. Say both, or neither."));
        }
        match (self.first, self.nth, self.percent) {
            (None, None, None) => Ok(When::Always),
            (Some(first), None, None) => Ok(When::First(first)),
            (None, Some(nth), None) => Ok(When::Nth(nth)),
            // What is no percentage is told so by the mailroom.
            (None, None, Some(percent)) => {
                Ok(When::Percent(u8::try_from(percent).unwrap_or(u8::MAX), self.seed.unwrap_or_default()))
            }
            _ => Err(body::refuse("first", "There are first, nth and percent. Say one, or none for each attempt.")),
        }
    }
}

impl FaultReplyRequest {
    fn understood(self) -> Result<Status, Problem> {
        let enhanced = match &self.enhanced {
            None => usual_enhanced(self.code),
            Some(text) => read_enhanced(text).ok_or_else(|| {
                body::refuse("reply.enhanced", "It is as 4.3.0 or 5.1.1, and begins as the code does.")
            })?,
        };
        Ok(Status { code: self.code, enhanced, text: self.text.unwrap_or_default() })
    }
}

fn word<T: Copy>(member: &str, given: Option<&str>, known: &[(&str, T)]) -> Result<Option<T>, Problem> {
    let Some(given) = given else { return Ok(None) };
    let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
    let found = known.iter().find(|(word, _)| *word == given).map(|(_, value)| Some(*value));
    found.ok_or_else(|| body::refuse(member, format!("It is one of {}.", words.join(", "))))
}

fn size(text: &str) -> Result<u64, Problem> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = if unit.is_empty() { "B" } else { unit.trim_start() };
    let unit = SIZES.iter().find(|(name, _)| *name == unit).map(|(_, octets)| *octets);
    let octets = unit.and_then(|unit| number.parse::<u64>().ok()?.checked_mul(unit));
    octets.ok_or_else(|| body::refuse("slow", "It is a number of bytes a second such as 500B, 1KiB or 2MB."))
}

fn told_size(octets: u64) -> String {
    let fits = |(_, unit): &&(&str, u64)| octets != 0 && octets.is_multiple_of(*unit);
    SIZES.iter().find(fits).map_or_else(|| octets.to_string(), |(name, unit)| format!("{}{name}", octets / unit))
}

impl FaultPlan {
    /// A plan, with what it met.
    pub(crate) fn of(mailroom: &Mailroom, plan: &Plan, count: Count) -> Self {
        let (first, nth, percent, seed) = match plan.when {
            When::Always => (None, None, None, None),
            When::First(first) => (Some(first), None, None, None),
            When::Nth(nth) => (None, Some(nth), None, None),
            When::Percent(percent, seed) => (None, None, Some(percent), Some(seed)),
        };
        let (mailbox, sender) = match &plan.whom {
            Whom::Mailbox(mailbox) => (Some(mailroom.spelling(mailbox).into_owned()), None),
            Whom::Sender(sender) => (None, Some(sender.clone())),
            Whom::Everything => (None, None),
        };
        let reply = |reply: &Status| {
            let (class, subject, detail) = reply.enhanced;
            FaultReply { code: reply.code, enhanced: format!("{class}.{subject}.{detail}"), text: reply.text.clone() }
        };
        Self {
            id: plan.id.clone(),
            mailbox,
            sender,
            stage: STAGES.iter().find(|(_, stage)| *stage == plan.stage).map_or("", |(word, _)| word),
            reply: plan.act.reply.as_ref().map(reply),
            first,
            nth,
            percent,
            seed,
            per: PERS.iter().find(|(_, per)| *per == plan.per).map_or("", |(word, _)| word),
            delay: plan.act.delay.map(live::duration),
            drop: plan.act.drop,
            slow: plan.act.slow.map(told_size),
            note: plan.note.clone(),
            created_at: time(plan.created),
            expires_at: time(plan.expires),
            attempts: count.attempts,
            fired: count.fired,
        }
    }
}
