//! Faults by address: what the local part of an address under `faults.domain` asks for. Pure and total: every local part
//! is a fault or a mistake that says what would be one.
//!
//! ```text
//! local     = term *( "_" term ) [ "+" tag ]
//! term      = reply / delay / drop / slow / bounce / complaint / "vacation" / "ok"
//! reply     = code [ "-" enhanced ] [ stage ]     ; code 400 to 599
//! delay     = "delay-" time [ stage ]             ; 500ms, 3s, 2m
//! drop      = "drop" [ stage ]
//! slow      = "slow-" octets [ "k" / "m" ]        ; a second
//! bounce    = "bounce" [ "-" enhanced ]
//! complaint = "complaint" [ "-" type ]            ; abuse, fraud, virus, other, not-spam
//! stage     = ".mail" / ".rcpt" / ".data"
//! ```
//!
//! Case does not matter. A term without a stage acts where the address is said: at MAIL for a sender, at RCPT for a
//! recipient. The tag means nothing here: it keeps tests apart.

use std::time::Duration;

use super::act::{Act, enhanced, read_enhanced, usual_enhanced};
use crate::refusals::Stage;
use crate::verdict::Status;

/// Joins terms. No term holds it.
const JOINT: char = '_';
const STAGES: [(&str, Stage); 3] = [(".mail", Stage::Mail), (".rcpt", Stage::Rcpt), (".data", Stage::Data)];
const KNOWN: &str = "a code as 451-4.3.0.rcpt, delay-3s, drop, slow-1k, bounce, complaint, vacation and ok";

/// Where an address is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// In MAIL FROM.
    Sender,
    /// In RCPT TO.
    Recipient,
}

/// What an address asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Asked {
    /// At MAIL, of a sender.
    pub mail: Act,
    /// At RCPT, of a recipient.
    pub rcpt: Act,
    /// When the message of a recipient is there.
    pub data: Act,
    /// What comes back when the message was taken.
    pub back: Vec<Back>,
}

/// What comes back to the sender of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Back {
    /// That it could not be delivered after all, with this status (RFC 3464).
    Bounce((u8, u16, u16)),
    /// That its recipient complains of it (RFC 5965).
    Complaint(&'static str),
    /// That its recipient is away (RFC 3834).
    Vacation,
}

/// The types of complaints: of RFC 5965 §7.3, and of RFC 6430.
const COMPLAINTS: [&str; 5] = ["abuse", "fraud", "virus", "other", "not-spam"];

/// Why a local part is no fault. Each says what would be one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadFault {
    /// A word that is none of ours.
    #[error("there is no fault \"{0}\": there are {KNOWN}, joined by _")]
    Unknown(String),
    /// A code that is no refusal.
    #[error("\"{0}\" is no code of a refusal: it has three digits, from 400 to 599")]
    Code(String),
    /// An enhanced code that does not fit.
    #[error("\"{0}\" is no enhanced code that goes with it: it is as 4.3.0 or 5.1.1, and begins as its code does")]
    Enhanced(String),
    /// A time that is none.
    #[error("\"{0}\" is no time: it is as 500ms, 3s or 2m, and at most faults.delay_max")]
    Time(String),
    /// A speed that is none.
    #[error("\"{0}\" is no number of octets a second: it is as 500, 1k or 2m, and at least 1")]
    Octets(String),
    /// A type of complaint that is none.
    #[error("\"{0}\" is no type of complaint: there are abuse, fraud, virus, other and not-spam")]
    Complaint(String),
    /// A stage where there can be none.
    #[error("\"{0}\" has no stage: leave out what stands behind the dot")]
    Stageless(String),
    /// The same is asked for twice.
    #[error("\"{0}\" asks once more for what was asked already: each is asked for once at a stage")]
    Twice(String),
    /// At MAIL a recipient is not known yet.
    #[error("\"{0}\" acts at MAIL, where recipients are not known yet: use this address as the sender")]
    TooEarly(String),
}

/// What the local part of an address asks for, with delays of at most `delay_max`.
pub fn read(local: &str, side: Side, delay_max: Duration) -> Result<Asked, BadFault> {
    let lower = local.to_ascii_lowercase();
    let terms = lower.split_once('+').map_or(&*lower, |(terms, _)| terms);
    let mut asked = Asked::default();
    for term in terms.split(JOINT) {
        Term { text: term, side, delay_max }.add_to(&mut asked)?;
    }
    Ok(asked)
}

impl Asked {
    /// What is done at a stage.
    pub fn at(&self, stage: Stage) -> &Act {
        match stage {
            Stage::Mail => &self.mail,
            Stage::Rcpt => &self.rcpt,
            Stage::Data => &self.data,
        }
    }

    fn at_mut(&mut self, stage: Stage) -> &mut Act {
        match stage {
            Stage::Mail => &mut self.mail,
            Stage::Rcpt => &mut self.rcpt,
            Stage::Data => &mut self.data,
        }
    }

    fn comes_back(&mut self, back: Back, term: &str) -> Result<(), BadFault> {
        let is_alike = |other: &Back| std::mem::discriminant(other) == std::mem::discriminant(&back);
        if self.back.iter().any(is_alike) {
            return Err(BadFault::Twice(term.to_owned()));
        }
        self.back.push(back);
        Ok(())
    }
}

/// One term, in lower case.
struct Term<'a> {
    text: &'a str,
    side: Side,
    delay_max: Duration,
}

impl Term<'_> {
    fn add_to(&self, asked: &mut Asked) -> Result<(), BadFault> {
        let (body, stage) = self.staged();
        let (word, value) = body.split_once('-').map_or((body, None), |(word, value)| (word, Some(value)));
        match (word, value) {
            ("delay", Some(value)) => set(&mut self.act(asked, stage)?.delay, self.time(value)?, self.text),
            ("drop", None) => {
                let act = self.act(asked, stage)?;
                let was_asked = std::mem::replace(&mut act.drop, true);
                if was_asked { Err(BadFault::Twice(self.text.to_owned())) } else { Ok(()) }
            }
            ("slow", Some(value)) => {
                self.stageless(stage)?;
                set(&mut asked.rcpt.slow, octets(value)?, self.text)
            }
            ("bounce", value) => {
                self.stageless(stage)?;
                let status = value.map_or(Some((5, 1, 1)), read_enhanced);
                let status = status.ok_or_else(|| BadFault::Enhanced(value.unwrap_or_default().to_owned()))?;
                asked.comes_back(Back::Bounce(status), self.text)
            }
            ("complaint", value) => {
                self.stageless(stage)?;
                let value = value.unwrap_or("abuse");
                let kind = COMPLAINTS.iter().find(|kind| **kind == value);
                let kind = kind.ok_or_else(|| BadFault::Complaint(value.to_owned()))?;
                asked.comes_back(Back::Complaint(kind), self.text)
            }
            ("vacation", None) => {
                self.stageless(stage)?;
                asked.comes_back(Back::Vacation, self.text)
            }
            ("ok", None) => self.stageless(stage),
            (code, value) if code.starts_with(|first: char| first.is_ascii_digit()) => {
                let reply = self.reply(code, value, stage)?;
                set(&mut self.act(asked, stage)?.reply, reply, self.text)
            }
            _ => Err(BadFault::Unknown(self.text.to_owned())),
        }
    }

    /// The term without its stage, and the stage if it names one.
    fn staged(&self) -> (&str, Option<Stage>) {
        let found = STAGES.iter().find_map(|(suffix, stage)| Some((self.text.strip_suffix(suffix)?, Some(*stage))));
        found.unwrap_or((self.text, None))
    }

    /// Where it acts. A term for recipients in a sender's address acts nowhere.
    fn act<'a>(&self, asked: &'a mut Asked, stage: Option<Stage>) -> Result<&'a mut Act, BadFault> {
        let stage = self.stage(stage);
        match self.side {
            Side::Recipient if stage == Stage::Mail => Err(BadFault::TooEarly(self.text.to_owned())),
            _ => Ok(asked.at_mut(stage)),
        }
    }

    fn stage(&self, stage: Option<Stage>) -> Stage {
        stage.unwrap_or(match self.side {
            Side::Sender => Stage::Mail,
            Side::Recipient => Stage::Rcpt,
        })
    }

    fn stageless(&self, stage: Option<Stage>) -> Result<(), BadFault> {
        match stage {
            None => Ok(()),
            Some(_) => Err(BadFault::Stageless(self.text.to_owned())),
        }
    }

    fn reply(&self, code: &str, value: Option<&str>, stage: Option<Stage>) -> Result<Status, BadFault> {
        let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
        let number = code.parse().ok().filter(|number| is_code && (400..600).contains(number));
        let code = number.ok_or_else(|| BadFault::Code(code.to_owned()))?;
        let told = match value {
            None => usual_enhanced(code),
            Some(value) => {
                let fits = |enhanced: &(u8, u16, u16)| u16::from(enhanced.0) == code / 100;
                read_enhanced(value).filter(fits).ok_or_else(|| BadFault::Enhanced(value.to_owned()))?
            }
        };
        // Written anew: nothing that was sent stands in it.
        let text = format!("As asked by the address: {code} {} at {}", enhanced(told), self.stage(stage).command());
        Ok(Status { code, enhanced: told, text })
    }

    fn time(&self, value: &str) -> Result<Duration, BadFault> {
        let units = [("ms", 1), ("s", 1000), ("m", 60_000)];
        let read = |(unit, millis): &(&str, u64)| number(value.strip_suffix(unit)?)?.checked_mul(*millis);
        let time = units.iter().find_map(read).map(Duration::from_millis);
        time.filter(|time| !time.is_zero() && *time <= self.delay_max).ok_or_else(|| BadFault::Time(value.to_owned()))
    }
}

fn octets(value: &str) -> Result<u64, BadFault> {
    let (digits, unit) = match value.strip_suffix('k') {
        Some(digits) => (digits, 1 << 10),
        None => value.strip_suffix('m').map_or((value, 1), |digits| (digits, 1 << 20)),
    };
    let octets = number(digits).and_then(|count| count.checked_mul(unit));
    octets.filter(|octets| *octets > 0).ok_or_else(|| BadFault::Octets(value.to_owned()))
}

/// Digits and nothing else: no sign, no blank.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn set<T>(place: &mut Option<T>, value: T, term: &str) -> Result<(), BadFault> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(BadFault::Twice(term.to_owned())),
    }
}

#[cfg(test)]
mod tests;
