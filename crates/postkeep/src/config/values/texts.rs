//! Texts with a form of their own: addresses, names, URLs, networks. Each answers with the text to keep, or nothing.

use std::net::{IpAddr, SocketAddr};

/// `HOST:PORT`, or the path of a Unix socket.
pub(super) fn place(text: &str) -> Option<String> {
    match text.strip_prefix("unix:") {
        Some(path) => (!path.is_empty() && !path.contains(char::is_control)).then(|| text.to_owned()),
        None => addr(text),
    }
}

/// `HOST:PORT`, an IPv6 host in brackets.
fn addr(text: &str) -> Option<String> {
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

/// A host that can be dialled, or nothing. An IPv6 one may do without its brackets.
pub(super) fn dialled(text: &str) -> Option<String> {
    let sound = text.is_empty() || is_dialled(text) || text.parse::<IpAddr>().is_ok();
    sound.then(|| text.to_owned())
}

/// What somebody signs in with, or nothing.
pub(super) fn user(text: &str) -> Option<String> {
    (text.len() <= 255 && !text.contains(is_unseen)).then(|| text.to_owned())
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

/// What people call something, or nothing: short, and of letters that are seen.
pub(super) fn label(text: &str) -> Option<String> {
    let text = text.trim();
    (text.chars().count() <= 40 && !text.contains(is_unseen)).then(|| text.to_owned())
}

/// Controls, and those that turn the direction of what stands around them.
fn is_unseen(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
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

/// `https://host` or `https://host:port`, as a browser writes it: no path, in lower case.
pub(super) fn origin(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let authority = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"))?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    (is_dialled(host) && port.is_none_or(is_port)).then_some(lower)
}

/// The name of a field of HTTP (RFC 9110 §5.1), or nothing.
pub(super) fn field(text: &str) -> Option<String> {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    (text.len() <= 100 && text.bytes().all(sound)).then(|| text.to_ascii_lowercase())
}

/// A name or an address that a certificate can be for.
pub(super) fn subject(text: &str) -> Option<String> {
    if text.parse::<IpAddr>().is_ok() { Some(text.to_owned()) } else { host(text) }
}

/// A server of DNS; its port is 53 unless it is given.
pub(crate) fn resolver(text: &str) -> Option<SocketAddr> {
    const DNS: u16 = 53;
    let alone = || text.parse::<IpAddr>().ok().map(|ip| SocketAddr::new(ip, DNS));
    text.parse().ok().or_else(alone)
}

/// An address of e-mail, or nothing.
pub(super) fn email(text: &str) -> Option<String> {
    let is_sound = |c: char| c.is_ascii_graphic() && !"<>()[],;:\\\"@".contains(c);
    let (local, domain) = text.split_once('@').unwrap_or((text, ""));
    let sound = text.is_empty() || (!local.is_empty() && local.chars().all(is_sound) && is_hostname(domain));
    sound.then(|| text.to_owned())
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
