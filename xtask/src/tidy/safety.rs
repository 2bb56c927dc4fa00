//! No `unsafe`, not even in a test or a tool. The lint forbids it per package; this finds a package without the lint.

use super::source::{line, words};
use super::{Tree, Violation};

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust() {
        let places = words(&file.code, "unsafe");
        found.extend(places.map(|at| Violation::new(&file.path, line(&file.code, at), "`unsafe` is not used here")));
    }
    for file in tree.files.iter().filter(|file| file.path.starts_with("crates/") && file.path.ends_with("/Cargo.toml"))
    {
        if !file.text.contains("[lints]\nworkspace = true") {
            found.push(Violation::new(
                &file.path,
                0,
                "does not take the workspace's lints: add `[lints] workspace = true`",
            ));
        }
    }
    found
}
