//! The configuration as the rooms take it. Every value was checked before; what goes together is checked here.

use std::path::PathBuf;
use std::time::Duration;

use mail::Naming;
use mail::trace::Peer;
use mailroom::Senders;
use mailroom::policy::{Pattern, Policy};
use net::tls::TlsUse;
use net::{Network, Place, Plaintext, Quota};
use smtp::BareNewlines;

use super::access;
use super::doors::{self, Doors, Guards};
use super::engines::{self, Store};
use super::faults;
use super::keys::Key;
use super::layers::Tables;
use super::relay::{self, Relay};
use super::report::{Mistake, Origin};
use super::script::{self, Script};
use super::tls::{self, Tls};
use super::values::{Size, Value, rate};
use super::wait;
use super::webhooks::{self, Webhook};
use crate::log::{Format, Level};

/// Everything the program needs to be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Config {
    /// Where each door is.
    pub(crate) doors: Doors,
    /// The section `smtp`.
    pub(crate) smtp: smtp::Settings,
    /// The section `http`.
    pub(crate) http: web::Settings,
    /// `http.metrics`.
    pub(crate) metrics: bool,
    /// `http.page_folder`; none: the page that is built in.
    pub(crate) page_folder: Option<PathBuf>,
    /// The section `pop3`.
    pub(crate) pop3: pop3::Settings,
    /// The sections `tls` and `acme`.
    pub(crate) tls: Tls,
    /// The sections `rate` and `dns`, and who may sign in: what guards the doors.
    pub(crate) guards: Guards,
    /// The sections `policy`, `access`, `refusals`, `feed`, and `mailbox.naming`.
    pub(crate) mailroom: mailroom::Settings,
    /// The section `relay`; none: nothing leaves.
    pub(crate) relay: Option<Relay>,
    /// `access.key_file`; none: what is right for the engine.
    pub(crate) key_file: Option<PathBuf>,
    /// The section `script`.
    pub(crate) script: Script,
    /// The section `store`, and how long and how many a mailbox keeps.
    pub(crate) store: Store,
    /// `[[webhook]]`.
    pub(crate) webhooks: Vec<Webhook>,
    /// The section `webhooks`.
    pub(crate) webhook_limits: courier::webhook::Limits,
    /// `webhooks.waiting_max`.
    pub(crate) webhooks_waiting_max: u64,
    /// The section `outbound`.
    pub(crate) outbound: outbound::Settings,
    /// `log.level`.
    pub(crate) log_level: Level,
    /// `log.format`.
    pub(crate) log_format: Format,
    /// `stop.grace`.
    pub(crate) stop_grace: Duration,
    /// `runtime.workers`; none: one for each core.
    pub(crate) workers: Option<usize>,
}

/// A message that was exported has its trace fields already: so much more than `smtp.message_max` may be imported.
const IMPORT_MORE: u64 = 64 << 10;

/// Reads checked values by their keys' names. A name or kind that does not fit is a fault of this file, which the test
/// of the defaults finds.
#[derive(Clone, Copy)]
pub(super) struct Values<'a>(&'a [(Value, Origin)]);

impl<'a> Values<'a> {
    fn value(&self, name: &str) -> &'a Value {
        &self.0[Key::index(name).unwrap_or_else(|| panic!("{name} is a key"))].0
    }

    pub(super) fn text(&self, name: &str) -> &'a str {
        match self.value(name) {
            Value::Text(text) => text,
            other => panic!("{name} is a text, not {other:?}"),
        }
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        *self.value(name) == Value::Flag(true)
    }

    pub(super) fn size(&self, name: &str) -> u64 {
        match self.value(name) {
            Value::Size(number) | Value::Count(number) => *number,
            other => panic!("{name} is a number, not {other:?}"),
        }
    }

    pub(super) fn count<T: TryFrom<u64>>(&self, name: &str) -> T {
        T::try_from(self.size(name)).unwrap_or_else(|_| panic!("the bounds of {name} fit its type"))
    }

    pub(super) fn time(&self, name: &str) -> Duration {
        match self.value(name) {
            Value::Time(time) => *time,
            other => panic!("{name} is a duration, not {other:?}"),
        }
    }

    pub(super) fn list(&self, name: &str) -> &'a [String] {
        match self.value(name) {
            Value::List(items) => items,
            other => panic!("{name} is a list, not {other:?}"),
        }
    }

    pub(super) fn places(&self, name: &str) -> Vec<Place> {
        match self.value(name) {
            Value::Some(items) => items.iter().map(|item| Place::parse(item)).collect(),
            other => panic!("{name} is a list of places, not {other:?}"),
        }
    }

    pub(super) fn networks(&self, name: &str) -> Vec<Network> {
        self.list(name).iter().map(|text| Network::parse(text).expect("a network was checked")).collect()
    }

    pub(super) fn rate(&self, name: &str) -> Option<Quota> {
        rate(self.text(name)).expect("a rate was checked")
    }

    /// A path, where one is given.
    pub(super) fn file(&self, name: &str) -> Option<PathBuf> {
        Some(self.text(name)).filter(|path| !path.is_empty()).map(PathBuf::from)
    }

    fn patterns(&self, name: &str) -> Vec<Pattern> {
        self.list(name).iter().map(|item| item.parse().expect("a pattern was checked")).collect()
    }
}

impl Config {
    /// Make it of checked values.
    pub(crate) fn of(values: &[(Value, Origin)], tables: &Tables) -> Self {
        let values = Values(values);
        Self {
            doors: doors::doors(values),
            smtp: smtp(values),
            http: http(values),
            metrics: values.flag("http.metrics"),
            page_folder: values.file("http.page_folder"),
            pop3: pop3(values),
            tls: tls::tls(values),
            guards: doors::guards(values),
            mailroom: mailroom(values, tables),
            relay: relay::relay(values),
            key_file: access::key_file(values),
            script: script::script(values, letter(values)),
            store: engines::store(values),
            webhooks: tables.webhooks.clone(),
            webhook_limits: webhooks::limits(values),
            webhooks_waiting_max: values.count("webhooks.waiting_max"),
            outbound: webhooks::outbound(values),
            log_level: values.text("log.level").parse().expect("a level was checked"),
            log_format: match values.text("log.format") {
                "json" => Format::Json,
                _ => Format::Text,
            },
            stop_grace: values.time("stop.grace"),
            workers: Some(values.count("runtime.workers")).filter(|&workers| workers != 0),
        }
    }
}

fn hostname(values: Values<'_>) -> String {
    match values.text("smtp.hostname") {
        "" => super::host::name(),
        name => name.to_owned(),
    }
}

fn tls_use(word: &str) -> TlsUse {
    match word {
        "require" => TlsUse::Require,
        "off" => TlsUse::Off,
        _ => TlsUse::Offer,
    }
}

fn plaintext(word: &str) -> Plaintext {
    match word {
        "never" => Plaintext::Never,
        "always" => Plaintext::Always,
        _ => Plaintext::Private,
    }
}

fn smtp(values: Values<'_>) -> smtp::Settings {
    smtp::Settings {
        hostname: hostname(values),
        message_max: values.size("smtp.message_max"),
        oversize_drain_max: values.size("smtp.oversize_drain_max"),
        recipients_max: values.count("smtp.recipients_max"),
        line_max: values.count("smtp.line_max"),
        connections_max: values.count("smtp.connections_max"),
        connections_per_ip_max: values.count("smtp.connections_per_ip_max"),
        in_flight_max: values.size("smtp.in_flight_max"),
        errors_max: values.count("smtp.errors_max"),
        idle_commands_max: values.count("smtp.idle_commands_max"),
        received_max: values.count("smtp.received_max"),
        idle_timeout: values.time("smtp.idle_timeout"),
        line_timeout: values.time("smtp.line_timeout"),
        data_timeout: values.time("smtp.data_timeout"),
        transaction_timeout: values.time("smtp.transaction_timeout"),
        write_timeout: values.time("smtp.write_timeout"),
        greeting_delay: values.time("smtp.greeting_delay"),
        bare_newlines: match values.text("smtp.bare_newlines") {
            "normalize" => BareNewlines::Normalize,
            _ => BareNewlines::Reject,
        },
        trace_peer: trace_peer(values),
        tls: tls_use(values.text("smtp.tls")),
        auth: values.text("smtp.auth") != "off",
        auth_required: values.flag("smtp.auth_required"),
        auth_plaintext: plaintext(values.text("smtp.auth_plaintext")),
        tarpit: values.time("smtp.tarpit"),
    }
}

fn trace_peer(values: Values<'_>) -> Peer {
    if values.flag("smtp.trace_peer") { Peer::Shown } else { Peer::Hidden }
}

fn http(values: Values<'_>) -> web::Settings {
    web::Settings {
        public_url: Some(values.text("http.public_url").to_owned()).filter(|url| !url.is_empty()),
        allowed_hosts: values.list("http.allowed_hosts").to_vec(),
        trusted_proxies: values.networks("http.trusted_proxies"),
        connections_max: values.count("http.connections_max"),
        connections_per_ip_max: values.count("http.connections_per_ip_max"),
        body_max: values.size("http.body_max"),
        json_depth_max: values.count("http.json_depth_max"),
        bulk_max: values.count("http.bulk_max"),
        page_default: values.count("http.page_default"),
        page_max: values.count("http.page_max"),
        page_full_max: values.count("http.page_full_max"),
        message_max: values.size("smtp.message_max"),
        told: web::Told {
            label: Some(values.text("http.label").to_owned()).filter(|label| !label.is_empty()),
            // Where the doors are is known when they are bound.
            smtp: Vec::new(),
            domain: domain(values),
        },
        deliver: web::Deliver {
            hostname: hostname(values),
            trace_peer: trace_peer(values),
            recipients_max: values.count("smtp.recipients_max"),
            received_max: values.count("smtp.received_max"),
            idempotency_window: values.time("deliver.idempotency_window"),
        },
        import_max: values.size("smtp.message_max") + IMPORT_MORE,
        header_max: values.count("http.header_max"),
        answers_max: values.size("http.answers_max"),
        header_timeout: values.time("http.header_timeout"),
        request_timeout: values.time("http.request_timeout"),
        idle_timeout: values.time("http.idle_timeout"),
        events: events(values),
        monitor: web::live::Monitor {
            enabled: values.flag("monitor.enabled"),
            history_max: values.count("monitor.history_max"),
            frame_max: values.count("monitor.frame_max"),
        },
        kept: web::live::Kept {
            retention: Some(values.time("mailbox.retention")).filter(|time| !time.is_zero()),
            messages_max: values.count("mailbox.messages_max"),
        },
        cors_origins: values.list("http.cors_origins").to_vec(),
        rate_per_ip: values.rate("http.rate_per_ip"),
        rate_entries_max: values.count("rate.entries_max"),
        user_header: Some(values.text("access.user_header").to_owned()).filter(|name| !name.is_empty()),
    }
}

/// The first domain that mail is taken for, when it is not taken for all.
fn domain(values: Values<'_>) -> Option<String> {
    values.list("policy.accept").iter().find(|domain| !domain.contains(['*', '?'])).cloned()
}

fn events(values: Values<'_>) -> web::live::Events {
    web::live::Events {
        mailboxes_max: values.count("events.mailboxes_max"),
        resume_window: values.time("events.resume_window"),
        heartbeat: values.time("events.heartbeat"),
        write_max: values.time("events.write_max"),
        streams_max: values.count("events.streams_max"),
        per_ip_max: values.count("events.per_ip_max"),
        life_max: values.time("events.life_max"),
        all_rate_max: values.count("events.all_rate_max"),
    }
}

fn pop3(values: Values<'_>) -> pop3::Settings {
    pop3::Settings {
        hostname: hostname(values),
        messages_max: values.count("pop3.messages_max"),
        line_max: values.count("pop3.line_max"),
        connections_max: values.count("pop3.connections_max"),
        connections_per_ip_max: values.count("pop3.connections_per_ip_max"),
        answers_max: values.size("pop3.answers_max"),
        errors_max: values.count("pop3.errors_max"),
        idle_timeout: values.time("pop3.idle_timeout"),
        line_timeout: values.time("pop3.line_timeout"),
        write_timeout: values.time("pop3.write_timeout"),
        answer_timeout: values.time("pop3.answer_timeout"),
        tls: tls_use(values.text("pop3.tls")),
        auth_plaintext: plaintext(values.text("pop3.auth_plaintext")),
    }
}

/// What of an address names its mailbox.
pub(super) fn naming(values: Values<'_>) -> Naming {
    match values.text("mailbox.naming") {
        "full" => Naming::Full,
        "domain" => Naming::Domain,
        _ => Naming::Local,
    }
}

fn mailroom(values: Values<'_>, tables: &Tables) -> mailroom::Settings {
    mailroom::Settings {
        hooks: mailroom::Say::default(),
        relay: relay::rules(values, &tables.relay_rules),
        naming: naming(values),
        routes: tables.routes.iter().map(|written| written.route.clone()).collect(),
        access: access::rules(values, &tables.tokens),
        webhooks: webhooks::targets(values, &tables.webhooks),
        policy: Policy {
            reject: values.patterns("policy.reject"),
            discard: values.patterns("policy.discard"),
            accept: values.patterns("policy.accept"),
            reject_senders: values.patterns("policy.reject_senders"),
        },
        faults: faults::settings(values),
        refusals_max: values.count("refusals.ring_max"),
        search: mailroom::search::Limits {
            deadline: values.time("search.deadline"),
            scan_max: values.size("search.scan_max"),
            parallel_max: values.count("search.parallel_max"),
        },
        recent: mailroom::recent::Limits {
            ring_max: values.count("recent.ring_max"),
            gather_max: values.time("recent.gather_max"),
        },
        queue_max: values.count("events.queue_max"),
        watchers_max: values.count("feed.watchers_max"),
        wait: wait::limits(values),
        letters_bytes_max: values.count("parse.cache_max"),
        letter: letter(values),
        senders: match values.text("smtp.auth") {
            "off" => Senders::Off,
            "token" => Senders::Tokens,
            // A list is read by whoever opens the file.
            _ => Senders::Any,
        },
        mailbox_max: values.rate("rate.mailbox_max"),
        failed_logins_max: values.rate("rate.failed_logins_per_ip_max"),
        entries_max: values.count("rate.entries_max"),
    }
}

/// How much of a message is taken apart.
fn letter(values: Values<'_>) -> mail::letter::Limits {
    mail::letter::Limits { text_max: values.count("message.text_max"), extract: extract(values) }
}

/// How far codes and links are looked for.
fn extract(values: Values<'_>) -> mail::extract::Limits {
    mail::extract::Limits {
        text_max: values.count("extract.text_max"),
        codes_max: values.count("extract.codes_max"),
        links_max: values.count("extract.links_max"),
    }
}

/// What is sound key by key and cannot work together.
pub(crate) fn contradictions(values: &[(Value, Origin)], tables: &Tables) -> Vec<Mistake> {
    let read = Values(values);
    let origin = |name: &str| Key::index(name).map(|index| values[index].1.clone());
    let clashes = doors::clashes(read).into_iter().chain(tls::clashes(read));
    let clashes = clashes.chain(engines::half_a_certificate(read)).chain(engines::two_users(read));
    let clashes = clashes.chain(wait::clashes(read)).chain(faults::clashes(read));
    let clashes = clashes.chain(access::clashes(read)).chain(relay::clashes(read));
    let mistakes = clashes.map(|Clash { keys, text }| {
        // The mistake was made where the later of the two was written.
        Mistake { origin: origin(keys[0]).max(origin(keys[1])), text }
    });
    let mistakes = mistakes.chain(access::mistakes(read, &tables.tokens));
    let mistakes = mistakes.chain(relay::mistakes(read, &tables.relay_rules));
    mistakes.chain(webhooks::mistakes(read, &tables.webhooks)).collect()
}

/// Two keys that do not go together, and what to do.
pub(super) struct Clash {
    pub(super) keys: [&'static str; 2],
    pub(super) text: String,
}

/// What works, but perhaps not as it was meant.
pub(crate) fn doubts(values: &[(Value, Origin)], tables: &Tables) -> Vec<String> {
    let read = Values(values);
    let message_max = read.size("smtp.message_max");
    let doubt = |bound: &str| {
        let (size, message) = (Size(read.size(bound)), Size(message_max));
        format!(
            "{bound} is {size} and smtp.message_max {message}, so the largest messages are never taken; raise the first \
             or lower the second"
        )
    };
    let store = match read.text("store.engine") {
        "disk" => "store.disk.bytes_max",
        "jetstream" => "store.jetstream.bytes_max",
        _ => "store.memory.bytes_max",
    };
    // A bound of 0 is none, where 0 is taken.
    let bounds = ["smtp.in_flight_max", store].into_iter();
    let bounds = bounds.filter(|bound| (1..message_max).contains(&read.size(bound))).map(doubt);
    let doubts = bounds.chain(access::doubts(read, &tables.tokens));
    doubts.chain(relay::doubts(read, &tables.relay_rules)).collect()
}
