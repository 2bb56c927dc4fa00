//! Only the wiring names an engine; everybody else knows the trait.

use super::source::{line, without_tests, words};
use super::{Tree, Violation};

const WIRING: &str = "crates/postkeep/src/assembly.rs";
/// Types and modules of the engines, as they are written behind `store::`.
const ENGINES: &[&str] = &["Memory", "memory"];

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    let elsewhere = |path: &str| path.starts_with("crates/") && !path.starts_with("crates/store") && path != WIRING;
    for file in tree.rust().filter(|file| elsewhere(&file.path) && !file.is_test()) {
        let code = without_tests(&file.code);
        let crates = ["store", "store_disk", "store_jetstream"].iter().flat_map(|name| words(&code, name));
        for at in crates {
            if names_engine(&code[at..]) {
                let what = format!("names an engine: only {WIRING} does, others take `dyn Store`");
                found.push(Violation::new(&file.path, line(&code, at), what));
            }
        }
    }
    found
}

/// Whether the path that begins here, or the braces of its `use`, hold the name of an engine.
fn names_engine(code: &str) -> bool {
    if code.starts_with("store_") {
        return true;
    }
    let Some(path) = code.strip_prefix("store::") else { return false };
    let reach =
        if path.starts_with('{') { path.find('}') } else { path.find(|c: char| !c.is_alphanumeric() && c != '_') };
    let path = &path[..reach.unwrap_or(path.len())];
    ENGINES.iter().any(|engine| words(path, engine).next().is_some())
}
