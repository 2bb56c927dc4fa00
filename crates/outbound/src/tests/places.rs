//! T069: every special-purpose prefix of the registries, in every wrapping.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use crate::reach::{Place, place};
use crate::resolver::Judge;

/// The registries of special-purpose addresses (iana-ipv4-special-registry, iana-ipv6-special-registry), what is reserved
/// or multicast besides, and what hosters keep for themselves; written from there and not from the code.
const SPECIAL_V4: &[&str] = &[
    "0.0.0.0/8",
    "0.0.0.0/32",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "100.100.100.200/32",
    "127.0.0.0/8",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "169.254.169.254/32",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.0.0/29",
    "192.0.0.8/32",
    "192.0.0.170/31",
    "192.0.0.192/32",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "233.252.0.0/24",
    "240.0.0.0/4",
    "255.255.255.255/32",
];
const SPECIAL_V6: &[&str] = &[
    "::1/128",
    "::/128",
    "::/96",
    "::ffff:0:0:0/96",
    "64:ff9b:1::/48",
    "100::/64",
    "100:0:0:1::/64",
    "2001::/23",
    "2001::/32",
    "2001:2::/48",
    "2001:10::/28",
    "2001:20::/28",
    "2001:30::/28",
    "2001:db8::/32",
    "3fff::/20",
    "5f00::/16",
    "4000::/3",
    "8000::/1",
    "fc00::/7",
    "fd00:ec2::254/128",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
];
const OPEN: &[&str] = &[
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.0.3.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:4700::1111",
    "2a00:1450:4001::200e",
    "2001:db7:ffff::1",
    "2001:db9::1",
    "3fff:1000::1",
    "2002:0808:0808::1",
    "64:ff9b::8.8.8.8",
    "::ffff:8.8.8.8",
    "2a00::5efe:8.8.8.8",
];

fn read(network: &str) -> (IpAddr, u32) {
    let (address, bits) = network.split_once('/').unwrap();
    (address.parse().unwrap(), bits.parse().unwrap())
}

fn v4_within() -> impl Strategy<Value = Ipv4Addr> {
    (proptest::sample::select(SPECIAL_V4), any::<u32>()).prop_map(|(network, random)| {
        let (IpAddr::V4(first), bits) = read(network) else { panic!("{network}") };
        Ipv4Addr::from_bits(first.to_bits() | random.checked_shr(bits).unwrap_or(0))
    })
}

fn v6_within() -> impl Strategy<Value = Ipv6Addr> {
    (proptest::sample::select(SPECIAL_V6), any::<u128>()).prop_map(|(network, random)| {
        let (IpAddr::V6(first), bits) = read(network) else { panic!("{network}") };
        Ipv6Addr::from_bits(first.to_bits() | random.checked_shr(bits).unwrap_or(0))
    })
}

/// Every address of IPv6 that a packet to it would end at this one of IPv4.
fn wrapped(ip: Ipv4Addr, tail: u128) -> Vec<Ipv6Addr> {
    let bits = u128::from(ip.to_bits());
    let under = |prefix: &str, bits: u128| Ipv6Addr::from_bits(prefix.parse::<Ipv6Addr>().unwrap().to_bits() | bits);
    vec![
        under("::ffff:0:0", bits),
        under("64:ff9b::", bits),
        under("2002::", bits << 80 | tail >> 48),
        under("2a00:1450::5efe:0:0", bits | (tail >> 112) << 64),
        under("2a00:1450::200:5efe:0:0", bits),
        // A Teredo address holds that of the server as it is, and the client's with all bits turned.
        under("2001::", bits << 64 | tail >> 64),
        under("2001::", u128::from(!ip.to_bits())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn t069_no_address_of_a_special_prefix_is_on_the_open_network(v4 in v4_within(), v6 in v6_within(), tail: u128) {
        prop_assert_eq!(place(v4.into()), Place::Special, "{}", v4);
        prop_assert_eq!(place(v6.into()), Place::Special, "{}", v6);
        for wrapped in wrapped(v4, tail) {
            prop_assert_eq!(place(wrapped.into()), Place::Special, "{} in {}", v4, wrapped);
        }
    }
}

#[test]
fn t069_ordinary_addresses_are_on_the_open_network() {
    for ip in OPEN {
        assert_eq!(place(ip.parse().unwrap()), Place::Open, "{ip}");
    }
}

#[test]
fn t069_a_network_that_is_allowed_is_so_in_every_spelling_and_no_other_is() {
    let range = |first: &str, last: &str| first.parse::<IpAddr>().unwrap()..=last.parse().unwrap();
    let judge = Judge::Open([range("10.1.0.0", "10.1.255.255"), range("fd00::", "fd00::ff")].into());
    let check = |ip: &str, allowed: bool| {
        assert_eq!(judge.check("a", ip.parse().unwrap()).is_ok(), allowed, "{ip}");
    };
    for ip in ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "2002:0a01:0203::1", "fd00::7", "8.8.8.8"] {
        check(ip, true);
    }
    // A tunnel out of a network that is not allowed into one that is, and the other way about.
    for ip in ["10.2.0.1", "::ffff:10.2.0.1", "fd00::100", "fe80::5efe:10.1.2.3", "fd01::1", "127.0.0.1", "::10.1.2.3"]
    {
        check(ip, false);
    }
}
