//! Nothing unfinished and nothing left over from looking for a mistake.

use super::source::{line, words};
use super::{Tree, Violation};

const UNFINISHED: &[&str] = &["todo!", "unimplemented!", "dbg!"];

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust() {
        for word in UNFINISHED {
            let name = word.trim_end_matches('!');
            let calls = words(&file.code, name).filter(|at| file.code[at + name.len()..].starts_with('!'));
            found.extend(calls.map(|at| Violation::new(&file.path, line(&file.code, at), format!("`{word}` is left"))));
        }
    }
    found
}
