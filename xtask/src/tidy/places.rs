//! Nothing in the repository depends on where it was written: no registry's address (which one is used is a matter of
//! each machine's own settings), no absolute path of a developer's home or checkout.

use super::{Tree, Violation};

/// Addresses that belong into a machine's own settings. In halves, so that this file keeps its own rule.
const HOSTS: &[[&str; 2]] = &[
    ["index.", "crates.io"],
    ["static.", "crates.io"],
    ["registry.", "npmjs.org"],
    ["pypi.", "org"],
    ["files.", "pythonhosted.org"],
    ["deb.", "debian.org"],
    ["proxy.", "golang.org"],
];
const HOMES: &[[&str; 2]] = &[["/home", "/"], ["/root", "/"], ["/Users", "/"], ["C:\\Us", "ers\\"]];

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let mut unwanted: Vec<(String, &str)> = Vec::new();
    unwanted.extend(HOSTS.iter().map(|halves| (halves.concat(), "names a registry's host")));
    unwanted.extend(HOMES.iter().map(|halves| (halves.concat(), "names a path of somebody's machine")));
    if tree.root.len() > 1 {
        unwanted.push((tree.root.clone(), "names the path of this checkout"));
    }
    let mut found = Vec::new();
    for file in &tree.files {
        for (at, line) in file.text.lines().enumerate() {
            let bad = unwanted.iter().find(|(text, _)| line.contains(text.as_str()));
            found.extend(bad.map(|(text, what)| Violation::new(&file.path, at + 1, format!("{what}: `{text}`"))));
        }
    }
    found
}
