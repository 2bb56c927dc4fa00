//! What is counted of webhooks. Labels are words of ours, never a name (T067).

use std::sync::LazyLock;

use metrics::{Counter, counter};

pub(super) static COUNTERS: LazyLock<Counters> = LazyLock::new(Counters::new);

pub(super) struct Counters {
    pub(super) taken: Counter,
    pub(super) failed: Counter,
    pub(super) dead: Counter,
    /// How often a target was left alone.
    pub(super) rests: Counter,
}

impl Counters {
    fn new() -> Self {
        let attempts = |outcome: &'static str| counter!("postkeep_webhooks_total", "outcome" => outcome);
        Self {
            taken: attempts("taken"),
            failed: attempts("failed"),
            dead: attempts("dead"),
            rests: counter!("postkeep_webhook_rests_total"),
        }
    }
}
