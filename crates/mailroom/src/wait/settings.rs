//! The limits of waiting.

use std::time::Duration;

/// `wait.*`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// `wait.timeout_default`: how long is waited when nobody says. Default 10 s.
    pub timeout_default: Duration,
    /// `wait.timeout_max`: the longest that can be asked for. Default 55 s.
    pub timeout_max: Duration,
    /// `wait.count_max`: so many mails can be waited for at once. Default 50.
    pub count_max: usize,
    /// `wait.exclude_max`: so many ids can be left out. Default 500.
    pub exclude_max: usize,
    /// `wait.regex_max`: so many characters an expression may have. Default 256.
    pub regex_max: usize,
    /// `wait.near_misses_max`: so many mails that did not match are explained. Default 10.
    pub near_misses_max: usize,
    /// `wait.answer_max`: so many bytes an answer has at most; then bodies are left out. Default 8 MiB.
    pub answer_max: usize,
    /// `wait.waiters_max`: so many may wait at once. Default 20000.
    pub waiters_max: usize,
    /// `wait.per_mailbox_max`: so many may wait at once in one mailbox. Default 100.
    pub per_mailbox_max: usize,
    /// `wait.per_ip_max`: so many may wait at once from one address; none: as many as like. Default none.
    pub per_ip_max: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout_default: Duration::from_secs(10),
            timeout_max: Duration::from_secs(55),
            count_max: 50,
            exclude_max: 500,
            regex_max: 256,
            near_misses_max: 10,
            answer_max: 8 << 20,
            waiters_max: 20_000,
            per_mailbox_max: 100,
            per_ip_max: None,
        }
    }
}
