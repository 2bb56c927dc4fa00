//! Webhooks: each event is posted to the targets that the configuration names, signed as Standard Webhooks
//! (<https://www.standardwebhooks.com>) has it, and again until it was taken or it is of no use any more.
//!
//! Which events there are was decided by the mailroom, which wrote them down. How a message looks in JSON is the API's
//! business and handed in as [`Words`].

mod answer;
mod backoff;
mod breaker;
mod carrier;
mod counters;
mod event;
mod secret;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use answer::{Answer, judge};
pub use backoff::Pace;
pub use breaker::Rest;
pub use carrier::Webhook;
pub use event::Words;
pub use secret::{BadSecret, Secret};

/// Somebody who is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// What it is called.
    pub name: String,
    /// Where it listens.
    pub url: String,
    /// What it is signed with; with several, each signs, so that one can be taken out of use.
    pub secrets: Vec<Secret>,
    /// What is told of a message.
    pub detail: Detail,
}

/// What is told of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// What lists show.
    Summary,
    /// All of it, taken apart.
    Message,
}

/// How it is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// `webhooks.concurrent_max`: requests at once to one target.
    pub concurrent_max: usize,
    /// `webhooks.timeout`: for a target to answer.
    pub timeout: Duration,
    /// `webhooks.attempts_max`, `webhooks.give_up_after`, `webhooks.retry_max`: how often, how long.
    pub pace: Pace,
    /// `webhooks.failures_max`, `webhooks.rest`: when a target is left alone for a while.
    pub rest: Rest,
}

impl Default for Limits {
    fn default() -> Self {
        Self { concurrent_max: 8, timeout: Duration::from_secs(10), pace: Pace::default(), rest: Rest::default() }
    }
}
