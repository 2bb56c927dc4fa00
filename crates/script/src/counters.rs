//! What is counted here. A label's values are a few words of ours.

use std::sync::LazyLock;

use metrics::{Counter, counter};

/// Made once: counting is then one addition.
pub(crate) static COUNTERS: LazyLock<Counters> = LazyLock::new(Counters::new);

pub(crate) struct Counters {
    pub(crate) done: Counter,
    pub(crate) failed: Counter,
    /// Told afterwards, and not heard because too many waited.
    pub(crate) dropped: Counter,
}

impl Counters {
    fn new() -> Self {
        let events = |result: &'static str| counter!("postkeep_script_events_total", "result" => result);
        Self { done: events("done"), failed: events("failed"), dropped: events("dropped") }
    }
}
