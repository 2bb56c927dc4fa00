//! URLs of brokers: what they look like, and how they are shown without the password in them.

use super::texts::{is_dialled, is_port};

/// `nats://host`, `tls://user:password@host:port`. Signs that part a URL must be written as `%40` and the like.
pub(super) fn url(text: &str) -> Option<String> {
    let rest = text.strip_prefix("nats://").or_else(|| text.strip_prefix("tls://"))?;
    let (user, place) = rest.rsplit_once('@').map_or((None, rest), |(user, place)| (Some(user), place));
    let parting = |c: char| c.is_whitespace() || c.is_control() || "@/?#".contains(c);
    let user_is_sound = user.is_none_or(|user| !user.is_empty() && !user.starts_with(':') && !user.contains(parting));
    let (host, port) = parted(place);
    let place_is_sound = is_dialled(host) && port.is_none_or(is_port);
    (user_is_sound && place_is_sound).then(|| text.to_owned())
}

/// The broker's host, and its port where one is given.
pub(crate) fn place(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.rsplit_once('@').map_or(rest, |(_, place)| place)
}

/// `user:password`, or a token, where one is given.
pub(crate) fn user(url: &str) -> Option<&str> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.rsplit_once('@').map(|(user, _)| user)
}

/// As it may be shown, sound or not: `nats://user:***@host`. A user without a password is a token, and as secret; what
/// stands for a port and is none may be a password whose host was forgotten.
pub(super) fn hidden(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, _)| url.split_at(scheme.len() + 3));
    match rest.rsplit_once('@') {
        Some((user, place)) => match user.split_once(':') {
            Some((name, _)) => format!("{scheme}{name}:***@{place}"),
            None => format!("{scheme}***@{place}"),
        },
        None => match parted(rest) {
            (host, Some(port)) if !is_port(port) => format!("{scheme}{host}:***"),
            _ => url.to_owned(),
        },
    }
}

/// Host and port; the colons of an IPv6 address are inside of brackets.
fn parted(place: &str) -> (&str, Option<&str>) {
    match place.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (place, None),
    }
}
