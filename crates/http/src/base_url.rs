//! Where people reach this server: `http.public_url` when it is set, else what the request says. What a proxy says is
//! believed only from the networks of `http.trusted_proxies`.

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::HOST;
use net::Network;

use crate::host::{Authority, Scheme, port_of};

/// The value of `http.public_url`, read and sound: `https://mail.example.com/prefix`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicUrl {
    scheme: Scheme,
    authority: String,
    prefix: String,
}

/// Why a text cannot be `http.public_url`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadUrl {
    /// Neither `http://` nor `https://`.
    #[error("begin it with http:// or https://")]
    Scheme,
    /// No host, or one with a character that no host has.
    #[error(
        "write the host as a name, an IPv4 address or an IPv6 address in brackets; other alphabets in their xn-- form"
    )]
    Host,
    /// A path that cannot stand in front of others.
    #[error("the path may hold letters, digits and -._~%/ only, without empty segments, dots alone, query or fragment")]
    Path,
}

impl PublicUrl {
    /// Read one. A slash at its end does not matter.
    pub fn parse(text: &str) -> Result<Self, BadUrl> {
        let (scheme, rest) = text.split_once("://").ok_or(BadUrl::Scheme)?;
        let scheme = Scheme::named(scheme).ok_or(BadUrl::Scheme)?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        Authority::parse(authority).ok_or(BadUrl::Host)?;
        let prefix = path.strip_suffix('/').unwrap_or(path);
        if !is_prefix(prefix) {
            return Err(BadUrl::Path);
        }
        Ok(Self { scheme, authority: authority.to_owned(), prefix: prefix.to_owned() })
    }

    /// The path in front of all routes: empty, or `/prefix` without a slash at its end.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(crate) fn scheme(&self) -> Scheme {
        self.scheme
    }

    pub(crate) fn authority(&self) -> Authority<'_> {
        Authority::parse(&self.authority).expect("it was read before it was kept")
    }

    fn base(&self) -> String {
        format!("{}://{}{}", self.scheme.name(), self.authority, self.prefix)
    }
}

/// Empty, or segments that are neither empty nor dots, of characters that mean nothing else in an URL or a route.
fn is_prefix(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'%');
    let is_segment = |text: &str| !matches!(text, "" | "." | "..") && text.bytes().all(is_plain);
    match path.strip_prefix('/') {
        Some(segments) => segments.split('/').all(is_segment),
        None => path.is_empty(),
    }
}

/// What a proxy says about the request that it passes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Forwarded<'a> {
    scheme: Option<Scheme>,
    /// The host that the client asked for.
    pub(crate) host: Option<&'a str>,
    port: Option<u16>,
    /// The path that it took away in front of ours.
    pub(crate) prefix: Option<&'a str>,
}

impl<'a> Forwarded<'a> {
    /// Read the `X-Forwarded-*` fields, if they come from a proxy that is believed. Of a list the first counts: it is
    /// what the outermost proxy saw.
    pub(crate) fn read(fields: &'a HeaderMap, peer: Option<IpAddr>, trusted: &[Network]) -> Self {
        let Some(peer) = peer else { return Self::default() };
        if !trusted.iter().any(|network| network.contains(peer)) {
            return Self::default();
        }
        let first = |name: &str| Some(fields.get(name)?.to_str().ok()?.split(',').next()?.trim());
        Self {
            scheme: first("x-forwarded-proto").and_then(Scheme::named),
            host: first("x-forwarded-host"),
            port: first("x-forwarded-port").and_then(port_of),
            prefix: first("x-forwarded-prefix").map(|path| path.trim_end_matches('/')).filter(|path| is_prefix(path)),
        }
    }

    /// The host and port that the client asked for.
    pub(crate) fn authority(&self) -> Option<Authority<'a>> {
        let mut outer = Authority::parse(self.host?)?;
        outer.port = outer.port.or(self.port);
        Some(outer)
    }
}

/// The base of absolute links, without a slash at its end. The Host field has passed the guard.
pub(crate) fn base_url(
    public: Option<&PublicUrl>,
    fields: &HeaderMap,
    scheme: Scheme,
    forwarded: Forwarded<'_>,
) -> String {
    if let Some(public) = public {
        return public.base();
    }
    let host = || fields.get(HOST)?.to_str().ok();
    let Some(host) = forwarded.host.or_else(host).and_then(Authority::parse) else { return String::new() };
    let scheme = forwarded.scheme.unwrap_or(scheme);
    let prefix = forwarded.prefix.unwrap_or_default();
    match forwarded.port {
        Some(port) if host.port.is_none() && !scheme.is_usual(port) => {
            format!("{}://{}:{port}{prefix}", scheme.name(), host.text)
        }
        _ => format!("{}://{}{prefix}", scheme.name(), host.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_read_strictly() {
        let good = |text: &str, base: &str, prefix: &str| {
            let url = PublicUrl::parse(text).unwrap();
            assert_eq!((url.base().as_str(), url.prefix()), (base, prefix), "{text}");
        };
        good("https://mail.example.test/pk", "https://mail.example.test/pk", "/pk");
        good("HTTP://Mail.example.test:8080/", "http://Mail.example.test:8080", "");
        good("http://[::1]:1/a/b/", "http://[::1]:1/a/b", "/a/b");
        let bad = |text: &str, why: BadUrl| assert_eq!(PublicUrl::parse(text), Err(why), "{text}");
        for text in ["", "mail.example.test", "ftp://x", "//x"] {
            bad(text, BadUrl::Scheme);
        }
        for text in ["http://", "http:///pk", "http://u@h", "http://a b", "http://ä", "http://h:x"] {
            bad(text, BadUrl::Host);
        }
        for text in [
            "http://h/a//b",
            "http://h/../a",
            "http://h/a?b",
            "http://h#b",
            "http://h/{a}",
            "http://h/a b",
            "http://h//",
        ] {
            bad(text, BadUrl::Path);
        }
    }

    #[test]
    fn proxies_are_believed_only_when_trusted() {
        let mut fields = HeaderMap::new();
        for (name, value) in [
            ("host", "inner:8025"),
            ("x-forwarded-proto", "https, http"),
            ("x-forwarded-host", "outer.test, inner"),
            ("x-forwarded-port", "8443"),
            ("x-forwarded-prefix", "/mail/"),
        ] {
            fields.insert(name, value.parse().unwrap());
        }
        let trusted = [Network { address: "10.0.0.0".parse().unwrap(), bits: 8 }];
        let check = |peer: Option<&str>, expected: &str| {
            let forwarded = Forwarded::read(&fields, peer.map(|peer| peer.parse().unwrap()), &trusted);
            assert_eq!(base_url(None, &fields, Scheme::Http, forwarded), expected, "{peer:?}");
        };
        check(Some("10.1.2.3"), "https://outer.test:8443/mail");
        check(Some("::ffff:10.1.2.3"), "https://outer.test:8443/mail");
        check(Some("11.1.2.3"), "http://inner:8025");
        check(Some("::1"), "http://inner:8025");
        check(None, "http://inner:8025");
        let public = PublicUrl::parse("https://set.test").unwrap();
        let forwarded = Forwarded::read(&fields, Some("10.1.2.3".parse().unwrap()), &trusted);
        assert_eq!(base_url(Some(&public), &fields, Scheme::Http, forwarded), "https://set.test");
        let plain = Forwarded::default();
        assert_eq!(base_url(None, &fields, Scheme::Https, plain), "https://inner:8025", "under TLS without a proxy");
    }
}
