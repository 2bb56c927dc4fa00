//! The PROXY protocol, versions 1 and 2, as HAProxy specifies it: the words in which a load balancer tells, ahead of
//! everything else, whose connection it hands on.
//!
//! It believes what it reads. Whom to ask for a header is decided before: only peers within `proxy_from` (T019). What
//! follows the header is the protocol's, or the beginning of TLS, so not one octet of it is taken here.

mod binary;
mod text;

use std::io;
use std::net::IpAddr;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout_at};

/// What is known of a header when so much of it has been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Header {
    /// It is longer: at least so many octets more belong to it.
    Needs(usize),
    /// It is complete, and names this client. None: the proxy speaks for itself, as when it checks our health, or the
    /// client has no address.
    Whole(Option<IpAddr>),
}

/// Why a connection of a trusted proxy is not taken.
#[derive(Debug, thiserror::Error)]
pub enum BadHeader {
    /// Something else came.
    #[error("no PROXY header came; let the proxy send one (send-proxy-v2 in HAProxy), or take it out of proxy_from")]
    Missing,
    /// It began as a header.
    #[error("the PROXY header is malformed: {0}")]
    Malformed(&'static str),
    /// It is longer than any that is needed.
    #[error("the PROXY header is longer than {0} octets; let the proxy leave out what is optional")]
    TooLong(usize),
    /// Not in time.
    #[error("the PROXY header did not come in time")]
    TooLate,
    /// Not at all.
    #[error("the connection ended before its PROXY header was complete")]
    Ended(#[source] io::Error),
}

/// Only whoever ignores [`Header::Needs`] meets it.
const TOO_MUCH: BadHeader = BadHeader::Malformed("octets follow that are not its own");

/// Read the header at the front of `input`, which holds nothing else.
///
/// Whatever the division into pieces, following [`Header::Needs`] ends at the header's last octet: it never asks for
/// more than certainly belongs to it.
pub fn parse(input: &[u8]) -> Result<Header, BadHeader> {
    match input {
        [] => Ok(Header::Needs(text::LENGTH_MIN.min(binary::FIXED))),
        [b'P', ..] => text::parse(input),
        _ => binary::parse(input),
    }
}

/// Take the header off the front of a connection, and nothing behind it.
pub async fn read<S: AsyncRead + Unpin>(stream: &mut S, until: Instant) -> Result<Option<IpAddr>, BadHeader> {
    timeout_at(until, take(stream)).await.unwrap_or(Err(BadHeader::TooLate))
}

async fn take<S: AsyncRead + Unpin>(stream: &mut S) -> Result<Option<IpAddr>, BadHeader> {
    let mut input = Vec::new();
    loop {
        let needed = match parse(&input)? {
            Header::Whole(client) => return Ok(client),
            Header::Needs(octets) => octets,
        };
        // What is wrong is seen at once, without waiting for the rest of a header that will not come.
        let read = (&mut *stream).take(needed as u64).read_buf(&mut input).await;
        if read.map_err(BadHeader::Ended)? == 0 {
            return Err(BadHeader::Ended(io::ErrorKind::UnexpectedEof.into()));
        }
    }
}

#[cfg(test)]
mod tests;
