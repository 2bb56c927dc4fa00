//! Ports that nobody uses. They are not reserved: somebody else may take one before it is bound, and the caller tries again
//! with others.

#[cfg(test)]
mod tests;

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

/// Below the ports that systems hand out by themselves: while a server is down, a connection of somebody else must not
/// get its port, nor a client that tries to come back connect to itself.
const FIRST: u16 = 10_000;
const COUNT: u16 = 22_000;

/// Where one server listens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    pub(crate) client: SocketAddr,
    pub(crate) monitor: SocketAddr,
    pub(crate) route: SocketAddr,
}

/// Three ports for a server at each of these addresses.
pub(crate) fn free(hosts: &[IpAddr]) -> Result<Vec<Ports>> {
    let mut held = Vec::new();
    let begin = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.subsec_micros());
    let mut candidates = (0..u32::from(COUNT)).map(|step| FIRST + ((begin + step) % u32::from(COUNT)) as u16);
    let mut next = |host: IpAddr| -> Result<SocketAddr> {
        let free = candidates.by_ref().find_map(|port| hold(SocketAddr::new(host, port)));
        let (address, listener) = free.context("no port is free on this machine")?;
        held.push(listener); // until all are found, so that none is found twice
        Ok(address)
    };
    hosts.iter().map(|&host| Ok(Ports { client: next(host)?, monitor: next(host)?, route: next(host)? })).collect()
}

/// The address and what holds it, when it is free.
fn hold(address: SocketAddr) -> Option<(SocketAddr, Option<TcpListener>)> {
    match TcpListener::bind(address) {
        Ok(listener) => Some((address, Some(listener))),
        // Not an address of ours but of another network namespace, where nobody else is.
        Err(error) if error.kind() == ErrorKind::AddrNotAvailable => Some((address, None)),
        Err(_) => None,
    }
}
