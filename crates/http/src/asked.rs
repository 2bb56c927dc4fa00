//! A request that passed the guard, as the operations see it.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use mail::Mailbox;
use mailroom::{Caller, Which};
use percent_encoding::percent_decode_str;

use crate::host::Scheme;
use crate::problem::Problem;
use crate::shared::Shared;
use crate::sign::Asker;

/// Where a request came from and how, carried from the connection to the operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Peer {
    /// None for a Unix socket.
    pub(crate) ip: Option<IpAddr>,
    /// Whether it came under TLS.
    pub(crate) scheme: Scheme,
}

/// The head of a request, and who asks.
pub(crate) struct Asked {
    head: Parts,
    peer: Peer,
    /// For the mailroom.
    pub(crate) caller: Caller,
    /// Where the request came from, behind the proxies that are trusted.
    pub(crate) client: Option<IpAddr>,
}

impl Asked {
    pub(crate) fn new(head: Parts, peer: Peer, Asker { caller, client }: Asker) -> Self {
        Self { head, peer, caller, client }
    }

    /// The last segments of the path as they were sent. A segment ends at a slash and nowhere else: one that is
    /// percent-encoded belongs to a name. Counted from the end, so that a prefix of the path does not matter.
    pub(crate) fn tail<const N: usize>(&self) -> [&str; N] {
        let mut segments = self.head.uri.path().rsplit('/');
        let mut tail = [""; N];
        for place in tail.iter_mut().rev() {
            *place = segments.next().unwrap_or_default();
        }
        tail
    }

    /// Where the request came from; none for a Unix socket.
    pub(crate) fn ip(&self) -> Option<IpAddr> {
        self.peer.ip
    }

    /// The path as it was sent, below the prefix.
    pub(crate) fn path_below(&self, shared: &Shared) -> &str {
        let path = self.head.uri.path();
        path.strip_prefix(shared.guard.prefix()).unwrap_or(path)
    }

    /// The base of absolute links.
    pub(crate) fn base_url(&self, shared: &Shared) -> String {
        shared.guard.base_url(self.fields(), self.peer)
    }

    /// What stands behind the question mark, as it was sent.
    pub(crate) fn query(&self) -> &str {
        self.head.uri.query().unwrap_or_default()
    }

    /// Whether a proxy says that it speaks for somebody, trusted or not.
    pub(crate) fn is_forwarded(&self) -> bool {
        let fields = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];
        fields.iter().any(|name| self.fields().contains_key(*name))
    }

    pub(crate) fn method(&self) -> &Method {
        &self.head.method
    }

    /// Where it came from and how.
    pub(crate) fn peer(&self) -> Peer {
        self.peer
    }

    pub(crate) fn head(&self) -> &Parts {
        &self.head
    }

    pub(crate) fn fields(&self) -> &HeaderMap {
        &self.head.headers
    }
}

/// The mailbox that a segment names.
pub(crate) fn mailbox(shared: &Shared, segment: &str) -> Result<Mailbox, Problem> {
    let name = percent_decode_str(segment).decode_utf8().map_err(|_| Problem::bad_mailbox("it is not UTF-8"))?;
    shared.mailroom.named(&name).map_err(Problem::bad_mailbox)
}

/// The message that a segment names. What can be no id names no message.
pub(crate) fn which(segment: &str) -> Result<Which, Problem> {
    let text = percent_decode_str(segment).decode_utf8().map_err(|_| Problem::message_unknown())?;
    match &*text {
        "latest" => Ok(Which::Latest),
        id => id.parse().map(Which::Id).map_err(|_| Problem::message_unknown()),
    }
}
