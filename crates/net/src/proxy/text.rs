//! Version 1: one line of text, `PROXY TCP4 192.0.2.1 198.51.100.1 56324 25` and CRLF.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use memchr::memchr;

use super::{BadHeader, Header, TOO_MUCH};

/// The shortest header, `PROXY UNKNOWN` and its CRLF.
pub(super) const LENGTH_MIN: usize = 15;
/// The longest, by the specification, with its CRLF.
const LENGTH_MAX: usize = 107;

const BEGINNING: &[u8] = b"PROXY ";

const BARE_LF: BadHeader = BadHeader::Malformed("its line ends in a bare LF");

/// `input` is not empty.
pub(super) fn parse(input: &[u8]) -> Result<Header, BadHeader> {
    let known = input.len().min(BEGINNING.len());
    if input[..known] != BEGINNING[..known] {
        return Err(BadHeader::Missing);
    }
    if let Some(end) = memchr(b'\n', input) {
        let Some(line) = input[..end].strip_suffix(b"\r") else { return Err(BARE_LF) };
        let client = client(line)?;
        return if end + 1 == input.len() { Ok(Header::Whole(client)) } else { Err(TOO_MUCH) };
    }
    if input.len() >= LENGTH_MAX {
        return Err(BadHeader::TooLong(LENGTH_MAX));
    }
    // Its CRLF is still to come, of which a CR at the end may be the first half.
    let ending = if input.ends_with(b"\r") { 1 } else { 2 };
    let needed = ending.max(LENGTH_MIN.saturating_sub(input.len()));
    Ok(Header::Needs(needed.min(LENGTH_MAX - input.len())))
}

/// The client that a line without its CRLF names.
fn client(line: &[u8]) -> Result<Option<IpAddr>, BadHeader> {
    let Ok(line) = str::from_utf8(line) else { return Err(BadHeader::Malformed("it is not ASCII")) };
    let words: Vec<_> = line.split(' ').skip(1).collect();
    match words[..] {
        // Whatever follows is to be ignored.
        ["UNKNOWN", ..] => Ok(None),
        ["TCP4", from, to, from_port, to_port] => {
            addresses::<Ipv4Addr>(from, to, from_port, to_port).map(|ip| Some(IpAddr::V4(ip)))
        }
        ["TCP6", from, to, from_port, to_port] => {
            addresses::<Ipv6Addr>(from, to, from_port, to_port).map(|ip| Some(IpAddr::V6(ip).to_canonical()))
        }
        _ => Err(BadHeader::Malformed("its line is not PROXY TCP4|TCP6 FROM TO PORT PORT, nor PROXY UNKNOWN")),
    }
}

/// The first address; the others must be sound as well.
fn addresses<A: FromStr>(from: &str, to: &str, from_port: &str, to_port: &str) -> Result<A, BadHeader> {
    match (from.parse(), to.parse::<A>()) {
        (Ok(from), Ok(_)) if is_port(from_port) && is_port(to_port) => Ok(from),
        _ => Err(BadHeader::Malformed("an address or a port in it is none")),
    }
}

/// Digits alone; the standard library would also take a sign.
fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}
