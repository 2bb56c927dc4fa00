//! The texts of a message in which terms are looked for, folded, in columns. Matching and every index see these same
//! texts, so that both mean the same.
//!
//! Values stand one beside the other with marks between them that no value can hold: folding leaves no control character.

use memchr::memmem::Finder;

use crate::letter::TextSource;
use crate::mime::html::render;
use crate::summary::{Author, RCPT_MAX, Summary};
use crate::{Address, Envelope, Letter};

use super::fold::fold_into;

/// Stands before a value that can be meant as a whole.
pub(super) const OPEN: char = '\u{1}';
/// Stands behind it.
pub(super) const CLOSE: char = '\u{2}';
/// Stands between the name of a header field and its value.
pub(super) const IS: char = '\u{3}';

/// Where a term may stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is a key of the language")]
pub enum Column {
    Subject,
    From,
    Rcpt,
    To,
    Cc,
    Filename,
    Header,
    Body,
    Tag,
}

/// Every column that an index keeps, in its order. Tags are in the summary, which is looked at anyway.
pub const COLUMNS: [Column; 8] = [
    Column::Subject,
    Column::From,
    Column::Rcpt,
    Column::To,
    Column::Cc,
    Column::Filename,
    Column::Header,
    Column::Body,
];

/// Where a word without a key is looked for.
pub(super) const ANYWHERE: &[Column] =
    &[Column::Subject, Column::From, Column::Rcpt, Column::To, Column::Cc, Column::Filename, Column::Body];

/// The texts of one message.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Texts {
    columns: [String; 9],
    /// Whether a column was read, and read whole.
    known: [bool; 9],
}

impl Texts {
    /// What the summary tells.
    pub(super) fn of_summary(summary: &Summary) -> Self {
        let mut texts = Self::default();
        texts.put(Column::Subject, |out| fold_into(out, &summary.subject));
        texts.put(Column::From, |out| person(out, &summary.from));
        texts.put(Column::Tag, |out| summary.tags.iter().for_each(|tag| whole(out, tag)));
        texts.put(Column::Rcpt, |out| recipients(out, summary.rcpt_to.iter()));
        // With this many there may be more in the envelope.
        texts.known[Column::Rcpt as usize] = summary.rcpt_to.len() < RCPT_MAX || summary.other_recipients == 0;
        texts
    }

    /// Everything that a message holds.
    pub fn of(summary: &Summary, envelope: &Envelope, letter: &Letter) -> Self {
        let mut texts = Self::of_summary(summary);
        texts.put(Column::Rcpt, |out| recipients(out, led_here(summary, envelope)));
        texts.put(Column::To, |out| letter.to.iter().for_each(|to| person(out, to)));
        texts.put(Column::Cc, |out| letter.cc.iter().for_each(|cc| person(out, cc)));
        texts.put(Column::Filename, |out| letter.attachments.iter().for_each(|file| line(out, &file.name)));
        texts.put(Column::Header, |out| letter.headers.iter().for_each(|(name, value)| field(out, name, value)));
        texts.put(Column::Body, |out| body(out, letter));
        texts
    }

    /// The text of a column; empty when there is none.
    pub fn column(&self, column: Column) -> &str {
        &self.columns[column as usize]
    }

    /// Whether a column was read whole.
    pub(super) fn knows(&self, column: Column) -> bool {
        self.known[column as usize]
    }

    pub(super) fn holds(&self, column: Column, finder: &Finder<'_>) -> bool {
        finder.find(self.column(column).as_bytes()).is_some()
    }

    fn put(&mut self, column: Column, write: impl FnOnce(&mut String)) {
        let mut text = String::new();
        write(&mut text);
        self.columns[column as usize] = text;
        self.known[column as usize] = true;
    }
}

/// The recipients that led to the mailbox of this summary: no other recipient of the transaction is found here, so that
/// nobody learns of a blind copy to somebody else.
fn led_here<'a>(summary: &'a Summary, envelope: &'a Envelope) -> impl Iterator<Item = &'a Address> {
    let first = summary.rcpt_to.first();
    let mailbox = envelope.recipients.iter().find(|to| Some(&to.address) == first).map(|to| &to.mailbox);
    let from_envelope = envelope.recipients.iter().filter(move |to| Some(&to.mailbox) == mailbox).map(|to| &to.address);
    let kept = if mailbox.is_none() { summary.rcpt_to.as_slice() } else { &[] };
    kept.iter().chain(from_envelope)
}

fn recipients<'a>(out: &mut String, addresses: impl Iterator<Item = &'a Address>) {
    addresses.for_each(|address| whole(out, &address.to_string()));
}

/// A name, and the address as a whole: a name that looks like an address is not taken for one.
fn person(out: &mut String, author: &Author) {
    line(out, &author.name);
    whole(out, &author.email);
}

fn line(out: &mut String, text: &str) {
    fold_into(out, text);
    out.push('\n');
}

fn whole(out: &mut String, text: &str) {
    out.push(OPEN);
    fold_into(out, text);
    out.push(CLOSE);
}

fn field(out: &mut String, name: &str, value: &str) {
    out.push(OPEN);
    fold_into(out, name);
    out.push(IS);
    fold_into(out, value);
    out.push(CLOSE);
}

/// The text, and the text of the HTML where that is another part.
fn body(out: &mut String, letter: &Letter) {
    line(out, &letter.text);
    if let (Some(html), TextSource::Plain) = (&letter.html, letter.text_source) {
        fold_into(out, &render(html));
    }
}
