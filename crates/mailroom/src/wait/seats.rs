//! How many wait: in all, in one mailbox, from one address.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::Scope;

use crate::error::{Error, Result};
use crate::wait::Limits;

/// The room in which all wait.
pub(crate) struct Seats {
    taken: Arc<Mutex<Taken>>,
    limits: Limits,
}

#[derive(Default)]
struct Taken {
    all: usize,
    by_mailbox: HashMap<Scope, usize>,
    by_host: HashMap<IpAddr, usize>,
}

/// A place to wait in, given back when dropped.
pub(crate) struct Seat {
    taken: Arc<Mutex<Taken>>,
    scope: Scope,
    host: Option<IpAddr>,
}

impl Seats {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { taken: Arc::default(), limits }
    }

    /// The limits that hold here.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// One more.
    pub(crate) fn enter(&self, scope: &Scope, peer: Option<IpAddr>) -> Result<Seat> {
        let host = peer.filter(|_| self.limits.per_ip_max.is_some()).map(rate::host);
        let mut taken = lock(&self.taken);
        taken.has_room(&self.limits, scope, host.as_ref())?;
        taken.all += 1;
        *taken.by_mailbox.entry(scope.clone()).or_default() += 1;
        if let Some(host) = host {
            *taken.by_host.entry(host).or_default() += 1;
        }
        Ok(Seat { taken: Arc::clone(&self.taken), scope: scope.clone(), host })
    }

    /// How many wait now.
    pub(crate) fn taken(&self) -> usize {
        lock(&self.taken).all
    }
}

impl Taken {
    fn has_room(&self, limits: &Limits, scope: &Scope, host: Option<&IpAddr>) -> Result<()> {
        let full = |what| Err(Error::TooMany { what });
        if self.all >= limits.waiters_max {
            return full("waits (wait.waiters_max)");
        }
        if self.by_mailbox.get(scope).is_some_and(|here| *here >= limits.per_mailbox_max) {
            return full("waits in this mailbox (wait.per_mailbox_max)");
        }
        let there = host.and_then(|host| self.by_host.get(host)).copied().unwrap_or_default();
        if limits.per_ip_max.is_some_and(|most| there >= most) {
            return full("waits from this address (wait.per_ip_max)");
        }
        Ok(())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        taken.all -= 1;
        leave(&mut taken.by_mailbox, &self.scope);
        if let Some(host) = &self.host {
            leave(&mut taken.by_host, host);
        }
    }
}

/// One less; who was the last leaves nothing behind.
fn leave<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// A holder that panicked left the counts whole.
fn lock(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}
