//! Where an address leads: to the open network, or to something that only this machine or its network can reach.
//!
//! An allow-list, in both families. What is not known to be ordinary unicast of the Internet is special, and an address that
//! carries another one is judged by the one inside as well, since that is where the packets end.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where an address leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// To the open network.
    Open,
    /// Anywhere else.
    Special,
}

/// IPv4 that is not the open network: the registry of special-purpose addresses (RFC 6890) as far as those are not
/// globally reachable, what is reserved or multicast, and one address that a large hoster keeps for its own metadata.
const SPECIAL_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    // With it, the metadata of most hosters.
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
    // Looks like anybody's, and is inside every network of Azure.
    ([168, 63, 129, 16], 32),
];

/// The only part of IPv6 that is given out as ordinary unicast.
const UNICAST_V6: ([u16; 8], u32) = ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// What in it is not the open network. 6to4 is judged by the address inside.
const SPECIAL_V6: &[([u16; 8], u32)] = &[
    // Protocols of the IETF: Teredo, benchmarks, ORCHID and others.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
];

/// Where an address leads.
#[must_use]
pub fn place(ip: IpAddr) -> Place {
    let open = match ip {
        IpAddr::V4(ip) => open_v4(ip),
        IpAddr::V6(ip) => open_v6(ip),
    };
    if open { Place::Open } else { Place::Special }
}

fn open_v4(ip: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|&(network, bits)| within_v4(ip, network, bits))
}

fn open_v6(ip: Ipv6Addr) -> bool {
    match inside(ip) {
        Some(Inside::Only(v4)) => open_v4(v4),
        Some(Inside::Also(v4)) => open_v4(v4) && open_plain_v6(ip),
        None => open_plain_v6(ip),
    }
}

fn open_plain_v6(ip: Ipv6Addr) -> bool {
    let (network, bits) = UNICAST_V6;
    within_v6(ip, network, bits) && !SPECIAL_V6.iter().any(|&(network, bits)| within_v6(ip, network, bits))
}

/// The addresses by which an allow-list may let this one through: itself, or the one that it only wraps.
pub(crate) fn meant(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V6(v6) => match inside(v6) {
            Some(Inside::Only(v4)) => v4.into(),
            _ => ip,
        },
        IpAddr::V4(_) => ip,
    }
}

/// An IPv4 address inside one of IPv6.
enum Inside {
    /// It is nothing but that address in other words.
    Only(Ipv4Addr),
    /// It is an address of its own, and a tunnel leads to that one.
    Also(Ipv4Addr),
}

fn inside(ip: Ipv6Addr) -> Option<Inside> {
    let parts = ip.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low));
    match parts {
        // Mapped (RFC 4291 §2.5.5.2), and the well-known prefix of NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(Inside::Only(v4(high, low))),
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => Some(Inside::Only(v4(high, low))),
        // ISATAP (RFC 5214): under any prefix, an identifier that ends in the address.
        [_, _, _, _, 0 | 0x200 | 0x100 | 0x300, 0x5efe, high, low] => Some(Inside::Also(v4(high, low))),
        _ => None,
    }
}

fn within_v4(ip: Ipv4Addr, network: [u8; 4], bits: u32) -> bool {
    (ip.to_bits() ^ Ipv4Addr::from(network).to_bits()).leading_zeros() >= bits
}

fn within_v6(ip: Ipv6Addr, network: [u16; 8], bits: u32) -> bool {
    (ip.to_bits() ^ Ipv6Addr::from(network).to_bits()).leading_zeros() >= bits
}
