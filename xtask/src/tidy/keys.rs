//! Every key of the configuration is told in `docs/configuration.md`.

use toml::{Table, Value};

use super::{Tree, Violation};

const DEFAULTS: &str = "crates/postkeep/config.default.toml";
const REFERENCE: &str = "docs/configuration.md";

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let (Some(defaults), Some(reference)) = (tree.file(DEFAULTS), tree.file(REFERENCE)) else { return Vec::new() };
    let table: Table = match defaults.text.parse() {
        Ok(table) => table,
        Err(error) => return vec![Violation::new(DEFAULTS, 0, format!("is no TOML: {error}"))],
    };
    let untold = keys("", &table).into_iter().filter(|key| !reference.text.contains(&format!("`{key}`")));
    untold.map(|key| Violation::new(REFERENCE, 0, format!("does not tell of `{key}`"))).collect()
}

fn keys(prefix: &str, table: &Table) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in table {
        let key = format!("{prefix}{key}");
        match value {
            Value::Table(inner) => found.extend(keys(&format!("{key}."), inner)),
            _ => found.push(key),
        }
    }
    found
}
