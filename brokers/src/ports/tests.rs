//! Ports that are found.

use super::*;
use std::collections::HashSet;
use std::net::Ipv4Addr;

#[test]
fn ports_are_free_and_differ() {
    let all = free(&[Ipv4Addr::LOCALHOST.into(); 5]).unwrap();
    let ports: HashSet<_> = all.iter().flat_map(|ports| [ports.client, ports.monitor, ports.route]).collect();
    assert_eq!(ports.len(), 15);
    assert!(ports.iter().all(|address| (FIRST..FIRST + COUNT).contains(&address.port())));
}

#[test]
fn an_address_of_another_namespace_needs_no_free_port() {
    let host: IpAddr = "192.0.2.1".parse().unwrap();
    assert_eq!(free(&[host]).unwrap()[0].client.ip(), host);
}
