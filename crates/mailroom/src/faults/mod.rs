//! Faults on demand: what mail asks for by its address, and what plans do to mail. Deterministic, so that tests can rely on
//! them: the same address is answered the same, and a plan counts its attempts for all nodes together.
//!
//! What is here decides and writes; the mailroom asks it, between access and everybody else, and delivers what comes back.

pub mod act;
pub(crate) mod attempts;
pub mod grammar;
pub mod plan;
pub(crate) mod plans;
pub(crate) mod reports;

use std::time::Duration;

use mail::Address;

pub use act::{Act, read_enhanced, usual_enhanced};
pub use attempts::Count;
pub use grammar::{Asked, Back, BadFault, Side};
pub use plan::{BadPlan, NewPlan, Per, Plan, When, Whom};

use plans::Plans;

/// The section `faults`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// `faults.domain`: addresses there ask for faults; empty: none do. Default `fault.example.com`.
    pub domain: String,
    /// `faults.delay_max`: the longest delay that can be asked for. Default a minute.
    pub delay_max: Duration,
    /// `faults.return_max`: a bounce returns a message up to this size whole, else its header. Default 64 KiB.
    pub return_max: usize,
    /// `faults.plans_max`: so many plans are in force at once; 0 is none. Default 100.
    pub plans_max: usize,
    /// `faults.pairs_max`: so many pairs, or recipients, of one plan are counted apart. Default 10000.
    pub pairs_max: u64,
    /// `faults.ttl_default`: how long a plan is in force unless it says. Default 10 minutes.
    pub ttl_default: Duration,
    /// `faults.ttl_max`: how long a plan may be in force. Default a day.
    pub ttl_max: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            domain: "fault.example.com".to_owned(),
            delay_max: Duration::from_secs(60),
            return_max: 64 << 10,
            plans_max: 100,
            pairs_max: 10_000,
            ttl_default: Duration::from_secs(600),
            ttl_max: Duration::from_secs(24 * 60 * 60),
        }
    }
}

/// What is known of faults.
#[derive(Debug)]
pub(crate) struct Faults {
    pub(crate) settings: Settings,
    pub(crate) plans: Plans,
}

impl Faults {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, plans: Plans::default() }
    }

    /// What an address asks for; none when it is none of these addresses. The postmaster's is an ordinary one everywhere
    /// (RFC 5321 §4.5.1).
    pub(crate) fn asked(&self, address: &Address, side: Side) -> Option<Result<Asked, BadFault>> {
        let is_ours = !self.settings.domain.is_empty() && address.domain().eq_ignore_ascii_case(&self.settings.domain);
        if !is_ours || address.local().eq_ignore_ascii_case("postmaster") {
            return None;
        }
        Some(grammar::read(address.local(), side, self.settings.delay_max))
    }
}

#[cfg(test)]
mod tests;
