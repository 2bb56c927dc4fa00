//! The code to type. Shapes are found in every block; what stands around them decides.

use std::collections::HashMap;

use super::blocks::Document;
use super::score::{LISTED, Score};
use super::{Code, Link};

mod around;
mod boxes;
mod columns;
mod named;
mod never;
mod shapes;
#[cfg(test)]
mod tests;

use around::Around;
use shapes::Shape;

/// Characters on each side of a code in its snippet.
const SNIPPET: usize = 40;

/// Candidates that are looked at; a mail with more is a table.
const CANDIDATES_MAX: usize = 2000;

/// Something that has the shape of a code.
#[derive(Clone, Debug)]
struct Candidate {
    value: String,
    raw: String,
    shape: Shape,
    block: usize,
    /// Characters of the block.
    start: usize,
    end: usize,
}

/// The likely codes, the best first.
pub(super) fn find(document: &Document, links: &[Link], codes_max: usize) -> Vec<Code> {
    let candidates = candidates(document);
    let around = Around::read(document, links, &candidates);
    let mut best: HashMap<&str, (Score, &Candidate, usize)> = HashMap::new();
    for (order, candidate) in candidates.iter().enumerate() {
        let score = around.score(order, candidate);
        let kept = best.get(candidate.value.as_str());
        if kept.is_none_or(|(kept, ..)| score.points() > kept.points()) {
            best.insert(&candidate.value, (score, candidate, order));
        }
    }
    let mut best: Vec<_> = best.into_values().filter(|(score, ..)| score.confidence() >= LISTED).collect();
    best.sort_by_key(|(score, _, order)| (std::cmp::Reverse(score.points()), *order));
    best.truncate(codes_max);
    best.into_iter().map(|(score, candidate, _)| candidate.told(document, &score)).collect()
}

fn candidates(document: &Document) -> Vec<Candidate> {
    let mut found = boxes::candidates(&document.blocks);
    for (at, block) in document.blocks.iter().enumerate() {
        if found.len() < CANDIDATES_MAX {
            found.extend(shapes::candidates(block, at, CANDIDATES_MAX - found.len()));
        }
    }
    found
}

impl Candidate {
    fn told(&self, document: &Document, score: &Score) -> Code {
        let block = &document.blocks[self.block];
        let (start, end) = (self.start.saturating_sub(SNIPPET), (self.end + SNIPPET).min(block.letters.len()));
        let snippet: String = block.letters[start..end].iter().collect();
        let snippet = if self.shape == Shape::Boxes { self.raw.clone() } else { snippet.trim().to_owned() };
        Code {
            value: self.value.clone(),
            raw: self.raw.clone(),
            confidence: score.confidence(),
            place: block.place,
            part_id: document.part_id(block.place),
            snippet,
            signals: score.names(),
        }
    }
}
