//! A budget of bytes that many connections share: what is in flight is counted before it is held.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// So many bytes may be held at once.
#[derive(Debug)]
pub struct Budget {
    bytes_max: u64,
    held: AtomicU64,
}

/// The bytes one connection holds; given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    /// A budget of so many bytes.
    pub fn new(bytes_max: u64) -> Arc<Self> {
        Arc::new(Self { bytes_max, held: AtomicU64::new(0) })
    }

    /// An empty reservation.
    pub fn reserve(self: &Arc<Self>) -> Reservation {
        Reservation { budget: Arc::clone(self), bytes: 0 }
    }

    /// How many bytes are held now.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }
}

impl Reservation {
    /// Hold exactly so many bytes from now on; false, and no change, when the budget has no room for the growth.
    #[must_use]
    pub fn resize(&mut self, bytes: u64) -> bool {
        let held = &self.budget.held;
        if bytes <= self.bytes {
            held.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        } else {
            let more = bytes - self.bytes;
            if held.fetch_add(more, Ordering::Relaxed).saturating_add(more) > self.budget.bytes_max {
                held.fetch_sub(more, Ordering::Relaxed);
                return false;
            }
        }
        self.bytes = bytes;
        true
    }

    /// Give everything back.
    pub fn release(&mut self) {
        self.budget.held.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = 0;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_never_passes_the_budget_and_comes_back() {
        let budget = Budget::new(100);
        let (mut one, mut two) = (budget.reserve(), budget.reserve());
        assert!(one.resize(60));
        assert!(!two.resize(41));
        assert!(two.resize(40));
        assert!(!one.resize(61));
        assert!(one.resize(10));
        assert!(two.resize(90));
        drop(one);
        assert_eq!(budget.held(), 90);
        drop(two);
        assert_eq!(budget.held(), 0);
    }
}
