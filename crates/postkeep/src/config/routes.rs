//! `[[mailbox.route]]`: rules that name the mailbox, as they stand in the file. What they mean is the mailroom's business.

use std::fmt::Write;

use mailroom::route::{Glob, Header, Place, Route, Template};
use net::Network;
use toml::de::{DeArray, DeTable, DeValue};

use super::report::{Mistake, Origin};
use super::tables::List;
use super::values::quoted;

/// Where they stand.
pub(super) const NAME: &str = "mailbox.route";
const MEMBERS: [&str; 5] = ["login", "peer", "recipient", "header", "mailbox"];
/// Each recipient of each message is held against them.
const ROUTES_MAX: usize = 1000;

/// One of them.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Written {
    pub(super) route: Route,
    /// As it is shown: a member and its value each.
    members: Vec<(&'static str, toml::Value)>,
    origin: Origin,
}

const LIST: List = List { name: NAME, members: &MEMBERS, tables_max: ROUTES_MAX };

/// Read all of them; what is wrong goes to the mistakes.
pub(super) fn read(items: &DeArray<'_>, origin: &dyn Fn(usize) -> Origin, mistakes: &mut Vec<Mistake>) -> Vec<Written> {
    LIST.read(items, origin, mistakes, |table, origin, _| one(table, origin))
}

fn one(table: &DeTable<'_>, origin: Origin) -> Result<Written, String> {
    let mut members = Vec::new();
    let login = text(table, "login", &mut members)?.map(|pattern| Glob::new(&pattern));
    let peer = networks(table, &mut members)?;
    let recipient = text(table, "recipient", &mut members)?.map(|pattern| Glob::new(&pattern));
    let header = header(table, &mut members)?;
    let mailbox = text(table, "mailbox", &mut members)?;
    let mailbox = mailbox.ok_or_else(|| format!("{NAME} takes a mailbox, as \"team\" or \"{{login}}\""))?;
    let mailbox: Template = mailbox.parse().map_err(|bad| format!("{NAME}: the mailbox {} {bad}", quoted(&mailbox)))?;
    if mailbox.has(Place::Header) && header.is_none() {
        return Err(format!("{NAME}: {{header}} stands for a field that the rule asks for; give it a header"));
    }
    Ok(Written { route: Route { login, peer, recipient, header, mailbox }, members, origin })
}

/// A pattern or a name: a text that is not empty.
fn text(
    table: &DeTable<'_>,
    member: &'static str,
    members: &mut Vec<(&'static str, toml::Value)>,
) -> Result<Option<String>, String> {
    let Some(value) = table.get(member) else { return Ok(None) };
    let text = value.get_ref().as_str().filter(|text| !text.trim().is_empty());
    let text = text.ok_or_else(|| format!("{NAME}: {member} is a text, in which * stands for any characters"))?;
    members.push((member, text.into()));
    Ok(Some(text.to_owned()))
}

/// One network or a list of them.
fn networks(
    table: &DeTable<'_>,
    members: &mut Vec<(&'static str, toml::Value)>,
) -> Result<Vec<std::ops::RangeInclusive<std::net::IpAddr>>, String> {
    let Some(value) = table.get("peer") else { return Ok(Vec::new()) };
    let items: Option<Vec<&str>> = match value.get_ref() {
        DeValue::String(text) => Some(vec![text.as_ref()]),
        DeValue::Array(items) => items.iter().map(|item| item.get_ref().as_str()).collect(),
        _ => None,
    };
    let items = items.filter(|items| !items.is_empty());
    let items = items.ok_or_else(|| format!("{NAME}: peer is a network as \"10.0.0.0/8\", or a list of them"))?;
    let network = |text: &&str| {
        let network = Network::parse(text).ok_or_else(|| format!("{NAME}: peer {} is no network", quoted(text)))?;
        Ok(network.range())
    };
    let ranges = items.iter().map(network).collect::<Result<_, String>>()?;
    members.push(("peer", items.into_iter().map(toml::Value::from).collect::<Vec<_>>().into()));
    Ok(ranges)
}

/// `{ name = "X-Team", value = "*" }`; any value when none is given.
fn header(table: &DeTable<'_>, members: &mut Vec<(&'static str, toml::Value)>) -> Result<Option<Header>, String> {
    let Some(value) = table.get("header") else { return Ok(None) };
    let wrong = || format!("{NAME}: header is written as {{ name = \"X-Team\", value = \"blue\" }}");
    let DeValue::Table(asked) = value.get_ref() else { return Err(wrong()) };
    let member = |name: &str| asked.get(name).and_then(|value| value.get_ref().as_str());
    let known = asked.iter().all(|(member, _)| ["name", "value"].contains(&member.get_ref().as_ref()));
    let name = member("name").filter(|name| known && is_field(name)).ok_or_else(wrong)?;
    let value = match asked.get("value") {
        None => "*",
        Some(_) => member("value").ok_or_else(wrong)?,
    };
    let shown = [("name", name), ("value", value)].map(|(member, text)| (member.to_owned(), text.into()));
    members.push(("header", toml::Value::Table(shown.into_iter().collect())));
    Ok(Some(Header { name: name.to_owned(), value: Glob::new(value) }))
}

/// Printable ASCII without a colon (RFC 5322 §2.2).
fn is_field(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':')
}

/// As TOML, with origins.
pub(super) fn show(routes: &[Written]) -> String {
    let mut out = String::new();
    for route in routes {
        let _ = writeln!(out, "\n[[{NAME}]]  # {}", route.origin);
        for (member, value) in &route.members {
            let _ = writeln!(out, "{member} = {value}");
        }
    }
    out
}
