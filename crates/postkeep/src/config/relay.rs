//! The section `relay` and `[[relay.rule]]`: where released mail goes, to whom it may, and which goes by itself. What the
//! rules mean is the mailroom's business, and how the smart host is spoken to the courier's.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use courier::relay::{Settings, Tls};
use mail::Address;
use mail::address::Charset;
use mailroom::outgoing::relay::{Allowed, Rule, Rules};
use mailroom::route::Glob;
use toml::de::{DeArray, DeTable};

use super::ready::{Clash, Values};
use super::report::{Mistake, Origin};
use super::tables::List;
use super::values::quoted;

/// Where rules stand.
pub(super) const NAME: &str = "relay.rule";
const MEMBERS: [&str; 4] = ["name", "mailbox", "recipient", "to"];
/// Each recipient of each message is held against them.
const RULES_MAX: usize = 100;
const TO_MAX: usize = 20;
const NAME_MAX: usize = 64;

/// The smart host as it is written; what stands in files is read by whoever opens them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Relay {
    /// `relay.host`.
    pub(crate) host: String,
    /// `relay.port`.
    pub(crate) port: u16,
    /// `relay.tls`; none: what is right for the host.
    pub(crate) tls: Option<Tls>,
    /// `relay.ca_file`.
    pub(crate) ca_file: Option<PathBuf>,
    /// `relay.user`, and where its password is.
    pub(crate) login: Option<(String, PathBuf)>,
    /// `relay.timeout`.
    pub(crate) timeout: Duration,
    /// `relay.attempt_max`.
    pub(crate) attempt_max: Duration,
    /// When it is tried again, and how much at once.
    pub(crate) settings: Settings,
}

/// One rule.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Written {
    pub(super) rule: Rule,
    /// As it is shown: a member and its value each.
    members: Vec<(&'static str, toml::Value)>,
    origin: Origin,
}

/// The smart host, where one is named.
pub(super) fn relay(values: Values<'_>) -> Option<Relay> {
    let host = Some(values.text("relay.host")).filter(|host| !host.is_empty())?;
    Some(Relay {
        host: host.to_owned(),
        port: values.count("relay.port"),
        tls: match values.text("relay.tls") {
            "required" => Some(Tls::Required),
            "opportunistic" => Some(Tls::Opportunistic),
            "implicit" => Some(Tls::Implicit),
            "off" => Some(Tls::Off),
            _ => None,
        },
        ca_file: values.file("relay.ca_file"),
        login: values
            .file("relay.password_file")
            .map(|file| (values.text("relay.user").to_owned(), file))
            .filter(|(user, _)| !user.is_empty()),
        timeout: values.time("relay.timeout"),
        attempt_max: values.time("relay.attempt_max"),
        settings: Settings {
            connections_max: values.count("relay.connections_max"),
            retry_after: values.time("relay.retry_after"),
            retry_max: values.time("relay.retry_max"),
            give_up_after: values.time("relay.give_up_after"),
            hops_max: values.count("relay.hops_max"),
        },
    })
}

/// To whom mail may go, and which goes by itself.
pub(super) fn rules(values: Values<'_>, written: &[Written]) -> Rules {
    Rules {
        enabled: !values.text("relay.host").is_empty(),
        allow: values.list("relay.allow").iter().filter_map(|text| Allowed::parse(text).ok()).collect(),
        from: Address::parse(values.text("relay.from"), Charset::Utf8).ok(),
        rate: values.rate("relay.rate"),
        recipients_max: values.count("relay.recipients_max"),
        kept: values.time("relay.kept"),
        kept_max: values.count("relay.kept_max"),
        rules: written.iter().map(|written| written.rule.clone()).collect(),
    }
}

/// What does not go together.
pub(super) fn clashes(values: Values<'_>) -> Vec<Clash> {
    let is_set = |key: &str| !values.text(key).is_empty();
    let clash = |keys, text: &str| Clash { keys, text: text.to_owned() };
    let mut clashes = Vec::new();
    if is_set("relay.user") != is_set("relay.password_file") {
        let text = "relay.user and relay.password_file go together; set both, or neither";
        clashes.push(clash(["relay.user", "relay.password_file"], text));
    }
    let is_plain = values.text("relay.tls") == "off" && !courier::relay::is_loopback(values.text("relay.host"));
    if is_plain && is_set("relay.user") {
        let text = "relay.tls is \"off\" and relay.host is another machine, where no password is sent in the clear; set \
                    relay.tls to \"required\" or \"implicit\"";
        clashes.push(clash(["relay.tls", "relay.user"], text));
    }
    if values.time("relay.retry_after") > values.time("relay.retry_max") {
        let text = "relay.retry_after is longer than relay.retry_max; raise the second or lower the first";
        clashes.push(clash(["relay.retry_after", "relay.retry_max"], text));
    }
    if values.time("relay.give_up_after") > values.time("relay.kept") {
        let text = "relay.give_up_after is longer than relay.kept, so a release would be forgotten before it is over; raise \
                    the second or lower the first";
        clashes.push(clash(["relay.give_up_after", "relay.kept"], text));
    }
    clashes
}

/// What is wrong with rules once it is known to whom mail may go.
pub(super) fn mistakes(values: Values<'_>, written: &[Written]) -> Vec<Mistake> {
    let rules = rules(values, written);
    let mut mistakes = Vec::new();
    for (place, one) in written.iter().enumerate() {
        let mut wrong = |text: String| mistakes.push(Mistake { origin: Some(one.origin.clone()), text });
        if let Some(stranger) = one.rule.to.iter().find(|address| !rules.allows(address)) {
            wrong(format!("{NAME}: mail may not go to {}; add it to relay.allow", quoted(&stranger.to_string())));
        }
        if written[..place].iter().any(|other| other.rule.name == one.rule.name) {
            wrong(format!("{NAME} has the name {} twice; give one of them another", quoted(&one.rule.name)));
        }
    }
    mistakes
}

/// What works, but perhaps not as it was meant.
pub(super) fn doubts(values: Values<'_>, written: &[Written]) -> Vec<String> {
    let has_host = !values.text("relay.host").is_empty();
    let doubts = [
        (has_host && values.list("relay.allow").is_empty()).then(|| {
            "relay.host is set and relay.allow names nobody, so nothing can be released; add addresses or patterns as \
             \"*@example.com\""
                .to_owned()
        }),
        (!has_host && !written.is_empty()).then(|| {
            format!("there is a [[{NAME}]] and no relay.host, so it sends nothing on; set relay.host to a smart host")
        }),
        (has_host && values.text("relay.tls") == "opportunistic").then(|| {
            "relay.tls is \"opportunistic\": whoever stands between here and relay.host can have mail sent in the clear; set \
             it to \"required\""
                .to_owned()
        }),
    ];
    doubts.into_iter().flatten().collect()
}

const LIST: List = List { name: NAME, members: &MEMBERS, tables_max: RULES_MAX };

/// Read all rules; what is wrong goes to the mistakes.
pub(super) fn read(items: &DeArray<'_>, origin: &dyn Fn(usize) -> Origin, mistakes: &mut Vec<Mistake>) -> Vec<Written> {
    LIST.read(items, origin, mistakes, |table, origin, _| one(table, origin))
}

fn one(table: &DeTable<'_>, origin: Origin) -> Result<Written, String> {
    let mut members = Vec::new();
    let is_name = |name: &String| name.len() <= NAME_MAX && !name.contains(char::is_control);
    let name = text(table, "name", &mut members)?.filter(is_name);
    let name =
        name.ok_or_else(|| format!("{NAME} takes a name of up to {NAME_MAX} bytes, by which releases tell it"))?;
    let mailbox = text(table, "mailbox", &mut members)?.map(|pattern| Glob::new(&pattern));
    let recipient = text(table, "recipient", &mut members)?.map(|pattern| Glob::new(&pattern));
    let to = addresses(table, &mut members)?;
    Ok(Written { rule: Rule { name, mailbox, recipient, to }, members, origin })
}

/// A text that is not empty.
fn text(
    table: &DeTable<'_>,
    member: &'static str,
    members: &mut Vec<(&'static str, toml::Value)>,
) -> Result<Option<String>, String> {
    let Some(value) = table.get(member) else { return Ok(None) };
    let text = value.get_ref().as_str().map(str::trim).filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| format!("{NAME}: {member} is a text that is not empty"))?;
    members.push((member, text.into()));
    Ok(Some(text.to_owned()))
}

/// A list of addresses; left out, mail goes to whom it was for.
fn addresses(table: &DeTable<'_>, members: &mut Vec<(&'static str, toml::Value)>) -> Result<Vec<Address>, String> {
    let Some(value) = table.get("to") else { return Ok(Vec::new()) };
    let wrong = || {
        format!(
            "{NAME}: to is a list of up to {TO_MAX} addresses, as [\"alice@example.com\"]; left out, mail goes to whom it was for"
        )
    };
    let items = value.get_ref().as_array().filter(|items| (1..=TO_MAX).contains(&items.len())).ok_or_else(wrong)?;
    let read = |text: &str| Address::parse(text, Charset::Utf8).ok();
    let to: Option<Vec<Address>> = items.iter().map(|item| item.get_ref().as_str().and_then(read)).collect();
    let to = to.ok_or_else(wrong)?;
    members.push(("to", to.iter().map(ToString::to_string).map(toml::Value::from).collect::<Vec<_>>().into()));
    Ok(to)
}

/// As TOML, with origins.
pub(super) fn show(rules: &[Written]) -> String {
    let mut out = String::new();
    for rule in rules {
        let _ = writeln!(out, "\n[[{NAME}]]  # {}", rule.origin);
        for (member, value) in &rule.members {
            let _ = writeln!(out, "{member} = {value}");
        }
    }
    out
}
