//! `[[access.tokens]]`: tokens as they stand in the file. What a scope means there is checked later, when it is known how
//! mailboxes are named.

use std::fmt::Write;

use jiff::Timestamp;
use mailroom::access::Digest;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::report::{Mistake, Origin};
use super::tables::List;
use super::values::quoted;

/// Where they stand.
pub(super) const NAME: &str = "access.tokens";
const MEMBERS: [&str; 4] = ["name", "hash", "scopes", "expires"];
/// Octets of a name.
const NAME_MAX: usize = 100;

/// One of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Written {
    pub(super) name: String,
    pub(super) digest: Digest,
    pub(super) scopes: Vec<String>,
    pub(super) expires: Option<Timestamp>,
    pub(super) origin: Origin,
}

const LIST: List = List { name: NAME, members: &MEMBERS, tables_max: usize::MAX };

/// Read all of them; what is wrong goes to the mistakes.
pub(super) fn read(items: &DeArray<'_>, origin: &dyn Fn(usize) -> Origin, mistakes: &mut Vec<Mistake>) -> Vec<Written> {
    LIST.read(items, origin, mistakes, |table, origin, _| one(table, origin))
}

fn one(table: &DeTable<'_>, origin: Origin) -> Result<Written, String> {
    let text = |member: &str| table.get(member).and_then(|value| value.get_ref().as_str());
    let name = text("name").filter(|name| is_name(name));
    let name = name.ok_or_else(|| format!("{NAME} takes a name of up to {NAME_MAX} bytes for each token"))?;
    let digest = text("hash").and_then(|hash| hash.parse().ok());
    let digest = digest.ok_or_else(|| format!("{NAME}: the hash of {} is not one, {HASH}", quoted(name)))?;
    let scopes = table.get("scopes").and_then(list).filter(|scopes| !scopes.is_empty());
    let scopes = scopes.ok_or_else(|| format!("{NAME}: {} takes scopes as [\"ro:ci-*\"]", quoted(name)))?;
    let expires = table.get("expires").map(|value| time(value.get_ref())).transpose();
    let expires = expires.map_err(|()| {
        format!(
            "{NAME}: {} expires at a time such as 2027-01-01T00:00:00Z, or never, when that is left out",
            quoted(name)
        )
    })?;
    Ok(Written { name: name.to_owned(), digest, scopes, expires, origin })
}

const HASH: &str = "but 64 hexadecimal digits as \"postkeep token new\" prints them";

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_MAX && !name.contains(char::is_control)
}

fn list(value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
    let items = value.get_ref().as_array()?;
    items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
}

fn time(value: &DeValue<'_>) -> Result<Timestamp, ()> {
    match value {
        DeValue::String(text) => text.parse().map_err(|_| ()),
        DeValue::Datetime(time) => time.to_string().parse().map_err(|_| ()),
        _ => Err(()),
    }
}

/// As TOML, with origins.
pub(super) fn show(tokens: &[Written]) -> String {
    let mut out = String::new();
    for token in tokens {
        let _ = writeln!(out, "\n[[{NAME}]]  # {}", token.origin);
        let _ = writeln!(out, "name = {}", toml::Value::from(token.name.clone()));
        let _ = writeln!(out, "hash = \"{}\"", token.digest);
        let _ = writeln!(out, "scopes = {}", toml::Value::from(token.scopes.clone()));
        if let Some(expires) = token.expires {
            let _ = writeln!(out, "expires = \"{expires}\"");
        }
    }
    out
}
