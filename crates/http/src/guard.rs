//! The one layer that every request passes before anything looks at its path: target, Host, Origin, framing.
//!
//! It works on the head alone and knows no routes, so no spelling of a path leads round it (T054). How large a body may
//! be depends on what is asked for, so that is judged behind the rest, when it is known.

use std::net::IpAddr;

use axum::http::header::{CONTENT_LENGTH, HOST, ORIGIN, TRANSFER_ENCODING};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use net::Network;

use crate::asked::Peer;
use crate::base_url::{Forwarded, PublicUrl, base_url};
use crate::host::{Allowed, Authority, Scheme};
use crate::problem::Problem;
use crate::router::Takes;
use crate::settings::Settings;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The rules, made ready from the settings.
#[derive(Debug)]
pub(crate) struct Guard {
    public: Option<PublicUrl>,
    allowed: Vec<Allowed>,
    trusted: Vec<Network>,
    /// Origins whose pages may call, each as a browser writes it.
    listed: Vec<String>,
    body_max: u64,
    import_max: u64,
}

impl Guard {
    /// A public URL that cannot be read is left out and said in the log; the configuration refuses it before.
    pub(crate) fn new(settings: &Settings) -> Self {
        let read = |text: &String| {
            PublicUrl::parse(text)
                .inspect_err(|error| tracing::error!(url = ?text, %error, "http.public_url is ignored"))
                .ok()
        };
        Self {
            public: settings.public_url.as_ref().and_then(read),
            allowed: settings.allowed_hosts.iter().map(|text| Allowed::new(text)).collect(),
            trusted: settings.trusted_proxies.clone(),
            listed: settings.cors_origins.clone(),
            body_max: settings.body_max,
            import_max: settings.import_max,
        }
    }

    /// May this request be looked at?
    pub(crate) fn admit(&self, head: &Parts, peer: Peer) -> Result<(), Problem> {
        let forwarded = Forwarded::read(&head.headers, peer.ip, &self.trusted);
        let host = one_host(head)?;
        self.serves(host)?;
        if let Some(outer) = forwarded.host {
            self.serves(Authority::parse(outer).ok_or_else(bad_host)?)?;
        }
        if !head.method.is_safe() {
            self.judge_origin(&head.headers, host, forwarded)?;
        }
        Ok(())
    }

    /// May a page hold a connection that tells it of mail? Only one of our own, though such a request changes nothing:
    /// browsers ask nobody before they open a WebSocket for a stranger's page (T053).
    pub(crate) fn admit_own(&self, head: &Parts, peer: Peer) -> Result<(), Problem> {
        let forwarded = Forwarded::read(&head.headers, peer.ip, &self.trusted);
        self.judge_origin(&head.headers, one_host(head)?, forwarded)
    }

    /// The path in front of all routes, beside the root.
    pub(crate) fn prefix(&self) -> &str {
        self.public.as_ref().map_or("", PublicUrl::prefix)
    }

    /// The path in front of the page as the browser of this request sees it: ours, or what a proxy that is believed says.
    pub(crate) fn prefix_for<'a>(&'a self, fields: &'a HeaderMap, peer: Peer) -> &'a str {
        match &self.public {
            Some(public) => public.prefix(),
            None => Forwarded::read(fields, peer.ip, &self.trusted).prefix.unwrap_or_default(),
        }
    }

    /// The base of the links in the answer to a request that was admitted.
    pub(crate) fn base_url(&self, fields: &HeaderMap, peer: Peer) -> String {
        base_url(self.public.as_ref(), fields, peer.scheme, Forwarded::read(fields, peer.ip, &self.trusted))
    }

    /// Whether a peer is a proxy whose word is believed.
    pub(crate) fn trusts(&self, peer: Peer) -> bool {
        peer.ip.is_some_and(|ip| self.trusted.iter().any(|network| network.contains(ip)))
    }

    /// Where a request came from: the last address that no trusted proxy has. What stands before it anybody can write.
    pub(crate) fn client(&self, fields: &HeaderMap, peer: Peer) -> Option<IpAddr> {
        if !self.trusts(peer) {
            return peer.ip;
        }
        let all = fields.get_all("x-forwarded-for").iter().filter_map(|field| field.to_str().ok());
        let said: Vec<&str> = all.flat_map(|field| field.split(',')).map(str::trim).collect();
        let read = |text: &&str| text.parse::<IpAddr>().ok();
        let is_client = |ip: &IpAddr| !self.trusted.iter().any(|network| network.contains(*ip));
        said.iter().rev().map_while(read).find(is_client).or(peer.ip)
    }

    /// The one origin of a request, when it is on the list of those whose pages may call.
    pub(crate) fn listed_origin<'a>(&self, fields: &'a HeaderMap) -> Option<&'a HeaderValue> {
        let mut origins = fields.get_all(ORIGIN).iter();
        let (origin, None) = (origins.next()?, origins.next()) else { return None };
        self.listed.iter().any(|listed| origin.as_bytes() == listed.as_bytes()).then_some(origin)
    }

    fn serves(&self, authority: Authority<'_>) -> Result<(), Problem> {
        let is_public = || {
            let public = self.public.as_ref().map(PublicUrl::authority);
            public.is_some_and(|public| public.host.eq_ignore_ascii_case(authority.host))
        };
        if authority.is_local() || is_public() || self.allowed.iter().any(|allowed| allowed.covers(authority.host)) {
            return Ok(());
        }
        tracing::debug!(host = ?authority.text, "a host name was refused");
        Err(Problem::host_refused())
    }

    /// A browser says where a request that can change something comes from; a program says nothing (T056).
    fn judge_origin(&self, fields: &HeaderMap, host: Authority<'_>, forwarded: Forwarded<'_>) -> Result<(), Problem> {
        let own_site = |site: &HeaderValue| matches!(site.as_bytes(), b"same-origin" | b"none");
        let own_origin = |origin: &HeaderValue| self.is_own(origin, host, forwarded);
        let own = fields.get_all(SEC_FETCH_SITE).iter().all(own_site) && fields.get_all(ORIGIN).iter().all(own_origin);
        if own || self.listed_origin(fields).is_some() {
            return Ok(());
        }
        tracing::debug!(origin = ?fields.get(ORIGIN), "an origin was refused");
        Err(Problem::origin_refused())
    }

    fn is_own(&self, origin: &HeaderValue, host: Authority<'_>, forwarded: Forwarded<'_>) -> bool {
        let Some((scheme, origin)) = read_origin(origin) else { return false };
        let is_public = |public: &PublicUrl| public.scheme() == scheme && public.authority().is_same(&origin, scheme);
        host.is_same(&origin, scheme)
            || forwarded.authority().is_some_and(|outer| outer.is_same(&origin, scheme))
            || self.public.as_ref().is_some_and(is_public)
    }

    /// A body has a length that is told and small, or there is none. So a request that tells its length in two ways
    /// never gets further (T060): whoever stands between could have believed the other one.
    pub(crate) fn judge_body(&self, head: &Parts, takes: Takes) -> Result<(), Problem> {
        let fields = &head.headers;
        if fields.contains_key(TRANSFER_ENCODING) {
            return Err(Problem::length_required());
        }
        let Some(length) = fields.get(CONTENT_LENGTH) else { return Ok(()) };
        let length = length.to_str().ok().and_then(|text| text.parse::<u64>().ok());
        let max = if takes == Takes::Message { self.import_max } else { self.body_max };
        match length {
            Some(length) if length <= max => Ok(()),
            Some(_) => Err(match takes {
                Takes::Nothing => Problem::body_too_large(max),
                Takes::Json => Problem::json_too_large(max),
                Takes::Message => Problem::message_too_large(max),
            }),
            None => Err(Problem::bad_request("Content-Length is not a number. Send the length of the body, or none.")),
        }
    }
}

/// The host that the request is for: one Host field, and no other word in the target (RFC 9112 §3.2).
fn one_host(head: &Parts) -> Result<Authority<'_>, Problem> {
    if !head.uri.path().starts_with('/') {
        return Err(Problem::bad_request("The target of a request is a path here. Begin it with a slash."));
    }
    let mut hosts = head.headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok()).and_then(Authority::parse).ok_or_else(bad_host)?;
    let is_other = |target: &str| !target.eq_ignore_ascii_case(host.text);
    if hosts.next().is_some() || head.uri.authority().is_some_and(|target| is_other(target.as_str())) {
        return Err(bad_host());
    }
    Ok(host)
}

fn bad_host() -> Problem {
    Problem::bad_request("The request does not name one host. Send exactly one Host field, as name or name:port.")
}

/// `scheme://host:port`; none for `null` and for whatever else no page of ours has.
fn read_origin(origin: &HeaderValue) -> Option<(Scheme, Authority<'_>)> {
    let (scheme, authority) = origin.to_str().ok()?.split_once("://")?;
    Some((Scheme::named(scheme)?, Authority::parse(authority)?))
}
