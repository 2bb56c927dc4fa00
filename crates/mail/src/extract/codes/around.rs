//! What stands around a candidate, as signals: each question is one line of [`Around::score`].

use std::collections::{HashMap, HashSet};

use super::columns;
use super::named::{Name, Names};
use super::{Candidate, Shape};
use crate::extract::blocks::{Block, Document, Region};
use crate::extract::score::Score;
use crate::extract::signals::code as signal;
use crate::extract::words::{self, Topic};
use crate::extract::{Link, Place};

/// Blocks before and behind in which a time to live counts.
const EXPIRY_REACH: usize = 3;

/// Blocks before and behind in which a word for a code counts.
const CUE_BLOCKS: usize = 2;

/// Blocks before and behind that are looked at, hidden ones among them.
const REACH_MAX: usize = 20;

/// What is known of a document before its candidates are judged.
pub(super) struct Around<'d> {
    document: &'d Document,
    names: Vec<Names>,
    /// Blocks that give a time in minutes or hours.
    lapses: Vec<bool>,
    /// Blocks that ask to enter something.
    asks: Vec<bool>,
    /// The first block of each column of a table.
    heads: HashMap<(usize, usize), usize>,
    /// How often a value stands in a place.
    counts: HashMap<(Place, &'d str), usize>,
    /// Values that are called something else, and nowhere a code.
    others: HashSet<&'d str>,
    /// Parameters and path segments of the action link.
    parameters: HashSet<&'d str>,
    columns: Vec<bool>,
}

impl<'d> Around<'d> {
    pub(super) fn read(document: &'d Document, links: &'d [Link], candidates: &'d [Candidate]) -> Self {
        let mut heads = HashMap::new();
        for (at, block) in document.blocks.iter().enumerate() {
            if let Some(cell) = block.cell {
                heads.entry((cell.table, cell.column)).or_insert(at);
            }
        }
        let mut counts = HashMap::new();
        for one in candidates {
            *counts.entry((document.blocks[one.block].place, one.value.as_str())).or_default() += 1;
        }
        let action = links.iter().find(|link| link.action);
        let parts = action.map(|link| link.href.split(['/', '?', '&', '=', '#', ';']));
        let mut around = Self {
            document,
            names: document.blocks.iter().map(Names::read).collect(),
            lapses: document.blocks.iter().map(gives_a_time).collect(),
            asks: document.blocks.iter().map(asks).collect(),
            heads,
            counts,
            others: HashSet::new(),
            parameters: parts.into_iter().flatten().collect(),
            columns: columns::of(document, candidates),
        };
        around.others = around.called_otherwise(candidates);
        around
    }

    fn called_otherwise(&self, candidates: &'d [Candidate]) -> HashSet<&'d str> {
        let called = |name: Name| {
            let is_called = move |one: &&Candidate| self.name(one) == Some(name);
            candidates.iter().filter(is_called).map(|one| one.value.as_str()).collect::<HashSet<_>>()
        };
        called(Name::Other).difference(&called(Name::Code)).copied().collect()
    }

    /// All that speaks for candidate number `order`, and against it.
    pub(super) fn score(&self, order: usize, one: &Candidate) -> Score {
        let block = self.block(one.block);
        let look = block.look(one.start);
        let name = self.name(one);
        let is_other = name == Some(Name::Other) || self.others.contains(one.value.as_str());
        let is_styled = look.is_styled(self.document.usual);
        let count = |place| self.counts.get(&(place, one.value.as_str())).copied().unwrap_or_default();
        let mut score = one.shape.score();
        score.add_if(name == Some(Name::Code) && !is_other, signal::CUE);
        score.add_if(name == Some(Name::Near) && !is_other, signal::NEAR);
        score.add_if(self.asks[one.block], signal::ASKED);
        score.add_if(self.is_alone(one), signal::ALONE);
        score.add_if(is_styled, signal::STYLED);
        score.add_if(look.bold && !is_styled && !self.document.usual.bold, signal::BOLD);
        score.add_if(count(Place::Subject) > 0, signal::SUBJECT);
        score.add_if(self.parameters.contains(one.value.as_str()), signal::PARAMETER);
        score.add_if(self.follows_a_colon(one, block), signal::COLON);
        score.add_if(self.lapses_soon(one.block), signal::EXPIRY);
        score.add_if(count(block.place) > 1, signal::AGAIN);
        score.add_if(is_other || is_numbered(block, one), signal::LABEL);
        score.add_if(is_year(one) && !self.names[one.block].announces(one.start), signal::YEAR);
        score.add_if(block.region == Region::Footer, signal::FOOTER);
        score.add_if(block.region == Region::Address && name != Some(Name::Code), signal::ADDRESS);
        score.add_if(block.region == Region::Quoted, signal::QUOTED);
        score.add_if(self.columns[order], signal::COLUMN);
        score.add_if(look.hidden, signal::HIDDEN);
        score
    }

    fn block(&self, at: usize) -> &'d Block {
        &self.document.blocks[at]
    }

    /// The blocks of the same part that stand before this one, the nearest first; hidden ones tell nothing.
    fn before(&self, at: usize) -> impl Iterator<Item = usize> {
        let same = self.block(at).place;
        let before = (0..at).rev().take(REACH_MAX).take_while(move |before| self.block(*before).place == same);
        before.filter(|before| !self.block(*before).look(0).hidden)
    }

    /// Likewise behind it.
    fn behind(&self, at: usize) -> impl Iterator<Item = usize> {
        let same = self.block(at).place;
        let behind = (at + 1..self.document.blocks.len())
            .take(REACH_MAX)
            .take_while(move |behind| self.block(*behind).place == same);
        behind.filter(|behind| !self.block(*behind).look(0).hidden)
    }

    /// By the words of its own block, then by the block before, by the head of its column, by what else is near.
    fn name(&self, one: &Candidate) -> Option<Name> {
        let block = self.block(one.block);
        let own = self.names[one.block].inside(block, one.start, one.end);
        let fills_block = fills(block, one) || one.shape == Shape::Boxes;
        let label = || self.before(one.block).next().filter(|_| fills_block).and_then(|at| self.names[at].of_next());
        let near = || self.is_near_a_cue(one.block).then_some(Name::Near);
        own.or_else(label).or_else(|| self.head(one.block, block)).or_else(near)
    }

    fn head(&self, at: usize, block: &Block) -> Option<Name> {
        let cell = block.cell?;
        let head = *self.heads.get(&(cell.table, cell.column))?;
        (head != at).then(|| self.names[head].of_next()).flatten()
    }

    /// A code is spoken of just before, or just behind together with the time that it is valid.
    fn is_near_a_cue(&self, at: usize) -> bool {
        let mut before = self.before(at).take(CUE_BLOCKS);
        let mut behind = self.behind(at).take(CUE_BLOCKS);
        before.any(|at| self.names[at].speaks_of_a_code())
            || behind.any(|at| self.names[at].speaks_of_a_code() && self.lapses[at])
    }

    /// Nothing else in the block, nor in a cell of the same row.
    fn is_alone(&self, one: &Candidate) -> bool {
        let block = self.block(one.block);
        let row = |at: usize| self.block(at).cell.map(|cell| (cell.table, cell.row));
        let own = row(one.block);
        let beside = || self.before(one.block).take(1).chain(self.behind(one.block).take(1));
        let has_words = |at: usize| self.block(at).letters.iter().any(|letter| letter.is_alphabetic());
        let is_entry = || own.is_some() && beside().any(|at| row(at) == own && has_words(at));
        one.shape == Shape::Boxes || (fills(block, one) && !is_entry())
    }

    fn follows_a_colon(&self, one: &Candidate, block: &Block) -> bool {
        let is_colon = |letter: &char| matches!(letter, ':' | '：');
        match block.folded[..one.start].iter().rev().find(|letter| **letter != ' ') {
            Some(letter) => is_colon(letter),
            None => self.before(one.block).next().is_some_and(|at| self.block(at).folded.last().is_some_and(is_colon)),
        }
    }

    fn lapses_soon(&self, at: usize) -> bool {
        let near = self.before(at).take(EXPIRY_REACH).chain([at]).chain(self.behind(at).take(EXPIRY_REACH));
        near.into_iter().any(|at| self.lapses[at])
    }
}

/// The sentence wants something done with it.
fn asks(block: &Block) -> bool {
    words::tells(&block.hits, Topic::Enter)
}

/// A number of minutes or hours.
fn gives_a_time(block: &Block) -> bool {
    let is_number = |letter: Option<&char>| letter.is_some_and(char::is_ascii_digit);
    block.hits.iter().filter(|hit| hit.topic == Topic::Lasts).any(|hit| {
        let before = block.folded[..hit.start].iter().rev().take(2).find(|letter| !matches!(letter, ' ' | '-'));
        let after = block.folded[hit.end..].iter().find(|letter| **letter != ' ');
        is_number(before) || is_number(after)
    })
}

/// Nothing else in the block but marks.
fn fills(block: &Block, one: &Candidate) -> bool {
    let own = block.letters[one.start..one.end].iter().filter(|letter| letter.is_alphanumeric());
    own.count() == block.worded
}

/// `#` or `№` before it, or the brackets that programs for tickets put into subjects.
fn is_numbered(block: &Block, one: &Candidate) -> bool {
    let last = block.folded[..one.start].iter().rev().find(|letter| **letter != ' ');
    let next = block.folded[one.end..].first();
    let is_bracketed = block.place == Place::Subject && last == Some(&'[') && next == Some(&']');
    one.shape != Shape::Bound && (is_bracketed || last.is_some_and(|letter| matches!(letter, '#' | '№' | '＃' | '〒')))
}

/// A year, or eight digits that are a date.
fn is_year(one: &Candidate) -> bool {
    let part = |from: usize, to: usize| one.value.get(from..to).and_then(|part| part.parse::<u32>().ok());
    let is = |part: Option<u32>, range: std::ops::Range<u32>| part.is_some_and(|part| range.contains(&part));
    let (year, month, day) = (1900..2100, 1..13, 1..32);
    match one.value.len() {
        4 => is(part(0, 4), year),
        8 if is(part(0, 4), year.clone()) => is(part(4, 6), month) && is(part(6, 8), day),
        8 => is(part(4, 8), year) && is(part(0, 2), day.clone()) && is(part(2, 4), day),
        _ => false,
    }
}
