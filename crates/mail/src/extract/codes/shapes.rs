//! What a code looks like by itself: digits, groups of them, single characters, capitals and digits mixed.
//!
//! Works on runs of ASCII letters and digits; chains of runs joined by one blank or hyphen are tried first, then each
//! run alone.

use std::ops::RangeInclusive;

use super::Candidate;
use super::never;
use crate::extract::blocks::Block;
use crate::extract::score::Score;
use crate::extract::signals::{Signal, code as signal};

/// Fewest and most characters of a code.
pub(super) const LENGTHS: RangeInclusive<usize> = 4..=8;
const MIXED_LENGTHS: RangeInclusive<usize> = 5..=10;

/// Runs of a chain that are looked at together.
const CHAIN_MAX: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Shape {
    Digits6,
    Digits,
    Singles,
    /// Single characters, each in a block of its own.
    Boxes,
    Mixed,
    /// Small letters and digits.
    Lower,
    Capitals,
    /// A word and a number.
    Word,
    /// From `@host #code`.
    Bound,
}

impl Shape {
    pub(super) fn score(self) -> Score {
        let signals: &[&'static Signal] = match self {
            Self::Digits6 => &[signal::DIGITS6],
            Self::Digits => &[signal::DIGITS],
            Self::Singles | Self::Boxes => &[signal::SINGLES],
            Self::Mixed => &[signal::MIXED],
            Self::Lower => &[signal::LOWER],
            Self::Capitals => &[signal::CAPITALS],
            Self::Word => &[signal::MIXED, signal::WORD],
            Self::Bound => &[signal::BOUND],
        };
        signals.iter().copied().collect()
    }
}

/// ASCII letters and digits without a gap.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: usize,
    end: usize,
    digits: usize,
    capitals: usize,
}

impl Run {
    fn len(&self) -> usize {
        self.end - self.start
    }

    fn is_digits(&self) -> bool {
        self.digits == self.len()
    }

    /// Nothing but capitals and digits.
    fn is_upper(&self) -> bool {
        self.digits + self.capitals == self.len()
    }
}

/// What in a block has the shape of a code and is not certainly something else, the first ones of it.
pub(super) fn candidates(block: &Block, at: usize, candidates_max: usize) -> Vec<Candidate> {
    let mut taken = never::spans(block).into_iter().peekable();
    let runs = runs(block);
    let mut found: Vec<_> = bound(block, at).into_iter().collect();
    let mut index = 0;
    while index < runs.len() && found.len() < candidates_max {
        while taken.next_if(|taken| taken.end <= runs[index].start).is_some() {}
        let is_taken = taken.peek().is_some_and(|taken| taken.start < runs[index].end);
        let (length, shape) = if is_taken { (1, None) } else { longest(block, &runs[index..]) };
        let (start, end) = (runs[index].start, runs[index + length - 1].end);
        let shape = shape.filter(|_| !never::beside(block, start, end));
        found.extend(shape.map(|shape| candidate(block, at, shape, start, end)));
        index += length;
    }
    found
}

fn candidate(block: &Block, at: usize, shape: Shape, start: usize, end: usize) -> Candidate {
    let keeps_hyphen = matches!(shape, Shape::Mixed | Shape::Capitals | Shape::Word);
    let value = value(&block.folded[start..end], keeps_hyphen);
    let value = if shape == Shape::Lower { value.to_ascii_lowercase() } else { value };
    Candidate { value, raw: block.letters[start..end].iter().collect(), shape, block: at, start, end }
}

/// What to type: groups of digits joined, hyphens between capitals kept.
fn value(folded: &[char], keeps_hyphen: bool) -> String {
    let plain = folded.iter().map(|letter| if is_hyphen(*letter) { '-' } else { letter.to_ascii_uppercase() });
    plain.filter(|letter| letter.is_ascii_alphanumeric() || (keeps_hyphen && *letter == '-')).collect()
}

fn runs(block: &Block) -> Vec<Run> {
    let mut found: Vec<Run> = Vec::new();
    for (at, (folded, letter)) in block.folded.iter().zip(&block.letters).enumerate() {
        if !folded.is_ascii_alphanumeric() {
            continue;
        }
        if found.last().is_none_or(|run| run.end != at) {
            found.push(Run { start: at, end: at, digits: 0, capitals: 0 });
        }
        if let Some(run) = found.last_mut() {
            run.end = at + 1;
            run.digits += usize::from(folded.is_ascii_digit());
            run.capitals += usize::from(letter.is_uppercase());
        }
    }
    found
}

/// How many runs belong together, and what they are; none if they are no code.
fn longest(block: &Block, runs: &[Run]) -> (usize, Option<Shape>) {
    let chain = chain(block, runs);
    match joined(block, chain) {
        Some(shape) => (chain.len(), shape),
        None => (1, single(block, &runs[0])),
    }
}

/// Runs with the same one character between them.
fn chain<'r>(block: &Block, runs: &'r [Run]) -> &'r [Run] {
    let separator = |index: usize| match block.folded[runs[index].end..runs.get(index + 1)?.start] {
        [' '] => Some(' '),
        [one] if is_hyphen(one) => Some('-'),
        _ => None,
    };
    let Some(first) = separator(0) else { return &runs[..1] };
    let is_like = |run: &Run| match first {
        ' ' => run.is_digits() || (run.len() == 1 && run.is_upper()),
        _ => run.is_upper(),
    };
    let is_joined = |index: &usize| separator(index - 1) == Some(first) && is_like(&runs[*index]);
    let more = (1..runs.len().min(CHAIN_MAX)).take_while(is_joined).count();
    if is_like(&runs[0]) { &runs[..=more] } else { &runs[..1] }
}

/// What a chain is: `None` to look at its runs one by one, `Some(None)` if the whole is something else.
fn joined(block: &Block, chain: &[Run]) -> Option<Option<Shape>> {
    let [first, _, ..] = chain else { return None };
    let total: usize = chain.iter().map(Run::len).sum();
    let is_even = chain.iter().all(|run| run.len() == first.len());
    let is_hyphened = block.folded[first.end] != ' ';
    match () {
        () if is_even && first.len() == 1 && LENGTHS.contains(&total) && chain.iter().any(Run::is_digits) => {
            Some(Some(Shape::Singles))
        }
        () if chain.iter().all(Run::is_digits) => digits_joined(chain, total, is_even, is_hyphened),
        () if is_hyphened => Some(hyphened(block, chain, total)),
        () => None,
    }
}

/// `123 456`, `123-456`, `1234 5678`, `12 34 56`; much longer ones are phones, cards and accounts.
fn digits_joined(chain: &[Run], total: usize, is_even: bool, is_hyphened: bool) -> Option<Option<Shape>> {
    let length = chain[0].len();
    let is_grouped = length > 2 || (length == 2 && chain.len() == 3 && !is_hyphened);
    if is_even && is_grouped && LENGTHS.contains(&total) {
        return Some(Some(if total == 6 { Shape::Digits6 } else { Shape::Digits }));
    }
    let is_long = total >= 9 && chain.iter().all(|run| run.len() <= 5);
    (is_long || is_hyphened).then_some(None)
}

/// Capitals and digits with a hyphen: `G-482915`, `QKV-WTB`.
fn hyphened(block: &Block, chain: &[Run], total: usize) -> Option<Shape> {
    let [first, second] = chain else { return None };
    if !MIXED_LENGTHS.contains(&total) {
        return None;
    }
    match first.digits + second.digits {
        0 => (first.len() == second.len() && !is_spoken(block, first.start, second.end)).then_some(Shape::Capitals),
        _ if first.digits == 0 && second.is_digits() && first.len() > 2 => Some(Shape::Word),
        _ => Some(Shape::Mixed),
    }
}

fn single(block: &Block, run: &Run) -> Option<Shape> {
    let length = run.len();
    match run {
        _ if run.is_digits() && length == 6 => Some(Shape::Digits6),
        _ if run.is_digits() => LENGTHS.contains(&length).then_some(Shape::Digits),
        _ if run.capitals == 0 => is_lower_code(&block.folded[run.start..run.end], run.digits).then_some(Shape::Lower),
        _ if !run.is_upper() || !MIXED_LENGTHS.contains(&length) => None,
        _ if run.digits == 0 => (!is_spoken(block, run.start, run.end)).then_some(Shape::Capitals),
        _ if is_word_and_number(&block.folded[run.start..run.end]) => Some(Shape::Word),
        _ => Some(Shape::Mixed),
    }
}

/// Three letters and more, then digits and nothing else, as `SAVE20`.
fn is_word_and_number(letters: &[char]) -> bool {
    let word = letters.iter().take_while(|letter| letter.is_ascii_alphabetic()).count();
    word >= 3 && letters[word..].iter().all(char::is_ascii_digit)
}

/// Two digits and two small letters at least, and not the short form of a commit.
fn is_lower_code(letters: &[char], digits: usize) -> bool {
    let is_hash = letters.len() > 6 && letters.iter().all(char::is_ascii_hexdigit);
    (5..=8).contains(&letters.len())
        && digits >= 2
        && letters.len() - digits >= 2
        && !is_hash
        && !is_word_and_number(letters)
}

/// As many vowels as a word has.
fn is_spoken(block: &Block, start: usize, end: usize) -> bool {
    let letters = &block.folded[start..end];
    let vowels = letters.iter().filter(|letter| matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')).count();
    vowels * 6 > letters.len()
}

/// `@host #code`, the whole line.
fn bound(block: &Block, at: usize) -> Option<Candidate> {
    let hash = block.folded.iter().rposition(|letter| *letter == '#')?;
    let (start, end) = (hash + 1, block.folded.len());
    let code = &block.folded[start..];
    let host = block.folded[..hash].strip_prefix(&['@'])?.strip_suffix(&[' '])?;
    let is_host = host.contains(&'.') && !host.contains(&' ');
    let is_code = (4..=10).contains(&code.len()) && code.iter().all(char::is_ascii_alphanumeric);
    let value: String = block.letters[start..].iter().collect();
    let candidate = Candidate { value: value.clone(), raw: value, shape: Shape::Bound, block: at, start, end };
    (is_host && is_code).then_some(candidate)
}

pub(super) fn is_hyphen(letter: char) -> bool {
    matches!(letter, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}
