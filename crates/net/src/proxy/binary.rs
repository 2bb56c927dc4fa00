//! Version 2: a signature, four octets of command, family and length, then addresses and whatever else (TLVs), of which
//! only the client's address is looked at.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{BadHeader, Header, TOO_MUCH};

const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// The signature and the four octets behind it.
pub(super) const FIXED: usize = 16;
/// Octets behind the fixed part: addresses take 36, and a proxy may add a certificate.
const REST_MAX: usize = 4096;

const BAD_COMMAND: BadHeader = BadHeader::Malformed("its version or command is unknown");
const BAD_FAMILY: BadHeader = BadHeader::Malformed("its family or transport is none of a stream");
const TOO_SHORT: BadHeader = BadHeader::Malformed("it is too short for its addresses");

/// `input` is not empty.
pub(super) fn parse(input: &[u8]) -> Result<Header, BadHeader> {
    let known = input.len().min(SIGNATURE.len());
    if input[..known] != SIGNATURE[..known] {
        return Err(BadHeader::Missing);
    }
    let Some((fixed, rest)) = input.split_first_chunk::<FIXED>() else {
        return Ok(Header::Needs(FIXED - input.len()));
    };
    let length = usize::from(u16::from_be_bytes([fixed[14], fixed[15]]));
    if length > REST_MAX {
        return Err(BadHeader::TooLong(FIXED + REST_MAX));
    }
    check(fixed[12], fixed[13], length)?;
    match rest.len() {
        read if read < length => Ok(Header::Needs(length - read)),
        read if read == length => Ok(Header::Whole(client(fixed[12], fixed[13], rest))),
        _ => Err(TOO_MUCH),
    }
}

/// What is wrong is seen before the rest is waited for.
fn check(command: u8, family: u8, length: usize) -> Result<(), BadHeader> {
    match (command, family) {
        // The proxy's own connection: family and addresses are to be ignored.
        (0x20, _) => Ok(()),
        (0x21, 0x11) if length < 12 => Err(TOO_SHORT),
        (0x21, 0x21) if length < 36 => Err(TOO_SHORT),
        // Unknown, IPv4, IPv6, Unix; each as a stream.
        (0x21, 0x00 | 0x11 | 0x21 | 0x31) => Ok(()),
        (0x21, _) => Err(BAD_FAMILY),
        _ => Err(BAD_COMMAND),
    }
}

fn client(command: u8, family: u8, rest: &[u8]) -> Option<IpAddr> {
    match (command, family) {
        (0x21, 0x11) => rest.first_chunk().map(|ip: &[u8; 4]| IpAddr::V4(Ipv4Addr::from(*ip))),
        (0x21, 0x21) => rest.first_chunk().map(|ip: &[u8; 16]| IpAddr::V6(Ipv6Addr::from(*ip)).to_canonical()),
        _ => None,
    }
}
