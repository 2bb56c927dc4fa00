//! Who may know whom. The rooms of the house, as Cargo sees them, may depend only on those in this table.

use serde_json::Value;

use super::{Tree, Violation};

/// Every package of ours and the ones that it may use; `dev` holds what only its tests may use besides.
struct Wall {
    room: &'static str,
    knows: &'static [&'static str],
    dev: &'static [&'static str],
}

const EDGE: &[&str] = &["postkeep-mail", "postkeep-net", "postkeep-mailroom"];
/// Those who act on what the mailroom tells, and may call the world outside.
const LEAVING: &[&str] = &["postkeep-mail", "postkeep-mailroom", "postkeep-outbound"];
const ALL: &[&str] = &[
    "postkeep-acme",
    "postkeep-client",
    "postkeep-courier",
    "postkeep-http",
    "postkeep-mail",
    "postkeep-mailroom",
    "postkeep-net",
    "postkeep-outbound",
    "postkeep-pop3",
    "postkeep-rate",
    "postkeep-script",
    "postkeep-smtp",
    "postkeep-store",
    "postkeep-store-disk",
    "postkeep-store-jetstream",
];

const WALLS: &[Wall] = &[
    Wall { room: "postkeep-mail", knows: &[], dev: &[] },
    // Its tests hand it the client that the program hands it.
    Wall { room: "postkeep-acme", knows: &[], dev: &["postkeep-outbound"] },
    Wall { room: "postkeep-client", knows: &[], dev: &[] },
    Wall { room: "postkeep-outbound", knows: &[], dev: &[] },
    Wall { room: "postkeep-net", knows: &["postkeep-rate"], dev: &[] },
    Wall { room: "postkeep-rate", knows: &[], dev: &[] },
    Wall { room: "postkeep-store", knows: &["postkeep-mail"], dev: &[] },
    Wall { room: "postkeep-store-disk", knows: &["postkeep-mail", "postkeep-store"], dev: &[] },
    Wall { room: "postkeep-store-jetstream", knows: &["postkeep-mail", "postkeep-store"], dev: &["postkeep-brokers"] },
    Wall { room: "postkeep-mailroom", knows: &["postkeep-mail", "postkeep-rate", "postkeep-store"], dev: &[] },
    Wall { room: "postkeep-script", knows: LEAVING, dev: &["postkeep-store"] },
    Wall { room: "postkeep-courier", knows: LEAVING, dev: &["postkeep-store"] },
    // The edges' tests need a mailroom over some engine; the edges themselves know none.
    Wall { room: "postkeep-smtp", knows: EDGE, dev: &["postkeep-dialogues", "postkeep-store"] },
    Wall { room: "postkeep-pop3", knows: EDGE, dev: &["postkeep-dialogues", "postkeep-store"] },
    Wall { room: "postkeep-http", knows: EDGE, dev: &["postkeep-store"] },
    Wall { room: "postkeep", knows: ALL, dev: &["postkeep-brokers"] },
    Wall { room: "postkeep-bench", knows: &[], dev: &[] },
    Wall { room: "postkeep-brokers", knows: &[], dev: &[] },
    Wall { room: "postkeep-dialogues", knows: &["postkeep-net"], dev: &[] },
    Wall { room: "xtask", knows: &["postkeep-brokers"], dev: &[] },
];

/// Packages of others that a room does without: (room, package, why).
const WITHOUT: &[(&str, &str, &str)] = &[
    ("postkeep-mail", "tokio", "the words of the house do no I/O"),
    ("postkeep-mailroom", "axum", "the mailroom knows no protocol"),
    ("postkeep-store", "axum", "an engine knows no protocol"),
];

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let ours: Vec<_> = tree.packages.iter().filter_map(|package| package["name"].as_str()).collect();
    tree.packages.iter().flat_map(|package| package_rule(package, &ours, &tree.root)).collect()
}

fn package_rule(package: &Value, ours: &[&str], root: &str) -> Vec<Violation> {
    let name = package["name"].as_str().unwrap_or_default();
    let manifest = package["manifest_path"].as_str().unwrap_or_default();
    let file = manifest.strip_prefix(root).unwrap_or(manifest).trim_start_matches('/');
    let Some(wall) = WALLS.iter().find(|wall| wall.room == name) else {
        return vec![Violation::new(file, 0, format!("{name} is a new room: say in tidy/walls.rs whom it may know"))];
    };
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    dependencies
        .iter()
        .filter_map(|dependency| wrong(wall, dependency, ours))
        .map(|what| Violation::new(file, 0, what))
        .collect()
}

/// What is wrong with one dependency of a room.
fn wrong(wall: &Wall, dependency: &Value, ours: &[&str]) -> Option<String> {
    let other = dependency["name"].as_str()?;
    let dev = dependency["kind"].as_str() == Some("dev");
    // A room's tests may switch on a feature of the room itself.
    let allowed = wall.knows.contains(&other) || (dev && (wall.dev.contains(&other) || other == wall.room));
    if ours.contains(&other) && !allowed {
        return Some(format!("{} may not know {other}", wall.room));
    }
    let (_, _, why) = WITHOUT.iter().find(|(room, package, _)| !dev && *room == wall.room && *package == other)?;
    Some(format!("{} does without {other}: {why}", wall.room))
}
