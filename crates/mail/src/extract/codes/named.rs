//! What the words near a candidate call it: a code, or another number. The nearest word decides, in the block itself,
//! then in what stands just before it.

use crate::extract::blocks::Block;
use crate::extract::words::{self, Hit, Topic};

/// Characters between a word for another number and the number; more of them if a mark says that it belongs to it.
const LABEL_REACH: usize = 14;
const MARKED_REACH: usize = 28;

/// Characters of a block before that is read as the label of the next.
const LABEL_BLOCK_MAX: usize = 48;

/// Characters between a word for a code and the code, so that nothing else can be meant.
const CLOSE: usize = 24;

/// Characters around a candidate in which a word for a code counts.
const CUE_REACH: usize = 160;

/// What a candidate is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    /// A code, in the words right beside it.
    Code,
    /// A code is spoken of.
    Near,
    Other,
}

/// The telling words of one block, in order.
#[derive(Default)]
pub(super) struct Names {
    hits: Vec<Hit>,
    length: usize,
}

impl Names {
    pub(super) fn read(block: &Block) -> Self {
        let mut hits = words::of(&block.hits, |topic| matches!(topic, Topic::Code | Topic::Number));
        compound(&mut hits, &block.folded);
        Self { hits, length: block.folded.len() }
    }

    /// What the words of its own block call a candidate: the last one before it, or one that follows.
    pub(super) fn inside(&self, block: &Block, start: usize, end: usize) -> Option<Name> {
        let (before, behind) = self.hits.split_at(self.hits.partition_point(|hit| hit.end <= start));
        let last = before.last();
        if last.is_some_and(|hit| hit.topic == Topic::Number && is_label(&block.folded[hit.end..start])) {
            return Some(Name::Other);
        }
        let is_code = |hit: &&Hit| hit.topic == Topic::Code;
        let is_close = last.filter(is_code).is_some_and(|hit| hit.end + CLOSE >= start)
            || behind.first().filter(is_code).is_some_and(|hit| hit.start <= end + CLOSE);
        if is_close {
            return Some(Name::Code);
        }
        let before = before.iter().rev().take_while(|hit| hit.end + CUE_REACH >= start);
        let behind = behind.iter().take_while(|hit| hit.start <= end + CUE_REACH);
        before.chain(behind).any(|hit| is_code(&hit)).then_some(Name::Near)
    }

    /// Whether a word for a code stands right before a candidate.
    pub(super) fn announces(&self, start: usize) -> bool {
        let before = self.hits.partition_point(|hit| hit.end <= start).checked_sub(1).map(|last| self.hits[last]);
        before.is_some_and(|hit| hit.topic == Topic::Code && hit.end + CLOSE >= start)
    }

    /// What this block calls the one that stands alone behind it.
    pub(super) fn of_next(&self) -> Option<Name> {
        match self.hits.last()?.topic {
            Topic::Number if self.length <= LABEL_BLOCK_MAX => Some(Name::Other),
            Topic::Code if self.length <= LABEL_BLOCK_MAX => Some(Name::Code),
            _ => self.speaks_of_a_code().then_some(Name::Near),
        }
    }

    pub(super) fn speaks_of_a_code(&self) -> bool {
        self.hits.iter().any(|hit| hit.topic == Topic::Code)
    }
}

/// Nothing between a label and its number but a few words of the same clause, and no other number.
fn is_label(between: &[char]) -> bool {
    if between.len() > MARKED_REACH || between.iter().any(|letter| is_end(*letter) || letter.is_ascii_digit()) {
        return false;
    }
    let is_marked = between.iter().any(|letter| matches!(letter, ':' | '：' | '°' | 'º' | '#' | '№'));
    is_marked || between.len() <= LABEL_REACH
}

fn is_end(letter: char) -> bool {
    matches!(letter, '!' | '?' | ';' | '|' | '。' | '·' | ',' | '，' | '、' | '،' | '！')
}

/// "Promo code", "código de descuento": a word for a code beside one for another number is part of that.
fn compound(hits: &mut [Hit], folded: &[char]) {
    for at in 1..hits.len() {
        let (a, b) = (hits[at - 1], hits[at]);
        let between = &folded[a.end..b.start];
        let is_one =
            between.len() <= 4 && between.iter().all(|letter| letter.is_alphabetic() || matches!(letter, ' ' | '-'));
        if is_one && a.topic != b.topic {
            (hits[at - 1].topic, hits[at].topic) = (Topic::Number, Topic::Number);
        }
    }
}
