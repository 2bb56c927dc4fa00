//! What a mail must be like to be the one that is waited for. Pure: a message goes in, what holds and what does not comes
//! out, with the words that a person needs to see why.

use std::fmt;

use mail::extract::{Kind, Pick};
use mail::{Address, Letter, Mailbox, Summary};
use regex::{Regex, RegexBuilder};
use store::Stored;

/// Memory that a compiled expression may take.
const REGEX_SIZE_MAX: usize = 1 << 20;
/// Of a text that did not match, so many characters are shown.
const SHOWN_MAX: usize = 200;

/// All of them must hold; without any every mail matches.
#[derive(Clone, Debug, Default)]
pub struct Matchers {
    /// The author's address.
    pub from: Option<AddressMatch>,
    /// An envelope recipient that led here.
    pub to: Option<AddressMatch>,
    /// The subject.
    pub subject: Option<TextMatch>,
    /// The text, or what is visible of the HTML.
    pub body: Option<TextMatch>,
    /// Header fields with their exact values.
    pub header: Vec<(String, String)>,
    /// What the mail must hold.
    pub has: Vec<Has>,
}

/// An address, or all of a domain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AddressMatch {
    /// This one, in lower case.
    Exact(String),
    /// Any at this domain, in lower case without the `@`.
    Domain(String),
}

/// A text.
#[derive(Clone, Debug)]
pub enum TextMatch {
    /// Equal, but for case.
    Is(Folded),
    /// Somewhere in it, but for case.
    Contains(Folded),
    /// By an expression of the linear engine.
    Regex(Regex),
}

/// A text to compare with, whose case does not matter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Folded {
    written: String,
    folded: String,
}

/// Something that a mail can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Has {
    /// One code that stands out.
    Code,
    /// One action link that stands out, of this kind if one is named.
    Link(Option<Kind>),
    /// At least one attachment.
    Attachment,
}

/// An expression that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadRegex {
    /// Too long.
    #[error("an expression may have {0} characters (wait.regex_max)")]
    Long(usize),
    /// Not one of this engine.
    #[error("the expression cannot be read: {0}")]
    Syntax(String),
}

/// A word that names nothing a mail can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("has knows code, link, link:verify, link:reset, link:magic-login, link:other and attachment")]
pub struct UnknownHas;

/// One matcher that did not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed {
    /// Its name: `subject.contains`, `has.code`.
    pub matcher: String,
    /// What was asked for.
    pub wanted: String,
    /// What is there.
    pub got: String,
}

/// How a mail fared.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fared {
    /// The matchers that did not hold.
    pub failed: Vec<Failed>,
    /// The names of those that did.
    pub passed: Vec<String>,
}

/// What the summary alone says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Glance {
    /// It matches.
    Yes,
    /// It cannot match.
    No,
    /// The whole mail decides.
    Maybe,
}

impl Matchers {
    /// What the summary says already.
    pub fn glance(&self, summary: &Summary) -> Glance {
        let fails =
            |matcher: &Option<TextMatch>, text: &str| matcher.as_ref().is_some_and(|matcher| !matcher.matches(text));
        let from_fails = self.from.as_ref().is_some_and(|from| !from.matches(&summary.from.email));
        let to = self.to.as_ref().map(|to| summary.rcpt_to.iter().any(|address| to.covers(address)));
        if from_fails || fails(&self.subject, &summary.subject) || (to == Some(false) && summary.other_recipients == 0)
        {
            return Glance::No;
        }
        let is_decided = to != Some(false) && self.body.is_none() && self.header.is_empty() && self.has.is_empty();
        if is_decided { Glance::Yes } else { Glance::Maybe }
    }

    /// How a whole mail fares, matcher by matcher.
    pub fn judge(&self, mailbox: &Mailbox, stored: &Stored, letter: &Letter) -> Fared {
        let mut fared = Fared::default();
        if let Some(from) = &self.from {
            let email = &stored.summary.from.email;
            fared.note("from".into(), from.matches(email), || (from.to_string(), email.clone()));
        }
        if let Some(to) = &self.to {
            let here = recipients(mailbox, stored);
            let got = || here.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            fared.note("to".into(), here.iter().any(|address| to.covers(address)), || (to.to_string(), got()));
        }
        if let Some(subject) = &self.subject {
            let text = &stored.summary.subject;
            fared.note(subject.named("subject"), subject.matches(text), || (subject.to_string(), shown(text)));
        }
        if let Some(body) = &self.body {
            let holds = body.matches(&letter.text) || letter.visible_html().is_some_and(|text| body.matches(&text));
            fared.note(body.named("body"), holds, || (body.to_string(), shown(&letter.text)));
        }
        for (name, value) in &self.header {
            let there: Vec<&str> = letter.header(name).collect();
            let got = || if there.is_empty() { "no such field".to_owned() } else { shown(&there.join(", ")) };
            fared.note(format!("header.{name}"), there.contains(&value.as_str()), || (value.clone(), got()));
        }
        for has in &self.has {
            has.judge(letter, &mut fared);
        }
        fared
    }

    /// Whether anything is asked for.
    pub fn is_empty(&self) -> bool {
        let Self { from, to, subject, body, header, has } = self;
        from.is_none() && to.is_none() && subject.is_none() && body.is_none() && header.is_empty() && has.is_empty()
    }
}

/// The recipients that led to this mailbox.
fn recipients<'a>(mailbox: &Mailbox, stored: &'a Stored) -> Vec<&'a Address> {
    let here = |recipient: &&mail::Recipient| recipient.mailbox == *mailbox;
    let named: Vec<&Address> = stored.envelope.recipients.iter().filter(here).map(|found| &found.address).collect();
    if named.is_empty() { stored.summary.rcpt_to.iter().collect() } else { named }
}

impl Fared {
    /// Whether all held.
    pub fn matches(&self) -> bool {
        self.failed.is_empty()
    }

    fn note(&mut self, matcher: String, holds: bool, why: impl FnOnce() -> (String, String)) {
        if holds {
            self.passed.push(matcher);
        } else {
            let (wanted, got) = why();
            self.failed.push(Failed { matcher, wanted, got });
        }
    }
}

impl AddressMatch {
    /// `user@host`, or `@host` for all of a domain.
    pub fn parse(text: &str) -> Self {
        let text = text.trim().to_lowercase();
        match text.strip_prefix('@') {
            Some(domain) => Self::Domain(domain.to_owned()),
            None => Self::Exact(text),
        }
    }

    fn covers(&self, address: &Address) -> bool {
        self.matches(&address.to_string())
    }

    fn matches(&self, email: &str) -> bool {
        let email = email.to_lowercase();
        match self {
            Self::Exact(wanted) => email == *wanted,
            Self::Domain(domain) => email.rsplit_once('@').is_some_and(|(_, host)| host == domain),
        }
    }
}

impl Folded {
    fn new(text: &str) -> Self {
        Self { written: text.to_owned(), folded: text.to_lowercase() }
    }
}

impl TextMatch {
    /// Equal, but for case.
    pub fn is(text: &str) -> Self {
        Self::Is(Folded::new(text))
    }

    /// Somewhere in it, but for case.
    pub fn contains(text: &str) -> Self {
        Self::Contains(Folded::new(text))
    }

    /// By an expression of at most so many characters.
    pub fn regex(text: &str, regex_max: usize) -> Result<Self, BadRegex> {
        if text.chars().count() > regex_max {
            return Err(BadRegex::Long(regex_max));
        }
        let built = RegexBuilder::new(text).size_limit(REGEX_SIZE_MAX).dfa_size_limit(REGEX_SIZE_MAX).build();
        built.map(Self::Regex).map_err(|error| BadRegex::Syntax(last_line(&error.to_string())))
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Is(wanted) => text.trim().to_lowercase() == wanted.folded,
            Self::Contains(wanted) => text.to_lowercase().contains(&wanted.folded),
            Self::Regex(regex) => regex.is_match(text),
        }
    }

    /// The word for how it compares.
    pub fn manner(&self) -> &'static str {
        match self {
            Self::Is(_) => "is",
            Self::Contains(_) => "contains",
            Self::Regex(_) => "regex",
        }
    }

    fn named(&self, field: &str) -> String {
        format!("{field}.{}", self.manner())
    }
}

/// The library points at the mistake with several lines; the last one says it in words.
fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

impl Has {
    /// As it is written.
    pub fn parse(text: &str) -> Result<Self, UnknownHas> {
        match text {
            "code" => Ok(Self::Code),
            "link" => Ok(Self::Link(None)),
            "attachment" => Ok(Self::Attachment),
            _ => {
                let kind = text.strip_prefix("link:").and_then(Kind::named).ok_or(UnknownHas)?;
                Ok(Self::Link(Some(kind)))
            }
        }
    }

    fn judge(self, letter: &Letter, fared: &mut Fared) {
        let name = format!("has.{self}");
        match self {
            Self::Code => {
                let pick = letter.extracted.code();
                let got = || of_pick(&pick, |code| format!("{} ({:.2})", code.value, code.confidence));
                fared.note(name, matches!(pick, Pick::One(_)), || ("one code that stands out".into(), got()));
            }
            Self::Link(kind) => {
                let pick = letter.extracted.link(kind);
                let wanted =
                    kind.map_or("one action link".into(), |kind| format!("one link of kind {}", kind.as_str()));
                let got = || of_pick(&pick, |link| format!("{} ({})", shown(&link.href), link.kind.as_str()));
                fared.note(name, matches!(pick, Pick::One(_)), || (wanted, got()));
            }
            Self::Attachment => {
                let holds = !letter.attachments.is_empty();
                fared.note(name, holds, || ("an attachment".into(), "none".into()));
            }
        }
    }
}

fn of_pick<T>(pick: &Pick<'_, T>, show: impl Fn(&T) -> String) -> String {
    match pick {
        Pick::None => "none".to_owned(),
        Pick::One(one) => show(one),
        Pick::Ambiguous(several) => {
            format!("ambiguous: {}", several.iter().map(|one| show(one)).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The beginning of a text, on one line.
fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

impl fmt::Display for AddressMatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(address) => out.write_str(address),
            Self::Domain(domain) => write!(out, "@{domain}"),
        }
    }
}

impl fmt::Display for TextMatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(text) | Self::Contains(text) => out.write_str(&text.written),
            Self::Regex(regex) => out.write_str(regex.as_str()),
        }
    }
}

impl fmt::Display for Has {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code => out.write_str("code"),
            Self::Link(None) => out.write_str("link"),
            Self::Link(Some(kind)) => write!(out, "link:{}", kind.as_str()),
            Self::Attachment => out.write_str("attachment"),
        }
    }
}

#[cfg(test)]
mod tests;
