//! The repository tests itself: what reviewers would otherwise have to see every time. Each rule is one function in a
//! file of its own, takes the whole tree and lists every violation; nothing here changes a file.

mod banned;
mod engines;
mod keys;
mod leaving;
mod length;
mod links;
mod opening;
mod page;
mod places;
mod safety;
mod session;
mod source;
#[cfg(test)]
mod tests;
mod threats;
mod tree;
mod unfinished;
mod walls;

use std::fmt;

use anyhow::{Result, bail};

use crate::args::Args;
use crate::shell::root;
use tree::Tree;

/// Something that the repository does not want, and where.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Violation {
    file: String,
    /// Counted from 1; 0 for the file as a whole.
    line: usize,
    what: String,
}

impl Violation {
    fn new(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self { file: file.into(), line, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(out, "{}: {}", self.file, self.what),
            line => write!(out, "{}:{line}: {}", self.file, self.what),
        }
    }
}

/// A rule of the house.
type Rule = fn(&Tree) -> Vec<Violation>;

const RULES: &[Rule] = &[
    banned::rule,
    engines::rule,
    keys::rule,
    leaving::rule,
    length::rule,
    links::rule,
    opening::rule,
    page::rule,
    places::rule,
    safety::rule,
    session::rule,
    threats::rule,
    unfinished::rule,
    walls::rule,
];

/// `cargo xtask tidy`.
pub(crate) fn run(args: Args) -> Result<()> {
    args.finish()?;
    check()
}

/// Every rule over the whole tree; all violations at once.
pub(crate) fn check() -> Result<()> {
    let tree = Tree::read(root())?;
    let mut found: Vec<_> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    found.sort();
    for violation in &found {
        println!("{violation}");
    }
    if !found.is_empty() {
        bail!("tidy: {} violations", found.len());
    }
    println!("tidy: {} rules hold over {} files", RULES.len(), tree.files.len());
    Ok(())
}
