//! The language of a search, and whether a message matches. Pure: what is looked at, in which order and how far, is the
//! engines' business; that a query means the same to all of them is this room's.
//!
//! `from:@shop.test subject:"reset link" header:X-Test-Run=42 has:attachment -welcome larger:1MB`
//!
//! All terms must hold; `-` turns one round. A word, or a phrase in quotes, is looked for in the subject, the people, the
//! names of attachments and the body. An address is meant exactly, `@host` is its domain, everything else is a part of
//! the text; case, and how white space is written, make no difference. There is no OR and no pattern: every term is
//! looked for in one pass (T036).

use jiff::Timestamp;
use memchr::memmem::Finder;

use crate::{Envelope, Letter, Summary};

mod fold;
mod has;
mod parse;
#[cfg(test)]
mod tests;
mod texts;
mod values;

pub use fold::fold;
pub use has::THINGS;
pub use parse::{BadQuery, KEYS};
pub use texts::{COLUMNS, Column, Texts};

use has::Thing;

/// Bytes of a query.
pub const TEXT_MAX: usize = 2_048;
/// Terms of a query.
pub const TERMS_MAX: usize = 32;

/// What is searched for.
#[derive(Clone, Debug, Default)]
pub struct Query {
    text: String,
    terms: Vec<Term>,
}

/// What a summary tells about a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Glance {
    /// It matches, whatever the body says.
    Yes,
    /// It cannot match.
    No,
    /// The whole message decides.
    Maybe,
}

/// A text that must stand in one of some columns of every match: what an index can look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needle<'q> {
    /// In one of these.
    pub columns: &'static [Column],
    /// Folded; it may hold the marks that [`Texts`] sets around whole values.
    pub text: &'q str,
}

#[derive(Clone, Debug)]
struct Term {
    /// Whether the test must hold, or must not.
    wanted: bool,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    /// This text, in one of these columns.
    Text { columns: &'static [Column], finder: Box<Finder<'static>> },
    /// More bytes than this.
    Larger(u64),
    /// Fewer bytes than this.
    Smaller(u64),
    /// Received then or later.
    After(Timestamp),
    /// Received earlier.
    Before(Timestamp),
    /// Something is in it.
    Has(Thing),
}

impl Query {
    /// Read a query. Total and linear: any text gives a query, or says what is wrong with it and what to write.
    pub fn parse(text: &str) -> Result<Self, BadQuery> {
        parse::terms(text).map(|terms| Self { text: text.to_owned(), terms })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it has no term, so that everything matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// What the summary says already.
    pub fn glance(&self, summary: &Summary) -> Glance {
        let texts = Texts::of_summary(summary);
        let mut glance = Glance::Yes;
        for term in &self.terms {
            match term.on_summary(summary, &texts) {
                Some(true) => {}
                Some(false) => return Glance::No,
                None => glance = Glance::Maybe,
            }
        }
        glance
    }

    /// Whether a message matches. The summary is the one that stands in its mailbox.
    pub fn matches(&self, summary: &Summary, envelope: &Envelope, letter: &Letter) -> bool {
        match self.glance(summary) {
            Glance::Yes => true,
            Glance::No => false,
            Glance::Maybe => {
                let texts = Texts::of(summary, envelope, letter);
                self.terms.iter().all(|term| term.holds(summary, &texts, letter))
            }
        }
    }

    /// Whether codes and links must be looked for to judge a message.
    pub fn asks_for_finds(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.test, Test::Has(Thing::Code | Thing::Link(_))))
    }

    /// What must stand in every match, as far as it can be looked for in an index.
    pub fn needles(&self) -> impl Iterator<Item = Needle<'_>> {
        self.terms.iter().filter(|term| term.wanted).filter_map(|term| match &term.test {
            Test::Text { columns: [Column::Tag], .. } => None,
            Test::Text { columns, finder } => {
                std::str::from_utf8(finder.needle()).ok().map(|text| Needle { columns, text })
            }
            _ => None,
        })
    }
}

impl Term {
    /// Whether it holds, when the summary is enough to tell.
    fn on_summary(&self, summary: &Summary, texts: &Texts) -> Option<bool> {
        let found = match &self.test {
            Test::Text { columns, finder } => {
                let found = columns.iter().any(|column| texts.holds(*column, finder));
                if !found && !columns.iter().all(|column| texts.knows(*column)) {
                    return None;
                }
                found
            }
            Test::Has(_) => return None,
            test => test.of_summary(summary),
        };
        Some(found == self.wanted)
    }

    fn holds(&self, summary: &Summary, texts: &Texts, letter: &Letter) -> bool {
        let found = match &self.test {
            Test::Text { columns, finder } => columns.iter().any(|column| texts.holds(*column, finder)),
            Test::Has(thing) => thing.is_in(letter),
            test => test.of_summary(summary),
        };
        found == self.wanted
    }
}

impl Test {
    /// For the tests that need nothing else.
    fn of_summary(&self, summary: &Summary) -> bool {
        match *self {
            Self::Larger(bytes) => summary.size > bytes,
            Self::Smaller(bytes) => summary.size < bytes,
            Self::After(at) => summary.received_at >= at,
            Self::Before(at) => summary.received_at < at,
            Self::Text { .. } | Self::Has(_) => false,
        }
    }
}
