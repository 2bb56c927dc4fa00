//! Codes that are drawn as boxes: four to eight blocks one after the other, each a single character.

use super::Candidate;
use super::shapes::{LENGTHS, Shape};
use crate::extract::blocks::Block;

pub(super) fn candidates(blocks: &[Block]) -> Vec<Candidate> {
    let is_one = |a: &Block, b: &Block| is_box(a) && is_box(b) && a.place == b.place;
    let mut at = 0;
    let mut found = Vec::new();
    for boxes in blocks.chunk_by(is_one) {
        found.extend(candidate(boxes, at));
        at += boxes.len();
    }
    found
}

fn is_box(block: &Block) -> bool {
    matches!(block.folded[..], [letter] if letter.is_ascii_alphanumeric())
}

fn candidate(boxes: &[Block], at: usize) -> Option<Candidate> {
    let letters = || boxes.iter().filter_map(|block| block.folded.first());
    if !LENGTHS.contains(&boxes.len()) || !letters().any(char::is_ascii_digit) {
        return None;
    }
    let value: String = letters().map(char::to_ascii_uppercase).collect();
    let raw: Vec<String> = boxes.iter().map(Block::text).collect();
    Some(Candidate { value, raw: raw.join(" "), shape: Shape::Boxes, block: at, start: 0, end: 1 })
}
