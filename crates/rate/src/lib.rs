//! How often something may happen in a time, for each key of many: an address, a network, a mailbox.
//!
//! The whole quota may be used at once; it comes back evenly. What a key stands for and what is said to whoever is over
//! its rate is the business of the rooms that use it.

mod ledger;

use std::convert::Infallible;
use std::fmt;
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::RateLimiter;
use governor::clock::{Clock, MonotonicClock, Reference};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::ShrinkableKeyedStateStore;

use ledger::Ledger;

/// So often in so long a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quota {
    /// How often; at least once.
    pub count: u32,
    /// In which time.
    pub per: Duration,
}

/// The rate of each key.
///
/// At most `entries_max` keys are remembered: those whose quota is not whole again. When all of them are taken, a new
/// key is let through without being counted. To refuse it instead would let whoever has very many addresses shut out
/// everybody else, and a bound on memory is no reason to turn away mail; whoever is remembered stays bound.
pub struct Rate<K: Hash + Eq + Clone, C: Clock = MonotonicClock> {
    limiter: RateLimiter<K, Ledger<K>, C, NoOpMiddleware<C::Instant>>,
    ledger: Ledger<K>,
    /// What one costs, in time until it has come back.
    weight: Nanos,
    count: u32,
    clock: C,
    start: C::Instant,
}

impl<K: Hash + Eq + Clone> Rate<K> {
    /// A rate for every key, of which so many are remembered.
    pub fn new(quota: Quota, entries_max: usize) -> Self {
        Self::with_clock(quota, entries_max, MonotonicClock)
    }
}

impl<K: Hash + Eq + Clone, C: Clock + Clone> Rate<K, C> {
    /// The same, by a clock of one's own.
    pub fn with_clock(quota: Quota, entries_max: usize, clock: C) -> Self {
        let count = NonZeroU32::new(quota.count).unwrap_or(NonZeroU32::MIN);
        let weight = (quota.per / count.get()).max(Duration::from_nanos(1));
        let replenished = governor::Quota::with_period(weight).expect("the time for one is not zero");
        let ledger = Ledger::new(entries_max);
        let start = clock.now();
        Self {
            limiter: RateLimiter::new(replenished.allow_burst(count), ledger.clone(), clock.clone()),
            ledger,
            weight: weight.into(),
            count: count.get(),
            clock,
            start,
        }
    }

    /// Take so many of this key's quota, all or none. More than a whole quota counts as a whole one. Else the time
    /// after which there will be enough.
    pub fn take(&self, key: &K, many: u32) -> Result<(), Duration> {
        let Some(many) = NonZeroU32::new(many.min(self.count)) else { return Ok(()) };
        match self.limiter.check_key_n(key, many) {
            Ok(Err(early)) => Err(early.wait_time_from(self.clock.now())),
            // It is never more than a whole quota.
            Ok(Ok(())) | Err(_) => Ok(()),
        }
    }

    /// Whether one could be taken now.
    pub fn has_room(&self, key: &K) -> bool {
        let now = self.clock.now().duration_since(self.start);
        let due = self.ledger.due(key).unwrap_or(now).max(now);
        due + self.weight <= now + self.weight * self.count.into()
    }

    /// Take so many whether they are there or not: what has happened already. A debt is paid before anything else can
    /// be taken; it is never deeper than one whole quota.
    pub fn charge(&self, key: &K, many: u32) {
        let now = self.clock.now().duration_since(self.start);
        // A whole quota, and a whole debt.
        let deepest = u64::from(self.count) * 2;
        let (cost, latest) = (self.weight * deepest.min(many.into()), now + self.weight * deepest);
        let charged = self.ledger.measure_and_replace(key, |due| {
            let due = due.unwrap_or(now).max(now) + cost;
            Ok::<_, Infallible>(((), due.min(latest)))
        });
        charged.unwrap_or_else(|never| match never {});
    }

    /// Forget those whose quota is whole again: to be called now and then.
    pub fn forget_idle(&self) {
        self.limiter.retain_recent();
    }

    /// How many keys are remembered.
    pub fn remembered(&self) -> usize {
        self.ledger.len()
    }
}

impl<K: Hash + Eq + Clone, C: Clock> fmt::Debug for Rate<K, C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Rate").field("count", &self.count).field("weight", &self.weight).finish_non_exhaustive()
    }
}

/// What counts as one host: an IPv4 address, whichever way it is written, or the /64 of an IPv6 one, which its owner
/// has whole.
pub fn host(ip: IpAddr) -> IpAddr {
    masked(ip, 32, 64)
}

/// What counts as one network: a /24 of IPv4, a /48 of IPv6.
pub fn network(ip: IpAddr) -> IpAddr {
    masked(ip, 24, 48)
}

/// The address with its leading bits alone.
fn masked(ip: IpAddr, v4_bits: u32, v6_bits: u32) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4((v4.to_bits() & (u32::MAX << (32 - v4_bits))).into()),
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & (u128::MAX << (128 - v6_bits))).into()),
    }
}

#[cfg(test)]
mod tests;
