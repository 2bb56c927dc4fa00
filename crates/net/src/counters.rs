//! What is counted here. A label's values are a few words of ours, never anything that came from outside (T067).

use std::sync::LazyLock;

use metrics::{Counter, counter};

/// Made once: counting is then one addition.
pub(crate) static COUNTERS: LazyLock<Counters> = LazyLock::new(Counters::new);

pub(crate) struct Counters {
    /// Connections that were let in.
    pub(crate) accepted: Counter,
    pub(crate) full: Counter,
    pub(crate) full_per_ip: Counter,
    pub(crate) too_often: Counter,
    pub(crate) bad_proxy_header: Counter,
    pub(crate) bad_handshake: Counter,
    pub(crate) stopping: Counter,
    pub(crate) handshakes: Counter,
    pub(crate) handshakes_failed: Counter,
}

impl Counters {
    fn new() -> Self {
        let away = |reason: &'static str| counter!("postkeep_connections_turned_away_total", "reason" => reason);
        let handshakes = |result: &'static str| counter!("postkeep_tls_handshakes_total", "result" => result);
        Self {
            accepted: counter!("postkeep_connections_accepted_total"),
            full: away("connections_max"),
            full_per_ip: away("connections_per_ip_max"),
            too_often: away("rate"),
            bad_proxy_header: away("proxy_header"),
            bad_handshake: away("handshake"),
            stopping: away("stopping"),
            handshakes: handshakes("done"),
            handshakes_failed: handshakes("failed"),
        }
    }
}
