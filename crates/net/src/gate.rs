//! How many connections may be open: in all, and from one address. Counted, never queued.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts open connections and turns away what is too many.
#[derive(Debug)]
pub struct Gate {
    connections_max: usize,
    per_ip_max: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    by_ip: HashMap<IpAddr, usize>,
}

/// Which limit was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Full {
    /// The limit for all connections.
    Connections,
    /// The limit for one address.
    PerIp,
}

/// A place that an open connection holds; given back when dropped.
#[derive(Debug)]
pub struct Slot {
    gate: Arc<Gate>,
    ip: Option<IpAddr>,
}

impl Gate {
    /// A gate with these limits; zero means no limit per address.
    pub fn new(connections_max: usize, per_ip_max: usize) -> Arc<Self> {
        Arc::new(Self { connections_max, per_ip_max, open: Mutex::default() })
    }

    /// A place for a connection from this address; none for a peer without one, such as a Unix socket's, and for one
    /// that is yet to be told by a proxy.
    pub fn admit(self: &Arc<Self>, ip: Option<IpAddr>) -> Result<Slot, Full> {
        let ip = ip.map(neighbourhood);
        let mut open = self.lock();
        if open.all >= self.connections_max {
            return Err(Full::Connections);
        }
        if let Some(ip) = ip {
            open.count(ip, self.per_ip_max)?;
        }
        open.all += 1;
        Ok(Slot { gate: Arc::clone(self), ip })
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        self.lock().all
    }

    /// The counts are plain numbers, sound after any panic.
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Count the connection to this address as well, for one whose address is known only now.
    pub fn count(&mut self, ip: IpAddr) -> Result<(), Full> {
        let ip = neighbourhood(ip);
        self.gate.lock().count(ip, self.gate.per_ip_max)?;
        self.ip = Some(ip);
        Ok(())
    }
}

impl Open {
    fn count(&mut self, ip: IpAddr, per_ip_max: usize) -> Result<(), Full> {
        let count = self.by_ip.get(&ip).copied().unwrap_or(0);
        if per_ip_max != 0 && count >= per_ip_max {
            return Err(Full::PerIp);
        }
        self.by_ip.insert(ip, count + 1);
        Ok(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.gate.lock();
        open.all -= 1;
        let Some(ip) = self.ip else { return };
        match open.by_ip.get_mut(&ip) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(open.by_ip.remove(&ip)),
        }
    }
}

/// One customer, one count: an IPv6 host owns its whole /64, and an IPv4 address may come mapped into IPv6.
pub(crate) fn neighbourhood(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) & (u128::MAX << 64)).into()),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn limits_hold_and_places_come_back() {
        let gate = Gate::new(3, 2);
        let first = gate.admit(ip("127.0.0.1")).unwrap();
        let second = gate.admit(ip("::ffff:127.0.0.1")).unwrap();
        assert_eq!(gate.admit(ip("127.0.0.1")).unwrap_err(), Full::PerIp);
        let third = gate.admit(ip("127.0.0.2")).unwrap();
        assert_eq!(gate.admit(ip("127.0.0.3")).unwrap_err(), Full::Connections);
        drop((first, second, third));
        assert_eq!(gate.open(), 0);
        assert!(gate.lock().by_ip.is_empty(), "no address is remembered");
    }

    #[test]
    fn one_network_of_ipv6_is_one_address() {
        let gate = Gate::new(10, 1);
        let _held = gate.admit(ip("2001:db8::1")).unwrap();
        assert_eq!(gate.admit(ip("2001:db8::ffff:2")).unwrap_err(), Full::PerIp);
        assert!(gate.admit(ip("2001:db8:0:1::1")).is_ok());
    }

    #[test]
    fn an_address_may_be_told_later() {
        let gate = Gate::new(10, 1);
        let (mut first, mut second) = (gate.admit(None).unwrap(), gate.admit(None).unwrap());
        assert_eq!(first.count("192.0.2.1".parse().unwrap()), Ok(()));
        assert_eq!(second.count("192.0.2.1".parse().unwrap()), Err(Full::PerIp));
        drop((first, second));
        assert_eq!((gate.open(), gate.lock().by_ip.len()), (0, 0));
    }

    #[test]
    fn a_peer_without_address_counts_in_all_only() {
        let gate = Gate::new(2, 1);
        let _held = (gate.admit(None).unwrap(), gate.admit(None).unwrap());
        assert_eq!(gate.admit(None).unwrap_err(), Full::Connections);
    }
}
