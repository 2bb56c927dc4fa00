//! Names of transactions: UUIDs of version 7, made without asking the system for random bits each time.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use mail::TransactionId;

/// Makes names: the millisecond, a counter of 12 bits that orders those of one millisecond (RFC 9562 §6.2, method 1),
/// and 62 bits that nobody outside can foresee, so that two nodes hardly ever make the same.
#[derive(Default)]
pub(crate) struct Transactions {
    begun: AtomicU64,
    /// Random for each process and each mailroom.
    secret: RandomState,
}

impl Transactions {
    /// A name nobody else has.
    pub(crate) fn begin(&self, now: Timestamp) -> TransactionId {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let mut rest = [0; 10];
        rest[..2].copy_from_slice(&(number as u16).to_be_bytes());
        rest[2..].copy_from_slice(&self.secret.hash_one(number).to_be_bytes());
        let millisecond = u64::try_from(now.as_millisecond()).unwrap_or(0);
        TransactionId::new(uuid::Builder::from_unix_timestamp_millis(millisecond, &rest).into_uuid().as_u128())
    }
}

#[cfg(test)]
mod tests;
