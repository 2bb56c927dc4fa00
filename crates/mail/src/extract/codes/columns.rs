//! Candidates that stand in a column with others like them: the lines of an invoice, a list of spare codes.

use std::collections::{HashMap, HashSet};

use super::{Candidate, Shape};
use crate::extract::Place;
use crate::extract::blocks::{Block, Document};

/// So many different ones make a column.
const ALIKE: usize = 3;

/// Characters before a candidate in which the word before it is looked for.
const LEAD_MAX: usize = 20;

/// What candidates of one column have in common.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Column {
    place: Place,
    shape: Shape,
    length: usize,
    cell: Option<(usize, usize)>,
    /// Outside of tables: whether it begins its line, and the word before it.
    lead: String,
}

/// For each candidate, whether it is one of several.
pub(super) fn of(document: &Document, candidates: &[Candidate]) -> Vec<bool> {
    let columns: Vec<_> = candidates.iter().map(|one| column(&document.blocks[one.block], one)).collect();
    let mut values: HashMap<&Column, HashSet<&str>> = HashMap::new();
    for (column, candidate) in columns.iter().zip(candidates) {
        values.entry(column).or_default().insert(&candidate.value);
    }
    columns.iter().map(|column| values[column].len() >= ALIKE).collect()
}

fn column(block: &Block, candidate: &Candidate) -> Column {
    let cell = block.cell.map(|cell| (cell.table, cell.column));
    let lead = if cell.is_some() { String::new() } else { lead(block, candidate) };
    Column { place: block.place, shape: candidate.shape, length: candidate.value.len(), cell, lead }
}

fn lead(block: &Block, candidate: &Candidate) -> String {
    let before = &block.folded[candidate.start.saturating_sub(LEAD_MAX)..candidate.start];
    let word = before.strip_suffix(&[' ']).unwrap_or(before).rsplit(|letter| *letter == ' ').next();
    word.unwrap_or_default().iter().collect()
}
