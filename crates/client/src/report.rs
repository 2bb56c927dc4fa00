//! Why a wait failed, as a person reads it: what was wanted, what came instead, what was refused, where it may have gone.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::Value;

use crate::problem::Problem;
use crate::text::{clock, maybe_time, plain, quoted, span};

/// Signs of a subject that are shown.
const SUBJECT_SHOWN: usize = 60;

/// What was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) mailbox: String,
    pub(crate) url: Option<String>,
    pub(crate) wanted: String,
    pub(crate) count: usize,
    pub(crate) waited: Duration,
}

/// No mail matched in time. It prints all that is known about why.
#[derive(Clone, Debug)]
pub struct Timeout {
    asked: Asked,
    problem: Problem,
    found: Found,
}

/// A mail matched where none was expected.
#[derive(Clone, Debug)]
pub struct Unexpected {
    asked: Asked,
    problem: Problem,
    found: Found,
}

/// What the server knows. Each member may be missing: a public server tells less.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Found {
    arrived: u64,
    /// Of those that matched when more were wanted.
    matched: Vec<Value>,
    near_misses: Vec<Near>,
    excluded: Count,
    before_cursor: Count,
    similar: Vec<Similar>,
    refusals: Vec<Refusal>,
    smtp: Option<Smtp>,
    /// The mails that were not expected.
    messages: Vec<Near>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Count {
    matching: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Near {
    #[serde(default)]
    id: String,
    #[serde(default, deserialize_with = "maybe_time")]
    received_at: Option<SystemTime>,
    /// An address, or an object with one.
    #[serde(default)]
    from: Value,
    #[serde(default)]
    subject: String,
    #[serde(default)]
    failed: Vec<Failed>,
    #[serde(default)]
    passed: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Failed {
    matcher: String,
    got: Value,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Similar {
    mailbox: String,
    #[serde(default)]
    messages: u64,
    #[serde(default, deserialize_with = "maybe_time")]
    newest_at: Option<SystemTime>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Refusal {
    #[serde(default, deserialize_with = "maybe_time")]
    at: Option<SystemTime>,
    #[serde(default)]
    mail_from: Option<String>,
    #[serde(default)]
    reply: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Smtp {
    connections: u64,
}

impl Found {
    fn read(problem: &Problem) -> Self {
        // A server of another version may tell other things; the sentence in `detail` is always there.
        Self::deserialize(problem.json()).unwrap_or_default()
    }
}

impl Timeout {
    pub(crate) fn read(asked: Asked, problem: Problem) -> Self {
        let found = Found::read(&problem);
        Self { asked, problem, found }
    }

    /// The mailbox that was waited at.
    pub fn mailbox(&self) -> &str {
        &self.asked.mailbox
    }

    /// How many mails came that did not match.
    pub fn arrived(&self) -> u64 {
        self.found.arrived
    }

    /// The server's answer, with everything it knows.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl Unexpected {
    pub(crate) fn read(asked: Asked, problem: Problem) -> Self {
        let found = Found::read(&problem);
        Self { asked, problem, found }
    }

    /// The server's answer, with the mail in it.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Asked { mailbox, wanted, count, waited, .. } = &self.asked;
        let none =
            if *count > 1 { format!("{} of {count} mails", self.found.matched.len()) } else { "no mail".to_owned() };
        write!(out, "PostkeepTimeout: {none} for {} matched in {}", plain(mailbox), span(*waited))?;
        look(out, &self.asked)?;
        write!(out, "\n  wanted    {wanted}")?;
        arrived(out, &self.found)?;
        elsewhere(out, &self.found)?;
        if !self.problem.detail.is_empty() {
            write!(out, "\n  hint      {}", plain(&self.problem.detail))?;
        }
        Ok(())
    }
}

impl fmt::Display for Unexpected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Asked { mailbox, wanted, waited, .. } = &self.asked;
        write!(out, "PostkeepUnexpected: a mail came for {} where none was expected", plain(mailbox))?;
        look(out, &self.asked)?;
        write!(out, "\n  wanted    none within {} with: {wanted}", span(*waited))?;
        for mail in &self.found.messages {
            write!(out, "\n  arrived   {}  (id {})", mail.told(), plain(&mail.id))?;
        }
        Ok(())
    }
}

fn look(out: &mut fmt::Formatter<'_>, asked: &Asked) -> fmt::Result {
    asked.url.as_ref().map_or(Ok(()), |url| write!(out, "    look: {}", plain(url)))
}

fn arrived(out: &mut fmt::Formatter<'_>, found: &Found) -> fmt::Result {
    if found.arrived == 0 && found.near_misses.is_empty() {
        return write!(out, "\n  arrived   nothing");
    }
    let colon = if found.near_misses.is_empty() { "" } else { ":" };
    write!(out, "\n  arrived   {}{colon}", found.arrived)?;
    let told: Vec<String> = found.near_misses.iter().map(Near::told).collect();
    let width = told.iter().map(|text| text.chars().count()).max().unwrap_or_default();
    for (index, (near, text)) in found.near_misses.iter().zip(told).enumerate() {
        let begin = if index == 0 { "  " } else { "\n              " };
        write!(out, "{begin}{text:width$}  {}", near.marks())?;
    }
    Ok(())
}

/// What did not come here, or not now.
fn elsewhere(out: &mut fmt::Formatter<'_>, found: &Found) -> fmt::Result {
    let mails =
        |count: u64| if count == 1 { "1 mail that matches".to_owned() } else { format!("{count} mails that match") };
    if found.excluded.matching > 0 {
        write!(out, "\n  had       {}, handed out before", mails(found.excluded.matching))?;
    }
    if found.before_cursor.matching > 0 {
        write!(out, "\n  earlier   {}, from before this handle was made", mails(found.before_cursor.matching))?;
    }
    for refusal in &found.refusals {
        let sender =
            refusal.mail_from.as_deref().map(|from| format!("  (MAIL FROM {})", plain(from))).unwrap_or_default();
        write!(out, "\n  refused   {}  {}{sender}", told_time(refusal.at), plain(&refusal.reply))?;
    }
    for similar in &found.similar {
        let count = if similar.messages == 1 { "1 mail".to_owned() } else { format!("{} mails", similar.messages) };
        write!(
            out,
            "\n  similar   {} has {count}, the newest from {}",
            plain(&similar.mailbox),
            told_time(similar.newest_at)
        )?;
    }
    match &found.smtp {
        Some(Smtp { connections: 0 }) if found.arrived == 0 => write!(out, "\n  smtp      nobody connected"),
        _ => Ok(()),
    }
}

fn told_time(time: Option<SystemTime>) -> String {
    time.map_or_else(|| "--:--:--".to_owned(), clock)
}

impl Near {
    /// `09:30:02 "Welcome" from no-reply@shop.test`.
    fn told(&self) -> String {
        let mut subject: String = self.subject.chars().take(SUBJECT_SHOWN).collect();
        if subject.len() < self.subject.len() {
            subject.push('…');
        }
        let from = self.from.as_str().or_else(|| self.from["email"].as_str()).unwrap_or("nobody");
        format!("{} {} from {}", told_time(self.received_at), quoted(&subject), plain(from))
    }

    /// `✗ subject  ✓ code`: what failed first, for that is what one looks for.
    fn marks(&self) -> String {
        let failed = self.failed.iter().map(|failed| format!("✗ {}{}", short(&failed.matcher), failed.told_got()));
        let passed = self.passed.iter().map(|matcher| format!("✓ {}", short(matcher)));
        failed.chain(passed).collect::<Vec<_>>().join("  ")
    }
}

impl Failed {
    /// What was there instead, unless the line shows it anyway.
    fn told_got(&self) -> String {
        let is_shown = self.matcher.starts_with("subject") || self.matcher.starts_with("from");
        match &self.got {
            Value::String(got) if !is_shown && !got.is_empty() => {
                format!(" ({})", quoted(&got.chars().take(SUBJECT_SHOWN).collect::<String>()))
            }
            _ => String::new(),
        }
    }
}

/// `subject.contains` is `subject`, `has.code` is `code`.
fn short(matcher: &str) -> String {
    let (head, tail) = matcher.split_once('.').unwrap_or((matcher, ""));
    plain(if matches!(head, "has" | "header") && !tail.is_empty() { tail } else { head })
}

#[cfg(test)]
mod tests;
