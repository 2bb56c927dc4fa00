//! What brokers tell about their connections.

use std::net::Ipv4Addr;

use brokers::Cluster;

/// Whether a broker has a client from this address.
pub(super) fn serves(cluster: &Cluster, broker: usize, client: Ipv4Addr) -> bool {
    let Ok(answer) = cluster.ask(broker, "/connz") else { return false };
    let connections = answer["connections"].as_array().into_iter().flatten();
    let client = client.to_string();
    connections.into_iter().any(|connection| connection["ip"] == client)
}
