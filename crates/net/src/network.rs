//! Networks: an address and how many of its leading bits count; and which addresses are nobody's outside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

/// An address and how many of its leading bits count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    /// Any address of it.
    pub address: IpAddr,
    /// Leading bits that count.
    pub bits: u8,
}

impl Network {
    /// Read `10.0.0.0/8`, or one address.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().ok()?;
        let whole = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => whole,
            Some(bits) => bits.parse().ok().filter(|&bits| bits <= whole)?,
        };
        Some(Self { address, bits })
    }

    /// From its first address to its last.
    pub fn range(&self) -> RangeInclusive<IpAddr> {
        let bits = u32::from(self.bits);
        match self.address.to_canonical() {
            IpAddr::V4(ip) => {
                let rest = u32::MAX.checked_shr(bits).unwrap_or(0);
                Ipv4Addr::from_bits(ip.to_bits() & !rest).into()..=Ipv4Addr::from_bits(ip.to_bits() | rest).into()
            }
            IpAddr::V6(ip) => {
                let rest = u128::MAX.checked_shr(bits).unwrap_or(0);
                Ipv6Addr::from_bits(ip.to_bits() & !rest).into()..=Ipv6Addr::from_bits(ip.to_bits() | rest).into()
            }
        }
    }

    /// Whether this address belongs to it. An IPv4 address written as IPv6 is the same address.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let bits = u32::from(self.bits);
        match (self.address.to_canonical(), ip.to_canonical()) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                (ours.to_bits() ^ theirs.to_bits()).leading_zeros() >= bits.min(32)
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => {
                (ours.to_bits() ^ theirs.to_bits()).leading_zeros() >= bits.min(128)
            }
            _ => false,
        }
    }
}

/// Whether a connection from this address never crosses the open network: loopback, private, link-local, and the space
/// that carriers share (RFC 6598), which container networks use as well.
pub fn is_private(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_private_v4(ip),
        IpAddr::V6(ip) => ip.is_loopback() || Ipv6Addr::is_unique_local(&ip) || ip.is_unicast_link_local(),
    }
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    let shared = ip.octets()[0] == 100 && ip.octets()[1] & 0xc0 == 64;
    ip.is_loopback() || ip.is_private() || ip.is_link_local() || shared
}

/// Where a password may cross the network in the clear; under TLS it never does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Plaintext {
    /// From peers that the open network does not lie between, and over Unix sockets.
    #[default]
    Private,
    /// Nowhere.
    Never,
    /// Everywhere.
    Always,
}

impl Plaintext {
    /// Whether this peer may send a password in the clear; none is a Unix socket's.
    pub fn allows(self, peer: Option<IpAddr>) -> bool {
        match self {
            Self::Private => peer.is_none_or(is_private),
            Self::Never => false,
            Self::Always => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_its_addresses() {
        let check = |network: &str, ip: &str, inside: bool| {
            let (parsed, ip): (_, IpAddr) = (Network::parse(network).unwrap(), ip.parse().unwrap());
            assert_eq!(parsed.contains(ip), inside, "{ip} in {network}");
            assert_eq!(parsed.range().contains(&ip.to_canonical()), inside, "{ip} in {:?}", parsed.range());
        };
        check("10.0.0.0/8", "10.255.0.1", true);
        check("10.0.0.0/8", "::ffff:10.0.0.1", true);
        check("10.0.0.0/8", "11.0.0.1", false);
        check("192.0.2.1", "192.0.2.2", false);
        check("fd00::/8", "fd12::1", true);
        check("0.0.0.0/0", "::1", false);
        check("0.0.0.0/0", "255.255.255.255", true);
        check("192.0.2.1", "192.0.2.1", true);
        check("::/0", "ffff::1", true);
        for bad in ["", "10.0.0.0/33", "10.0.0", "::/129", "a/8", "10.0.0.0/-1"] {
            assert_eq!(Network::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn private_is_what_never_crosses_the_open_network() {
        for ip in [
            "127.0.0.1",
            "::1",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.1.1",
            "100.64.0.1",
            "100.127.255.255",
            "fd00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(is_private(ip.parse().unwrap()), "{ip}");
        }
        for ip in ["8.8.8.8", "172.32.0.1", "100.128.0.1", "100.63.255.255", "2001:db8::1", "::ffff:8.8.8.8", "0.0.0.0"]
        {
            assert!(!is_private(ip.parse().unwrap()), "{ip}");
        }
    }
}
