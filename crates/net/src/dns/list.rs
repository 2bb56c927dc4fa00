//! Block lists in the DNS (RFC 5782): how an address is asked for, and what an answer means.

use std::net::{IpAddr, Ipv4Addr};

use hickory_resolver::proto::rr::Name;

use super::Unasked;

/// How an address stands with a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    Listed,
    Unlisted,
    /// The list says that it does not answer us: too many questions, or through an open resolver.
    Unanswered(Ipv4Addr),
}

/// The zone of a list, as configured.
pub(super) fn name(text: &str) -> Result<Name, Unasked> {
    let bad = || Unasked::BadList(text.to_owned());
    let mut name = Name::from_utf8(text).map_err(|_| bad())?;
    name.set_fqdn(true);
    if name.is_root() { Err(bad()) } else { Ok(name) }
}

/// The name that stands for an address in a zone: its octets, or its nibbles, from the last to the first. None when the
/// zone's own name leaves no room for it.
pub(super) fn question(ip: IpAddr, zone: &Name) -> Option<Name> {
    let labels: Vec<String> = match ip {
        IpAddr::V4(v4) => v4.octets().iter().rev().map(u8::to_string).collect(),
        IpAddr::V6(v6) => {
            let nibbles = v6.octets().into_iter().rev().flat_map(|octet| [octet & 15, octet >> 4]);
            nibbles.map(|nibble| format!("{nibble:x}")).collect()
        }
    };
    Name::from_ascii(labels.join(".")).ok()?.append_name(zone).ok()
}

/// An address within 127.0.0.0/8 is an entry, except for those that lists use for "you may not ask". Anything else is
/// nobody's entry: a resolver that answers every name with a page of its own, or a list that is no more.
pub(super) fn standing(answers: impl Iterator<Item = Ipv4Addr>) -> Standing {
    let mut standing = Standing::Unlisted;
    for address in answers {
        match address.octets() {
            [127, 255, 255, _] => standing = Standing::Unanswered(address),
            [127, ..] => return Standing::Listed,
            _ => {}
        }
    }
    standing
}
