//! Crates that may not come in, by whichever way: looked for in the lock file, so no extra tool is needed. One that the
//! lock file names and nothing is built with, as the feature that would want it is off, is no harm. Which crates
//! and why is told in `deny.toml` too, for those who run cargo-deny.

use super::{Tree, Violation};

/// (crate, what to take instead).
const BANNED: &[(&str, &str)] = &[
    ("bincode", "postcard"),
    ("figment", "our own merge over toml"),
    ("lettre", "our own validated paths"),
    ("native-tls", "rustls"),
    ("openssl", "rustls"),
    ("openssl-sys", "rustls"),
    ("ring", "aws-lc-rs"),
    ("rustls-pemfile", "rustls-pki-types"),
    ("time", "jiff"),
];

/// Crates that may be there once only, as each copy costs minutes or divides the program in two.
const ONCE: &[&str] = &["aws-lc-sys", "axum", "hyper", "tokio"];

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let locks = tree.files.iter().filter(|file| file.path == "Cargo.lock" || file.path.ends_with("/Cargo.lock"));
    let unbuilt = |path: &str| if path == "Cargo.lock" { tree.unbuilt.as_slice() } else { &[] };
    locks.flat_map(|file| lock(&file.path, &file.text, unbuilt(&file.path))).collect()
}

fn lock(path: &str, text: &str, unbuilt: &[String]) -> Vec<Violation> {
    let names: Vec<(usize, &str)> =
        text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, name(line)?))).collect();
    let mut found = Vec::new();
    for (position, (line, name)) in names.iter().enumerate() {
        if let Some((_, instead)) = BANNED.iter().find(|(banned, _)| banned == name)
            && !unbuilt.iter().any(|unbuilt| unbuilt == name)
        {
            found.push(Violation::new(path, *line, format!("{name} is banned: take {instead}")));
        }
        if ONCE.contains(name) && names[..position].iter().any(|(_, before)| before == name) {
            found.push(Violation::new(
                path,
                *line,
                format!("a second version of {name}: `cargo tree -d` shows who wants it"),
            ));
        }
    }
    found
}

fn name(line: &str) -> Option<&str> {
    line.strip_prefix("name = \"")?.strip_suffix('"')
}
