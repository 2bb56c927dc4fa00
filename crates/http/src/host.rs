//! The Host field: its one reading, and which hosts are served at all.
//!
//! A page that a browser loaded from a stranger's name cannot read mail by pointing that name at this machine (DNS
//! rebinding, T055): names that only the local network or the operator can give are served, any other is refused.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The longest name of DNS, brackets and port aside.
const HOST_MAX: usize = 255;

/// A host and maybe a port, as a Host field or an URL carries them. Sound: it holds no character that could end the
/// place in an URL or a header where it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Authority<'a> {
    /// As it came.
    pub(crate) text: &'a str,
    /// Without port, brackets and trailing dot; case kept.
    pub(crate) host: &'a str,
    /// The port, when it is written.
    pub(crate) port: Option<u16>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Name,
    Address,
}

impl<'a> Authority<'a> {
    /// Read one; none when it is not of the form `host`, `host:port`, `[v6]` or `[v6]:port`.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (host, port, kind) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, behind) = rest.split_once(']')?;
                host.parse::<Ipv6Addr>().ok()?;
                (host, behind, Kind::Address)
            }
            None => {
                let (host, behind) = text.split_at(text.find(':').unwrap_or(text.len()));
                let host = host.strip_suffix('.').unwrap_or(host);
                (host, behind, kind_of(host)?)
            }
        };
        let port = match port.strip_prefix(':') {
            Some(digits) => Some(port_of(digits)?),
            None if port.is_empty() => None,
            None => return None,
        };
        Some(Self { text, host, port, kind })
    }

    /// Whether both name one host and port; a port that is not written is the usual one of `scheme`.
    pub(crate) fn is_same(&self, other: &Authority<'_>, scheme: Scheme) -> bool {
        let usual = scheme.port();
        self.host.eq_ignore_ascii_case(other.host) && self.port.unwrap_or(usual) == other.port.unwrap_or(usual)
    }

    /// Whether the host is one that no stranger can name.
    pub(crate) fn is_local(&self) -> bool {
        const LOCAL: [&str; 4] = ["localhost", "local", "internal", "test"];
        match self.host.rsplit_once('.') {
            _ if self.kind == Kind::Address => true,
            None => true,
            Some((_, last)) => LOCAL.iter().any(|local| last.eq_ignore_ascii_case(local)),
        }
    }
}

/// A dotted name of letters, digits, `-` and `_`, or an IPv4 address.
fn kind_of(host: &str) -> Option<Kind> {
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_name_byte);
    if host.len() > HOST_MAX || !host.split('.').all(is_label) {
        return None;
    }
    Some(if host.parse::<Ipv4Addr>().is_ok() { Kind::Address } else { Kind::Name })
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

pub(crate) fn port_of(digits: &str) -> Option<u16> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

/// How a client reaches a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scheme {
    Http,
    Https,
}

impl Scheme {
    /// By its name, as an URL or `X-Forwarded-Proto` has it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match () {
            () if name.eq_ignore_ascii_case("http") => Some(Self::Http),
            () if name.eq_ignore_ascii_case("https") => Some(Self::Https),
            () => None,
        }
    }

    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Whether an URL need not tell this port.
    pub(crate) const fn is_usual(self, port: u16) -> bool {
        self.port() == port
    }

    const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// A name the operator allows: itself, or with `*.` in front every name below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Allowed {
    name: String,
    below: bool,
}

impl Allowed {
    /// As `http.allowed_hosts` has it.
    pub(crate) fn new(text: &str) -> Self {
        let (below, name) = text.strip_prefix("*.").map_or((false, text), |name| (true, name));
        Self { name: name.trim_end_matches('.').to_owned(), below }
    }

    /// Whether this host is meant.
    pub(crate) fn covers(&self, host: &str) -> bool {
        if !self.below {
            return host.eq_ignore_ascii_case(&self.name);
        }
        let Some(dot) = host.len().checked_sub(self.name.len() + 1).filter(|dot| *dot > 0) else { return false };
        host.as_bytes()[dot] == b'.' && host.as_bytes()[dot + 1..].eq_ignore_ascii_case(self.name.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_no_stranger_can_name_are_local() {
        let check = |text: &str, expected: Option<bool>| {
            assert_eq!(Authority::parse(text).map(|authority| authority.is_local()), expected, "{text:?}");
        };
        for text in
            ["127.0.0.1", "10.1.2.3:80", "[::1]", "[::1]:8025", "localhost", "LocalHost:1", "localhost.", "a.localhost"]
        {
            check(text, Some(true));
        }
        for text in ["mailhost", "my_host:8025", "a.b.local", "x.INTERNAL", "x.test.", "8.8.8.8"] {
            check(text, Some(true));
        }
        for text in
            ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.1", "a.testx", "0x7f.1:80"]
        {
            check(text, Some(false));
        }
        for text in
            ["", ".", "a..b", ":80", "a:", "a:b", "a:+1", "a:70000", "a:1:2", "a, b", "u@h", "a/b", "a b", "ä", "a%41"]
        {
            check(text, None);
        }
        for text in ["[::1", "[::1]x", "[127.0.0.1]", "[]", "[fe80::1%25eth0]", "::1", "a\\b", "a#b", "a?b"] {
            check(text, None);
        }
        check(&"a".repeat(256), None);
    }

    #[test]
    fn a_star_covers_what_is_below_and_nothing_beside() {
        let check = |allowed: &str, host: &str, expected: bool| {
            assert_eq!(Allowed::new(allowed).covers(host), expected, "{allowed} {host}");
        };
        check("mail.example.com", "MAIL.example.com", true);
        check("mail.example.com.", "mail.example.com", true);
        check("mail.example.com", "x.mail.example.com", false);
        check("*.example.com", "a.b.example.com", true);
        check("*.example.com", "example.com", false);
        check("*.example.com", ".example.com", false);
        check("*.example.com", "evilexample.com", false);
    }

    #[test]
    fn ports_that_are_not_written_are_the_usual_ones() {
        let check = |one: &str, other: &str, scheme: Scheme, expected: bool| {
            let (one, other) = (Authority::parse(one).unwrap(), Authority::parse(other).unwrap());
            assert_eq!(one.is_same(&other, scheme), expected, "{one:?} {other:?}");
        };
        check("Host", "host:80", Scheme::Http, true);
        check("host", "host:443", Scheme::Https, true);
        check("host", "host:80", Scheme::Https, false);
        check("host:1", "host:2", Scheme::Http, false);
        check("host", "other", Scheme::Http, false);
        check("[::1]:1", "[::1]:1", Scheme::Http, true);
    }
}
