//! What is counted here. A label's values are a few words of ours, never anything that came from outside (T067).

use std::sync::LazyLock;

use metrics::{Counter, counter};

/// Made once: counting is then one addition.
pub(crate) static COUNTERS: LazyLock<Counters> = LazyLock::new(Counters::new);

pub(crate) struct Counters {
    pub(crate) transactions: Counter,
    /// Refusals that were held back (`smtp.tarpit`).
    pub(crate) tarpitted: Counter,
    refused: [Counter; 4],
}

/// Why something was refused that the mailroom was not asked about.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Rate,
    BlockList,
    EarlyTalker,
    Content,
}

impl Counters {
    fn new() -> Self {
        let refused = |kind: &'static str| counter!("postkeep_refusals_total", "kind" => kind);
        Self {
            transactions: counter!("postkeep_smtp_transactions_total"),
            tarpitted: counter!("postkeep_smtp_tarpitted_total"),
            refused: [refused("rate"), refused("blocklist"), refused("early_talker"), refused("content")],
        }
    }

    pub(crate) fn refused(&self, kind: Kind) {
        self.refused[kind as usize].increment(1);
    }
}
