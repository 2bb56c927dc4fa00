//! `[[webhook]]`: who is told of mail, as it stands in the file; and the sections `webhooks` and `outbound`. Which mailboxes
//! a pattern is about is checked later, when it is known how mailboxes are named.

use std::fmt::Write;
use std::path::PathBuf;

use courier::webhook::{Detail, Limits, Pace, Rest, Secret};
use mailroom::access::Pattern;
use mailroom::outgoing::webhook::{Event, Target};
use outbound::{Strangers, Url};
use toml::de::{DeArray, DeTable, DeValue};

use super::ready::{Values, naming};
use super::report::{Mistake, Origin};
use super::tables::List;
use super::values::quoted;

/// Where they stand.
pub(super) const NAME: &str = "webhook";
const MEMBERS: [&str; 7] = ["name", "url", "secret", "secret_file", "mailboxes", "events", "message"];
/// Each mail is held against them.
const WEBHOOKS_MAX: usize = 100;
/// Characters of a name.
const NAME_MAX: usize = 64;

/// One of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Webhook {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) secrets: Secrets,
    pub(crate) mailboxes: Vec<String>,
    pub(crate) events: Vec<Event>,
    pub(crate) detail: Detail,
    pub(super) origin: Origin,
}

/// What it is signed with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Secrets {
    /// These.
    Written(Vec<Secret>),
    /// Those of a file, one a line.
    File(PathBuf),
}

const LIST: List = List { name: NAME, members: &MEMBERS, tables_max: WEBHOOKS_MAX };

/// Read all of them; what is wrong goes to the mistakes.
pub(super) fn read(items: &DeArray<'_>, origin: &dyn Fn(usize) -> Origin, mistakes: &mut Vec<Mistake>) -> Vec<Webhook> {
    LIST.read(items, origin, mistakes, |table, origin, before: &[Webhook]| {
        let webhook = one(table, origin)?;
        match before.iter().any(|other| other.name == webhook.name) {
            true => Err(format!("{NAME} has the name {} twice; give one of them another", quoted(&webhook.name))),
            false => Ok(webhook),
        }
    })
}

fn one(table: &DeTable<'_>, origin: Origin) -> Result<Webhook, String> {
    let text = |member: &str| table.get(member).and_then(|value| value.get_ref().as_str());
    let name = text("name").filter(|name| is_name(name));
    let name =
        name.ok_or_else(|| format!("{NAME} takes a name of up to {NAME_MAX} lower-case letters, digits and hyphens"))?;
    let wrong = |what: &str| format!("{NAME} {}: {what}", quoted(name));
    let url = text("url").filter(|url| is_url(url));
    let url = url.ok_or_else(|| wrong("its url is an http or https URL, as https://example.com/hook"))?;
    let secrets = secrets(table).map_err(|what| wrong(&what))?;
    let mailboxes = list(table, "mailboxes").map_err(|what| wrong(&what))?.unwrap_or_else(|| vec!["*".to_owned()]);
    let events = list(table, "events").map_err(|what| wrong(&what))?.unwrap_or_else(|| vec!["deliver".to_owned()]);
    let event = |word: &String| Event::ALL.into_iter().find(|event| event.word() == word);
    let events: Option<Vec<_>> = events.iter().map(event).collect();
    let events = events.ok_or_else(|| wrong("its events are deliver, delete and purge"))?;
    let detail = match table.get("message").map(|value| value.get_ref()) {
        None | Some(DeValue::Boolean(false)) => Detail::Summary,
        Some(DeValue::Boolean(true)) => Detail::Message,
        Some(_) => return Err(wrong("message is true or false")),
    };
    Ok(Webhook { name: name.to_owned(), url: url.to_owned(), secrets, mailboxes, events, detail, origin })
}

/// `secret` with one or several, or `secret_file`.
fn secrets(table: &DeTable<'_>) -> Result<Secrets, String> {
    match (table.get("secret"), table.get("secret_file")) {
        (Some(_), Some(_)) => Err("it has a secret and a secret_file; keep one of them".to_owned()),
        (None, None) => Err("it has no secret; `echo whsec_$(openssl rand -base64 32)` makes one".to_owned()),
        (None, Some(file)) => {
            let path = file.get_ref().as_str().filter(|path| !path.is_empty());
            path.map(|path| Secrets::File(path.into())).ok_or_else(|| "its secret_file is a path".to_owned())
        }
        (Some(secret), None) => {
            let texts: Option<Vec<&str>> = match secret.get_ref() {
                DeValue::String(text) => Some(vec![text.as_ref()]),
                DeValue::Array(items) => items.iter().map(|item| item.get_ref().as_str()).collect(),
                _ => None,
            };
            let texts = texts.filter(|texts| !texts.is_empty()).ok_or("its secret is a text, or a list of them")?;
            let secrets: Result<_, _> = texts.into_iter().map(str::parse).collect();
            // Nothing of what stands there is shown: it may be one but for a sign.
            Ok(Secrets::Written(secrets.map_err(|bad: courier::webhook::BadSecret| bad.to_string())?))
        }
    }
}

fn list(table: &DeTable<'_>, member: &str) -> Result<Option<Vec<String>>, String> {
    let Some(value) = table.get(member) else { return Ok(None) };
    let items = value.get_ref().as_array().filter(|items| !items.is_empty());
    let texts = items.and_then(|items| items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect());
    texts.map(Some).ok_or_else(|| format!("its {member} are a list of texts, with at least one"))
}

fn is_name(name: &str) -> bool {
    let sound = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.len() <= NAME_MAX && name.bytes().all(sound)
}

fn is_url(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// What is wrong with their patterns once it is known how mailboxes are named.
pub(super) fn mistakes(values: Values<'_>, webhooks: &[Webhook]) -> Vec<Mistake> {
    let wrong = |webhook: &Webhook| {
        let bad = patterns(values, webhook).err()?;
        let text = format!("{NAME} {}: {bad}", quoted(&webhook.name));
        Some(Mistake { origin: Some(webhook.origin.clone()), text })
    };
    webhooks.iter().filter_map(wrong).collect()
}

fn patterns(values: Values<'_>, webhook: &Webhook) -> Result<Vec<Pattern>, mailroom::access::BadPattern> {
    webhook.mailboxes.iter().map(|text| Pattern::parse(text, naming(values))).collect()
}

/// What the mailroom needs to know of them.
pub(super) fn targets(values: Values<'_>, webhooks: &[Webhook]) -> Vec<Target> {
    let target = |webhook: &Webhook| Target {
        name: webhook.name.clone(),
        mailboxes: patterns(values, webhook).expect("patterns were checked"),
        events: webhook.events.clone(),
    };
    webhooks.iter().map(target).collect()
}

/// The section `webhooks`.
pub(super) fn limits(values: Values<'_>) -> Limits {
    Limits {
        concurrent_max: values.count("webhooks.concurrent_max"),
        timeout: values.time("webhooks.timeout"),
        pace: Pace {
            attempts_max: values.count("webhooks.attempts_max"),
            give_up_after: values.time("webhooks.give_up_after"),
            retry_max: values.time("webhooks.retry_max"),
        },
        rest: Rest { failures_max: values.count("webhooks.failures_max"), time: values.time("webhooks.rest") },
    }
}

/// The section `outbound`.
pub(super) fn outbound(values: Values<'_>) -> outbound::Settings {
    outbound::Settings {
        strangers: if values.flag("outbound.strangers") { Strangers::Asked } else { Strangers::Refused },
        allow: values.networks("outbound.allow").iter().map(net::Network::range).collect(),
        body_max: values.count("outbound.body_max"),
        timeout: values.time("outbound.timeout"),
        redirects_max: values.count("outbound.redirects_max"),
        requests_max: values.count("outbound.requests_max"),
        ..outbound::Settings::default()
    }
}

/// As TOML, with origins, and without secrets.
pub(super) fn show(webhooks: &[Webhook]) -> String {
    let mut out = String::new();
    for webhook in webhooks {
        let text = |text: &str| toml::Value::from(text);
        let _ = writeln!(out, "\n[[{NAME}]]  # {}", webhook.origin);
        let _ = writeln!(out, "name = {}", text(&webhook.name));
        let _ = writeln!(out, "url = {}", text(&webhook.shown_url()));
        let _ = match &webhook.secrets {
            Secrets::Written(_) => writeln!(out, "secret = \"whsec_***\""),
            Secrets::File(path) => writeln!(out, "secret_file = {}", text(&path.to_string_lossy())),
        };
        let _ = writeln!(out, "mailboxes = {}", toml::Value::from(webhook.mailboxes.clone()));
        let events: Vec<_> = webhook.events.iter().map(|event| event.word()).collect();
        let _ = writeln!(out, "events = {}", toml::Value::from(events));
        let _ = writeln!(out, "message = {}", webhook.detail == Detail::Message);
    }
    out
}

impl Webhook {
    /// Its URL without a password.
    pub(crate) fn shown_url(&self) -> String {
        let Ok(mut url) = Url::parse(&self.url) else { return String::new() };
        if url.password().is_some() {
            let _ = url.set_password(Some("***"));
        }
        url.into()
    }
}
