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

/// Who may want one of them all the same: (crate, by whom). What they do with it is not told to us.
const BELOW: &[(&str, &[&str])] = &[("time", &["asn1-rs", "rcgen", "x509-parser", "yasna"])];

/// Crates that may be there once only, as each copy costs minutes or divides the program in two.
const ONCE: &[&str] = &["aws-lc-sys", "axum", "hyper", "tokio"];

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let locks = tree.files.iter().filter(|file| file.path == "Cargo.lock" || file.path.ends_with("/Cargo.lock"));
    // The fuzz targets have a lock file of their own, and are built of the same rooms with the same features.
    locks.flat_map(|file| lock(&file.path, &file.text, &tree.unbuilt)).collect()
}

fn lock(path: &str, text: &str, unbuilt: &[String]) -> Vec<Violation> {
    let names: Vec<(usize, &str)> =
        text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, name(line)?))).collect();
    let mut found = Vec::new();
    for (position, (line, name)) in names.iter().enumerate() {
        if let Some((_, instead)) = BANNED.iter().find(|(banned, _)| banned == name)
            && !unbuilt.iter().any(|unbuilt| unbuilt == name)
            && !is_only_below(text, name)
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

/// Whether a crate is there, and for those alone that may want it.
fn is_only_below(text: &str, name: &str) -> bool {
    let Some((_, allowed)) = BELOW.iter().find(|(banned, _)| *banned == name) else { return false };
    let line = format!("\n \"{name}\",");
    let wanting = text.split("[[package]]").filter(|package| package.contains(&line));
    let mut names = wanting.filter_map(|package| package.lines().find_map(self::name)).peekable();
    names.peek().is_some() && names.all(|name| allowed.contains(&name))
}

fn name(line: &str) -> Option<&str> {
    line.strip_prefix("name = \"")?.strip_suffix('"')
}
