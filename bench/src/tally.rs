//! What clients count while they are at work: what was done, and what went wrong.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Value, json};

/// So many failures are told in words; the others are counted.
const FAILURES_TOLD: usize = 20;

/// Shared by all clients of one thread.
#[derive(Debug, Default)]
pub struct Tally {
    counts: RefCell<BTreeMap<&'static str, u64>>,
    failures: RefCell<Vec<String>>,
}

impl Tally {
    /// Something was done.
    pub fn count(&self, what: &'static str) {
        *self.counts.borrow_mut().entry(what).or_default() += 1;
    }

    /// Something went wrong that must not.
    pub fn failed(&self, what: impl Into<String>) {
        self.count("failures");
        let mut failures = self.failures.borrow_mut();
        if failures.len() < FAILURES_TOLD {
            failures.push(what.into());
        }
    }

    /// How often something was done.
    #[must_use]
    pub fn of(&self, what: &str) -> u64 {
        self.counts.borrow().get(what).copied().unwrap_or(0)
    }

    /// What was done and what went wrong.
    #[must_use]
    pub fn told(&self) -> Value {
        json!({ "counts": *self.counts.borrow(), "failures": *self.failures.borrow() })
    }
}
