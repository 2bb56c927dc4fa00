//! Every Rust file opens with `//!`: what it is, and what it deliberately does not know.

use super::{Tree, Violation};

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let bare = tree.rust().filter(|file| !file.text.starts_with("//! "));
    bare.map(|file| Violation::new(&file.path, 1, "opens without `//!`: say what this file is")).collect()
}
