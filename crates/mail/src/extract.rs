//! What a test author looks for in a mail: the code to type, and the link to click.
//!
//! A pure function of a message's texts: nothing is executed, followed, unwrapped or looked up. Total on any text, in
//! time linear to it. It works in three steps: `blocks` makes lines, paragraphs and cells of the texts, and marks how
//! each looks; `codes` and `links` collect candidates from them; each candidate gets the signals that hold for it, and
//! [`signals`] says what they are worth. Nothing here knows MIME: what the texts are is the caller's word.

mod blocks;
mod codes;
mod links;
mod pick;
mod score;
pub mod signals;
#[cfg(test)]
mod tests;
mod words;

pub use pick::Pick;

use blocks::Document;

/// The texts to look in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sources<'a> {
    /// The subject, decoded.
    pub subject: &'a str,
    /// The author's address; may be empty.
    pub from: &'a str,
    /// The plain text part, if there is one.
    pub text: Option<Body<'a>>,
    /// The HTML part, if there is one.
    pub html: Option<Body<'a>>,
}

/// One part of the message, decoded.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    /// How the message names the part.
    pub part_id: &'a str,
    /// Its text.
    pub content: &'a str,
}

/// How much is read, and how much is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Octets of each text that are looked at.
    pub text_max: usize,
    /// Codes that are listed.
    pub codes_max: usize,
    /// Links that are listed.
    pub links_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { text_max: 256 * 1024, codes_max: 10, links_max: 200 }
    }
}

/// What was found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Extracted {
    /// Likely codes, the best first.
    pub codes: Vec<Code>,
    /// All links in order of appearance, each target once.
    pub links: Vec<Link>,
}

/// Something that may be the code to type.
#[derive(Clone, PartialEq, Debug)]
pub struct Code {
    /// What to type: ASCII, groups of digits joined.
    pub value: String,
    /// As it is shown.
    pub raw: String,
    /// From 0 to 1, see [`signals`].
    pub confidence: f64,
    /// Where the best occurrence stands.
    pub place: Place,
    /// The part that it stands in; none for the subject.
    pub part_id: Option<String>,
    /// The words around it.
    pub snippet: String,
    /// What spoke for it and against it, by the names of [`signals::CODES`].
    pub signals: Vec<&'static str>,
}

/// A link, and what it seems to be for.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// As it was sent.
    pub href: String,
    /// What is shown for it.
    pub text: String,
    /// What it is for.
    pub kind: Kind,
    /// Whether this is the one that the mail is about.
    pub action: bool,
    /// How likely it is the one that the mail is about, from 0 to 1.
    pub confidence: f64,
    /// Where it stands.
    pub place: Place,
    /// The part that it stands in.
    pub part_id: Option<String>,
    /// What spoke for it and against it, by the names of [`signals::LINKS`].
    pub signals: Vec<&'static str>,
}

/// Where something stands in a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Place {
    /// In the subject.
    Subject,
    /// In the plain text.
    #[default]
    Text,
    /// In the HTML.
    Html,
}

impl Place {
    /// The word for it in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Text => "text",
            Self::Html => "html",
        }
    }
}

/// What a link is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Confirms an address or an account.
    Verify,
    /// Sets a new password.
    Reset,
    /// Signs in without a password.
    MagicLogin,
    /// Ends a subscription.
    Unsubscribe,
    /// Anything else.
    Other,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Verify, Self::Reset, Self::MagicLogin, Self::Unsubscribe, Self::Other];

    /// The word for it in questions and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verify => "verify",
            Self::Reset => "reset",
            Self::MagicLogin => "magic-login",
            Self::Unsubscribe => "unsubscribe",
            Self::Other => "other",
        }
    }

    /// The kind of a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Find codes and links. Links come first, since a code that is also a parameter of the action link is more likely one.
pub fn extract(sources: &Sources<'_>, limits: &Limits) -> Extracted {
    let document = Document::read(sources, limits.text_max);
    let links = links::find(&document, sources.from, limits.links_max);
    let codes = codes::find(&document, &links, limits.codes_max);
    Extracted { codes, links }
}
