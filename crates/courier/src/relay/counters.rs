//! What is counted of releases, by recipients. Labels are words of ours, never an address (T067).

use std::sync::LazyLock;

use metrics::{Counter, counter};

pub(super) static COUNTERS: LazyLock<Counters> = LazyLock::new(Counters::new);

pub(super) struct Counters {
    pub(super) sent: Counter,
    pub(super) later: Counter,
    pub(super) failed: Counter,
}

impl Counters {
    fn new() -> Self {
        let attempts = |outcome: &'static str| counter!("postkeep_releases_total", "outcome" => outcome);
        Self { sent: attempts("sent"), later: attempts("later"), failed: attempts("failed") }
    }
}
