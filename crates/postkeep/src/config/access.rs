//! The sections `access` and `inbox` as the mailroom takes them, and what in them does not go together.

use std::path::PathBuf;

use mail::Naming;
use mailroom::access::rules::{Configured, Inbox};
use mailroom::access::{InboxSecret, Mode, Rules, Scopes, Verbs};
use net::Place;

use super::ready::{Clash, Values};
use super::report::Mistake;
use super::tokens::Written;

/// Make it of checked values and tokens.
pub(super) fn rules(values: Values<'_>, tokens: &[Written]) -> Rules {
    Rules {
        mode: mode(values),
        public_verbs: verbs(values.list("access.public_verbs")),
        inbox_secret: match values.text("access.inbox_secret") {
            "always" => InboxSecret::Always,
            _ => InboxSecret::Auto,
        },
        tokens: tokens.iter().filter_map(|token| configured(values, token).ok()).collect(),
        tokens_max: values.count("access.tokens_max"),
        logins_max: values.count("access.logins_max"),
        login_ttl: values.time("access.login_ttl"),
        user_scopes: user_scopes(values).unwrap_or_default(),
        failures_per_ip: values.rate("access.failures_per_ip"),
        keys: None,
        inbox: Inbox {
            domain: values.text("inbox.domain").to_owned(),
            ttl_default: values.time("inbox.ttl_default"),
            ttl_max: values.time("inbox.ttl_max"),
            rate_per_ip: values.rate("inbox.rate_per_ip"),
        },
    }
}

/// `access.key_file`, where one is given.
pub(super) fn key_file(values: Values<'_>) -> Option<PathBuf> {
    values.file("access.key_file")
}

fn mode(values: Values<'_>) -> Mode {
    match values.text("access.mode") {
        "token" => Mode::Token,
        "public" => Mode::Public,
        _ => Mode::Open,
    }
}

fn verbs(words: &[String]) -> Verbs {
    words.iter().filter_map(|word| Verbs::named(word)).fold(Verbs::default(), Verbs::and)
}

fn naming(values: Values<'_>) -> Naming {
    super::ready::naming(values)
}

fn user_scopes(values: Values<'_>) -> Result<Scopes, String> {
    let texts = values.list("access.user_scopes");
    match texts {
        [] => Ok(Scopes::default()),
        _ => Scopes::parse(texts.iter().map(String::as_str), naming(values)).map_err(|bad| bad.to_string()),
    }
}

fn configured(values: Values<'_>, token: &Written) -> Result<Configured, String> {
    let scopes =
        Scopes::parse(token.scopes.iter().map(String::as_str), naming(values)).map_err(|bad| bad.to_string())?;
    Ok(Configured { name: token.name.clone(), digest: token.digest, scopes, expires: token.expires })
}

/// What is wrong with tokens once it is known how mailboxes are named.
pub(super) fn mistakes(values: Values<'_>, tokens: &[Written]) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let mut wrong = |text: String| mistakes.push(Mistake { origin: Some(token.origin.clone()), text });
        if let Err(why) = configured(values, token) {
            wrong(format!("access.tokens: {why}"));
        }
        if tokens[..place].iter().any(|other| other.name == token.name) {
            wrong(format!("access.tokens has the name {:?} twice; give one of them another", token.name));
        }
    }
    mistakes
}

/// What does not go together.
pub(super) fn clashes(values: Values<'_>) -> Vec<Clash> {
    let clash = |keys, text: &str| Clash { keys, text: text.to_owned() };
    let mut clashes = Vec::new();
    if let Err(why) = user_scopes(values) {
        clashes
            .push(Clash { keys: ["access.user_scopes", "mailbox.naming"], text: format!("access.user_scopes: {why}") });
    }
    if values.time("inbox.ttl_default") > values.time("inbox.ttl_max") {
        let text = "inbox.ttl_default is longer than inbox.ttl_max; raise the second or lower the first";
        clashes.push(clash(["inbox.ttl_default", "inbox.ttl_max"], text));
    }
    if !values.text("access.user_header").is_empty() && values.list("http.trusted_proxies").is_empty() {
        let text = "access.user_header is believed from http.trusted_proxies alone, and there are none; name the proxy";
        clashes.push(clash(["access.user_header", "http.trusted_proxies"], text));
    }
    if values.text("store.engine") == "jetstream" && mode(values) != Mode::Open && key_file(values).is_none() {
        let text = "nodes that share a store must share the key of inboxes as well; make one with \"openssl rand -hex 32\", \
                    give it to every node, and name its file in access.key_file";
        clashes.push(clash(["store.engine", "access.key_file"], text));
    }
    clashes
}

/// What works, but perhaps not as it was meant.
pub(super) fn doubts(values: Values<'_>, tokens: &[Written]) -> Vec<String> {
    let mode = mode(values);
    let (open, memory) = (mode == Mode::Open, values.text("store.engine") == "memory");
    let doubts = [
        (open.then(|| wide_open(values)).flatten()),
        (mode == Mode::Token && several_domains(values)).then(|| {
            "access.mode is \"token\" and mailbox.naming \"local\", so a token for a mailbox reads that of every domain in \
             policy.accept; set mailbox.naming to \"full\", or use one server for each domain"
                .to_owned()
        }),
        (!open && logs_in_plainly(values)).then(|| {
            "http.addr is plain HTTP: whoever logs in there gets a cookie that the browser sends to every server of that host \
             name, whatever its port; set https.addr, or http.public_url to the https address of a proxy"
                .to_owned()
        }),
        (mode == Mode::Token && memory && tokens.is_empty() && values.text("access.user_header").is_empty()).then(|| {
            "access.mode is \"token\" and there is no token, so nobody can read mail; \"postkeep token new --scope admin:*\" \
             prints one and the lines for the file"
                .to_owned()
        }),
        (open && values.text("store.engine") == "jetstream" && key_file(values).is_none()).then(|| {
            "without access.key_file no inbox can be opened on a cluster; make one with \"openssl rand -hex 32\" and give it to \
             every node"
                .to_owned()
        }),
    ];
    doubts.into_iter().flatten().collect()
}

/// A door for readers that not only this machine can reach.
fn wide_open(values: Values<'_>) -> Option<String> {
    let doors = ["http.addr", "https.addr", "pop3.addr", "pop3s.addr"];
    let door = doors.into_iter().find(|key| values.places(key).iter().any(|place| !is_local(place)))?;
    Some(format!(
        "access.mode is \"open\" and {door} can be reached from other machines, where everybody may read and delete all mail; \
         set access.mode to \"token\" or \"public\", or listen on 127.0.0.1"
    ))
}

fn is_local(place: &Place) -> bool {
    let text = place.to_string();
    let host = text.rsplit_once(':').map_or("", |(host, _)| host);
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    text.starts_with("unix:") || host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

fn several_domains(values: Values<'_>) -> bool {
    let accepted = values.list("policy.accept");
    values.text("mailbox.naming") == "local" && (accepted.len() > 1 || accepted.iter().any(|one| one.contains('*')))
}

fn logs_in_plainly(values: Values<'_>) -> bool {
    let is_plain = values.places("http.addr").iter().any(|place| !place.to_string().starts_with("unix:"));
    is_plain && !values.text("http.public_url").starts_with("https:")
}
