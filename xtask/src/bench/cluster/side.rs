//! What one side did in one round, and what that says for one message.

use crate::load::figures::median;

/// One side of one round.
pub(super) struct Side {
    pub(super) count: f64,
    pub(super) seconds: f64,
    pub(super) p50: f64,
    pub(super) p99: f64,
    /// CPU seconds of the brokers, of the node, and of whoever sends.
    pub(super) brokers: f64,
    pub(super) node: f64,
    pub(super) senders: f64,
    /// How much of the first core, and of the others, had nothing to do.
    pub(super) idle: [f64; 2],
    /// What one message became in the streams of bodies and of summaries.
    pub(super) stored: [Share; 2],
}

/// Messages and bytes in a stream for each message that was sent.
pub(super) struct Share {
    pub(super) messages: f64,
    pub(super) bytes: f64,
}

/// What a side did, by its own account.
pub(super) struct Done {
    pub(super) count: f64,
    pub(super) seconds: f64,
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) node: f64,
    pub(super) senders: f64,
}

impl Side {
    pub(super) fn rate(&self) -> f64 {
        self.count / self.seconds
    }

    /// µs a message.
    pub(super) fn each(&self, seconds: f64) -> f64 {
        seconds * 1e6 / self.count
    }

    pub(super) fn line(&self) -> String {
        let [brokers, node, senders] = [self.brokers, self.node, self.senders].map(|cpu| cpu / self.seconds);
        let stored = self.stored.each_ref().map(|share| format!("{:.2} of {:.0} bytes", share.messages, share.bytes));
        format!(
            "{:.0} messages, {:.0} msg/s, {:.1} / {:.1} ms, brokers {:.0} µs/msg, node {:.0} µs/msg; stored {}; cores: \
             brokers {brokers:.2}, node {node:.2}, senders {senders:.2}, idle {:.2} of the first and {:.2} of the rest",
            self.count,
            self.rate(),
            self.p50,
            self.p99,
            self.each(self.brokers),
            self.each(self.node),
            stored.join(" and "),
            self.idle[0],
            self.idle[1],
        )
    }
}

/// The median of a figure.
pub(super) fn middle(sides: &[Side], figure: impl Fn(&Side) -> f64) -> f64 {
    median(&sides.iter().map(figure).collect::<Vec<_>>())
}
