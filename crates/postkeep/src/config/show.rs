//! The effective configuration as TOML, each value with where it came from. Passwords are not shown.

use std::fmt::Write;

use super::keys::{KEYS, Key};
use super::report::Origin;
use super::values::Value;

/// Column at which the origins begin, unless a value is longer.
const COLUMN: usize = 40;

/// Every key with its value and, behind it, its origin.
pub(crate) fn show(values: &[(Value, Origin)]) -> String {
    let mut out = String::new();
    let mut section = "";
    for (key, (value, origin)) in KEYS.iter().zip(values) {
        if key.split().0 != section {
            section = key.split().0;
            let gap = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}[{section}]");
        }
        line(&mut out, key, value, origin);
    }
    out
}

fn line(out: &mut String, key: &Key, value: &Value, origin: &Origin) {
    let setting = format!("{} = {}", key.split().1, key.kind.hidden(value));
    let _ = writeln!(out, "{setting:COLUMN$}  # {origin}{}", note(key, value));
}

/// What an empty host name comes to on this machine.
fn note(key: &Key, value: &Value) -> String {
    match (key.name, value) {
        ("smtp.hostname", Value::Text(name)) if name.is_empty() => format!(": {}", super::host::name()),
        _ => String::new(),
    }
}
