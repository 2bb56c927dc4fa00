//! One question: is there a course of events that explains all that was seen of a message?
//!
//! A message enters all of its mailboxes at one moment, or each at a moment of its own where several stores hold them,
//! and leaves each of them at one moment or never. Everything that
//! a client saw forbids some moments. Where none is left the server broke its word, whatever it says it did.
//!
//! An effect happens between two ticks: the moment `k` is the gap behind the tick `k`, so an effect within a span lies
//! in `begin ..= end - 1`. Two effects in one gap may have come in either order, which errs on the side of the server.

use super::super::history::{Entering, Span, Tick};

/// All that is known about a message in one of its mailboxes.
#[derive(Clone, Default, Debug)]
pub(super) struct Facts {
    /// It was there at some moment of each of these.
    pub(super) shown: Vec<Span>,
    /// It was not there at some moment of each of these: a list without it, a purge that was done.
    pub(super) missed: Vec<Span>,
    /// It left within each of these: a delete that was done. More than one can only be the same moment.
    pub(super) taken: Vec<Span>,
    /// It may have left within one of these: purges, deletes without an answer, the cap of a mailbox.
    pub(super) leaving: Vec<Span>,
}

/// When the message came in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    /// Before this round.
    Before,
    /// At some moment of this span.
    Within(Span),
    /// At some moment of this span, or never.
    Perhaps(Span),
    /// It may not have come in.
    Never,
}

/// Whether moments of entry explain all copies.
pub(super) fn explained(entry: Entry, copies: &[&Facts], entering: Entering) -> bool {
    let entered = |span| match entering {
        Entering::AtOnce => some_moment(span, copies),
        Entering::OneByOne => copies.iter().all(|copy| some_moment(span, &[copy])),
    };
    match entry {
        Entry::Before => enters(0, copies),
        Entry::Within(span) => entered(span),
        Entry::Perhaps(span) => unseen(copies) || entered(span),
        Entry::Never => unseen(copies),
    }
}

fn unseen(copies: &[&Facts]) -> bool {
    copies.iter().all(|facts| facts.shown.is_empty() && facts.taken.is_empty())
}

/// A later entry only helps with what missed the message, and only as soon as it is behind the beginning of that: so
/// these beginnings, and the earliest moment, are all that need to be tried.
fn some_moment(span: Span, copies: &[&Facts]) -> bool {
    let turns = copies.iter().flat_map(|facts| &facts.missed).map(|missed| missed.begin);
    let mut moments = turns.chain([span.begin]).filter(|moment| (span.begin..span.end).contains(moment));
    moments.any(|entry| enters(entry, copies))
}

fn enters(entry: Tick, copies: &[&Facts]) -> bool {
    copies.iter().all(|facts| leaves(entry, facts))
}

/// Whether there is a moment of leaving, or none at all, that fits to an entry at this moment.
fn leaves(entry: Tick, facts: &Facts) -> bool {
    if facts.shown.iter().any(|shown| entry >= shown.end) {
        return false;
    }
    let not_before = facts.shown.iter().chain(&facts.taken).map(|span| span.begin).fold(entry, Tick::max);
    let due = facts.missed.iter().filter(|missed| entry < missed.begin).chain(&facts.taken);
    let Some(before) = due.map(|span| span.end).min() else { return true };
    let mut chances = facts.leaving.iter().chain(&facts.taken);
    chances.any(|chance| chance.begin.max(not_before) < chance.end.min(before))
}
