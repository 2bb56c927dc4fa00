//! Plain text as blocks: each line is one, with the look of nothing special.

use super::{Block, Look};
use crate::extract::Place;

pub(super) fn read(text: &str, place: Place) -> Vec<Block> {
    text.lines().filter_map(|line| block(line, place)).collect()
}

fn block(line: &str, place: Place) -> Option<Block> {
    let mut block = Block::new(place);
    line.chars().for_each(|letter| block.put(letter, Look::default()));
    block.finish()
}
