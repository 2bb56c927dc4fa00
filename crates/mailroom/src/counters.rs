//! What is counted here. A label's values are a few words of ours, never anything that came from outside (T067).

use std::sync::LazyLock;

use metrics::{Counter, counter};

/// Made once: counting is then one addition.
pub(crate) static COUNTERS: LazyLock<Counters> = LazyLock::new(Counters::new);

pub(crate) struct Counters {
    /// Messages that were delivered, however many mailboxes each went to.
    pub(crate) messages: Counter,
    /// Their octets.
    pub(crate) octets: Counter,
    /// Jobs that there was no room for.
    pub(crate) jobs_left_out: Counter,
    pub(crate) sign_ins: Counter,
    pub(crate) sign_ins_failed: Counter,
    pub(crate) refused_by_policy: Counter,
    pub(crate) refused_by_mailbox_rate: Counter,
    pub(crate) refused_by_fault: Counter,
}

impl Counters {
    fn new() -> Self {
        let refused = |kind: &'static str| counter!("postkeep_refusals_total", "kind" => kind);
        Self {
            messages: counter!("postkeep_messages_total"),
            octets: counter!("postkeep_message_bytes_total"),
            jobs_left_out: counter!("postkeep_jobs_left_out_total"),
            sign_ins: counter!("postkeep_sign_ins_total", "result" => "done"),
            sign_ins_failed: counter!("postkeep_sign_ins_total", "result" => "failed"),
            refused_by_policy: refused("policy"),
            refused_by_mailbox_rate: refused("mailbox_rate"),
            refused_by_fault: refused("fault"),
        }
    }
}
