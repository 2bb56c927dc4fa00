//! Where each door is, and what guards them all: rates, questions to DNS, who may sign in.

use std::path::PathBuf;

use net::{Network, Place, Quota};

use super::ready::{Clash, Values};
use super::values::resolver;

/// The doors by their names, in the order in which they are told.
pub(crate) const NAMES: [&str; 7] = ["smtp", "smtps", "lmtp", "pop3", "pop3s", "http", "https"];
/// Their keys.
const KEYS: [&str; 7] = ["smtp.addr", "smtps.addr", "lmtp.addr", "pop3.addr", "pop3s.addr", "http.addr", "https.addr"];

/// Where each door is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Doors {
    /// The places of each, in the order of [`NAMES`].
    pub(crate) places: [Vec<Place>; 7],
    /// `runtime.socket_mode`.
    pub(crate) socket_mode: u32,
    /// `smtp.proxy_from`.
    pub(crate) smtp_proxies: Vec<Network>,
    /// `pop3.proxy_from`.
    pub(crate) pop3_proxies: Vec<Network>,
    /// `http.proxy_from`.
    pub(crate) http_proxies: Vec<Network>,
}

impl Doors {
    /// The places of a door.
    pub(crate) fn of(&self, name: &str) -> &[Place] {
        &self.places[NAMES.iter().position(|&known| known == name).expect("it is a door")]
    }
}

/// What guards the doors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Guards {
    /// `smtp.auth_file`, when `smtp.auth` asks for it.
    pub(crate) users: Option<PathBuf>,
    /// Connections, of one address and of one network.
    pub(crate) connections: [Option<Quota>; 2],
    /// Transactions, the same.
    pub(crate) transactions: [Option<Quota>; 2],
    /// Bytes, the same.
    pub(crate) bytes: [Option<Quota>; 2],
    /// `rate.entries_max`.
    pub(crate) entries_max: usize,
    /// The section `dns`.
    pub(crate) dns: net::dns::Settings,
}

pub(super) fn doors(values: Values<'_>) -> Doors {
    Doors {
        places: KEYS.map(|key| values.places(key)),
        socket_mode: u32::from_str_radix(values.text("runtime.socket_mode"), 8).expect("a mode was checked"),
        smtp_proxies: values.networks("smtp.proxy_from"),
        pop3_proxies: values.networks("pop3.proxy_from"),
        http_proxies: values.networks("http.proxy_from"),
    }
}

pub(super) fn guards(values: Values<'_>) -> Guards {
    let rates = |ip: &str, network: &str| [values.rate(ip), values.rate(network)];
    Guards {
        users: values.file("smtp.auth_file").filter(|_| values.text("smtp.auth") == "list"),
        connections: rates("rate.connections_per_ip_max", "rate.connections_per_network_max"),
        transactions: rates("rate.transactions_per_ip_max", "rate.transactions_per_network_max"),
        bytes: rates("rate.bytes_per_ip_max", "rate.bytes_per_network_max"),
        entries_max: values.count("rate.entries_max"),
        dns: net::dns::Settings {
            blocklists: values.list("dns.blocklists").to_vec(),
            reverse: values.flag("dns.reverse"),
            servers: values.list("dns.servers").iter().filter_map(|text| resolver(text)).collect(),
            timeout: values.time("dns.timeout"),
            cache_max: values.size("dns.cache_max"),
        },
    }
}

/// What does not go together.
pub(super) fn clashes(values: Values<'_>) -> Vec<Clash> {
    let mut clashes = one_place_for_two(values);
    let auth = |text: &str| Clash { keys: ["smtp.auth", "smtp.auth_file"], text: text.to_owned() };
    let (word, file) = (values.text("smtp.auth"), values.text("smtp.auth_file"));
    if word == "list" && file.is_empty() {
        clashes.push(auth("smtp.auth is \"list\" and there is no list; name its file in smtp.auth_file"));
    }
    if word == "off" && values.flag("smtp.auth_required") {
        let text =
            "smtp.auth_required wants everybody to sign in and smtp.auth is \"off\"; change one of them".to_owned();
        clashes.push(Clash { keys: ["smtp.auth", "smtp.auth_required"], text });
    }
    clashes
}

fn one_place_for_two(values: Values<'_>) -> Vec<Clash> {
    let all: Vec<_> =
        KEYS.iter().flat_map(|&key| values.places(key).into_iter().map(move |place| (key, place))).collect();
    let mut clashes = Vec::new();
    for (number, (key, place)) in all.iter().enumerate() {
        let text = place.to_string();
        let Some((earlier, _)) = all[..number].iter().find(|(_, other)| other == place) else { continue };
        if text.ends_with(":0") && !text.starts_with("unix:") {
            continue;
        }
        let text = match earlier == key {
            true => format!("{key} names {text} twice; take one of them out"),
            false => format!("{earlier} and {key} are both {text}; give one of them another port"),
        };
        clashes.push(Clash { keys: [earlier, key], text });
    }
    clashes
}
