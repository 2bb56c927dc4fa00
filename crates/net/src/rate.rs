//! How often one address, and one network, may do something: connect, send, bring octets.
//!
//! An address is what one customer has: for IPv6 that is a /64. A network is a /24 of IPv4 or a /48 of IPv6.

use std::net::IpAddr;
use std::time::Duration;

use ::rate::{Rate, host, network};

pub use ::rate::Quota;

/// The rates of all addresses and networks for one thing.
#[derive(Debug)]
pub struct Rates {
    per_ip: Option<Rate<IpAddr>>,
    per_network: Option<Rate<IpAddr>>,
}

impl Rates {
    /// These quotas; none is no limit. Of addresses, and of networks, at most `entries_max` are remembered; those beyond
    /// pass without being counted.
    pub fn new(per_ip: Option<Quota>, per_network: Option<Quota>, entries_max: usize) -> Self {
        let rate = |quota| Rate::new(quota, entries_max);
        Self { per_ip: per_ip.map(rate), per_network: per_network.map(rate) }
    }

    /// Take so many, or hear after which time to try again.
    ///
    /// The address comes first: what is too much for it does not use up the share of its neighbours.
    pub fn take(&self, peer: IpAddr, many: u32) -> Result<(), Duration> {
        self.per_ip.as_ref().map_or(Ok(()), |rate| rate.take(&host(peer), many))?;
        self.per_network.as_ref().map_or(Ok(()), |rate| rate.take(&network(peer), many))
    }

    /// Count so many that have happened already; what is too much is owed.
    pub fn charge(&self, peer: IpAddr, many: u32) {
        if let Some(rate) = &self.per_ip {
            rate.charge(&host(peer), many);
        }
        if let Some(rate) = &self.per_network {
            rate.charge(&network(peer), many);
        }
    }

    /// Forget those who have been quiet: to be called now and then by whoever holds this.
    pub fn forget_idle(&self) {
        self.per_ip.iter().chain(&self.per_network).for_each(Rate::forget_idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(count: u32) -> Option<Quota> {
        Some(Quota { count, per: Duration::from_secs(3600) })
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_over_its_rate_leaves_its_neighbours_theirs() {
        let rates = Rates::new(quota(2), quota(5), 100);
        let loud = ip("192.0.2.1");
        assert_eq!((0..100).filter(|_| rates.take(loud, 1).is_ok()).count(), 2);
        assert_eq!((0..100).filter(|_| rates.take(ip("192.0.2.2"), 1).is_ok()).count(), 2);
        assert_eq!((0..100).filter(|_| rates.take(ip("192.0.2.3"), 1).is_ok()).count(), 1, "the network's last");
        assert_eq!((0..100).filter(|_| rates.take(ip("192.0.3.1"), 1).is_ok()).count(), 2);
        let wait = rates.take(loud, 1).unwrap_err();
        assert!(wait > Duration::from_secs(1700) && wait <= Duration::from_secs(1800), "{wait:?}");
    }

    #[test]
    fn a_customer_of_ipv6_is_one_however_many_addresses_it_uses() {
        let rates = Rates::new(quota(3), None, 100);
        let taken = (0..100u128).filter(|n| rates.take(ip(&format!("2001:db8::{n:x}")), 1).is_ok()).count();
        assert_eq!(taken, 3);
        assert_eq!(rates.take(ip("2001:db8:0:1::1"), 1), Ok(()));
    }

    #[test]
    fn a_debt_is_one_of_the_address_and_its_network() {
        let rates = Rates::new(quota(10), quota(20), 100);
        rates.charge(ip("192.0.2.1"), 15);
        assert!(rates.take(ip("192.0.2.1"), 1).is_err());
        assert_eq!(rates.take(ip("192.0.2.2"), 5), Ok(()));
        assert!(rates.take(ip("192.0.2.2"), 1).is_err());
    }

    #[test]
    fn without_a_quota_nothing_is_counted() {
        let rates = Rates::new(None, None, 100);
        assert!((0..1000).all(|_| rates.take(ip("192.0.2.1"), u32::MAX).is_ok()));
        rates.forget_idle();
    }
}
