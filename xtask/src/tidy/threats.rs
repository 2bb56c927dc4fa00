//! Threats and faults have numbers (`T024`, `F08`). A test that shows a defence carries its number in its name, and
//! `docs/security.md` says in a sentence what is attacked and what holds: neither without the other.

use std::collections::BTreeMap;

use super::source::{is_word, line, words};
use super::{Tree, Violation};

const BOOK: &str = "docs/security.md";

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let tested = tested(tree);
    let (told, mut found) = told(tree);
    for (number, (file, line)) in &tested {
        if !told.contains_key(number) {
            found.push(Violation::new(file, *line, format!("tests {number}, but {BOOK} has no sentence for it")));
        }
    }
    for (number, line) in &told {
        if !tested.contains_key(number) {
            found.push(Violation::new(BOOK, *line, format!("tells of {number}, but no test carries that number")));
        }
    }
    found
}

/// Numbers in the names of test functions and of dialogue files, each with the first place.
fn tested(tree: &Tree) -> BTreeMap<String, (String, usize)> {
    let mut found = BTreeMap::new();
    for file in tree.files.iter().filter(|file| file.path.contains("/tests/") || file.path.contains("/dialogues/")) {
        for number in leading_numbers(file.path.rsplit('/').next().unwrap_or_default()) {
            found.entry(number).or_insert((file.path.clone(), 1));
        }
    }
    for file in tree.rust() {
        for at in words(&file.code, "fn") {
            let name = file.code[at + 2..].trim_start();
            let name = &name[..name.bytes().position(|byte| !is_word(byte)).unwrap_or(name.len())];
            for number in leading_numbers(name) {
                found.entry(number).or_insert((file.path.clone(), line(&file.code, at)));
            }
        }
    }
    found
}

/// `t024_t025_deep_trees` → T024, T025.
fn leading_numbers(name: &str) -> Vec<String> {
    let parts: Vec<_> = name.split(['_', '.', '-']).collect();
    let numbers = parts.iter().take(parts.len().saturating_sub(1)).take_while(|part| is_number(&part.to_uppercase()));
    numbers.map(|part| part.to_uppercase()).collect()
}

fn is_number(text: &str) -> bool {
    let digits = match text.split_at_checked(1) {
        Some(("T", digits)) if digits.len() == 3 => digits,
        Some(("F", digits)) if digits.len() == 2 => digits,
        _ => return false,
    };
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The numbers of the book, each in a row of its own, `| T024 | attack | what holds |`, and what is wrong with the rows.
fn told(tree: &Tree) -> (BTreeMap<String, usize>, Vec<Violation>) {
    let mut numbers = BTreeMap::new();
    let mut found = Vec::new();
    let text = tree.file(BOOK).map(|file| file.text.as_str()).unwrap_or_default();
    for (at, row) in text.lines().enumerate() {
        let cells: Vec<_> = row.trim().trim_matches('|').split('|').map(str::trim).collect();
        if !row.starts_with('|') || !is_number(cells[0]) {
            continue;
        }
        if cells.len() < 3 || cells[1..].iter().any(|cell| cell.is_empty()) {
            found.push(Violation::new(BOOK, at + 1, format!("{} has no sentence", cells[0])));
        }
        if numbers.insert(cells[0].to_owned(), at + 1).is_some() {
            found.push(Violation::new(BOOK, at + 1, format!("{} is told twice", cells[0])));
        }
    }
    (numbers, found)
}
