//! One HTTP client in the whole program: `outbound`. Whoever had another could dial what that one refuses to.
//!
//! `client` is left alone. It is published on its own, for those who test and for the command line; it asks Postkeep and
//! nobody else, at the address that its user names, and no URL of a stranger ever reaches it.

use serde_json::Value;

use super::source::{line, words};
use super::{Tree, Violation};

/// Who may ask others over HTTP.
const OUTBOUND: &str = "postkeep-outbound";
/// And who asks only Postkeep.
const CLIENT: &str = "postkeep-client";
/// Crates that are clients, or hold one.
const CLIENTS: &[&str] =
    &["attohttpc", "awc", "curl", "hyper-rustls", "hyper-tls", "isahc", "minreq", "reqwest", "surf", "ureq"];
/// Crates that hold one behind a feature.
const FEATURES: &[(&str, &[&str])] = &[
    ("hyper", &["client", "full"]),
    ("hyper-util", &["client", "client-legacy", "client-pool", "client-proxy", "full"]),
];
/// How a client is named in code, whoever switched it on.
const NAMES: &[&str] = &["hyper::client", "hyper_util::client"];

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let mut found: Vec<_> = tree.packages.iter().flat_map(|package| manifest(package, &tree.root)).collect();
    for file in tree.rust().filter(|file| is_program(&file.path) && !file.is_test()) {
        let named = NAMES.iter().flat_map(|name| words(&file.code, name).map(move |at| (at, name)));
        found.extend(named.map(|(at, name)| {
            Violation::new(&file.path, line(&file.code, at), format!("{name}: ask through outbound, the one client"))
        }));
    }
    found
}

/// What is built into the program, but for those two.
fn is_program(path: &str) -> bool {
    path.starts_with("crates/") && !["crates/outbound/", "crates/client/"].iter().any(|room| path.starts_with(room))
}

fn manifest(package: &Value, root: &str) -> Vec<Violation> {
    let (name, path) = (text(&package["name"]), text(&package["manifest_path"]));
    let file = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/');
    if !file.starts_with("crates/") || [OUTBOUND, CLIENT].contains(&name) {
        return Vec::new();
    }
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    let built = dependencies.iter().filter(|dependency| dependency["kind"].as_str() != Some("dev"));
    built.filter_map(client_in).map(|what| Violation::new(file, 0, what)).collect()
}

fn client_in(dependency: &Value) -> Option<String> {
    let name = text(&dependency["name"]);
    if CLIENTS.contains(&name) {
        return Some(format!("{name} is an HTTP client: ask through outbound, the one client"));
    }
    let (_, clients) = FEATURES.iter().find(|(other, _)| *other == name)?;
    let features = dependency["features"].as_array()?.iter().map(text);
    let feature = features.into_iter().find(|feature| clients.contains(feature))?;
    Some(format!("{name} with {feature} is an HTTP client: ask through outbound, the one client"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
