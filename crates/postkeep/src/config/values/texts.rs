//! Texts with a form of their own: addresses, names, URLs, networks. Each answers with the text to keep, or nothing.

use std::net::IpAddr;

/// `HOST:PORT`, an IPv6 host in brackets.
pub(super) fn addr(text: &str) -> Option<String> {
    let (host, port) = text.rsplit_once(':')?;
    (is_dialled(host) && is_port(port)).then(|| text.to_owned())
}

/// Whether this is a host that can be dialled, an IPv6 one in brackets.
pub(super) fn is_dialled(host: &str) -> bool {
    match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').is_some_and(|ip| ip.parse::<std::net::Ipv6Addr>().is_ok()),
        None => is_name(host, Underscore::Taken),
    }
}

/// Whether this is the number of a port.
pub(super) fn is_port(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
}

/// A path, or nothing.
pub(super) fn path(text: &str) -> Option<String> {
    (!text.contains('\0')).then(|| text.to_owned())
}

/// What can begin the name of a stream and a subject.
pub(super) fn prefix(text: &str) -> Option<String> {
    let sound = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    ((1..=32).contains(&text.len()) && text.bytes().all(sound)).then(|| text.to_owned())
}

/// A host name, or nothing.
pub(super) fn hostname(text: &str) -> Option<String> {
    (text.is_empty() || is_hostname(text)).then(|| text.to_owned())
}

/// Whether this can stand in a greeting (RFC 5321 §4.1.2, Domain).
pub(crate) fn is_hostname(text: &str) -> bool {
    is_name(text, Underscore::Refused)
}

/// A name that a Host field may carry, `*.` allowed in front; in lower case.
pub(super) fn host(text: &str) -> Option<String> {
    let name = text.strip_prefix("*.").unwrap_or(text);
    is_name(name, Underscore::Taken).then(|| text.to_ascii_lowercase())
}

/// `10.0.0.0/8`, or one address.
pub(crate) fn network(text: &str) -> Option<web::Network> {
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let address: IpAddr = address.parse().ok()?;
    let whole = if address.is_ipv4() { 32 } else { 128 };
    let bits = match bits {
        None => whole,
        Some(bits) => bits.parse().ok().filter(|&bits| bits <= whole)?,
    };
    Some(web::Network { address, bits })
}

/// Container networks give hosts names with an underscore; a mail domain has none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Underscore {
    Taken,
    Refused,
}

/// Labels of letters, digits and inner hyphens.
fn is_name(text: &str, underscore: Underscore) -> bool {
    let sound =
        |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || (byte == b'_' && underscore == Underscore::Taken);
    let label = |label: &str| {
        (1..=63).contains(&label.len()) && label.bytes().all(sound) && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(label)
}
