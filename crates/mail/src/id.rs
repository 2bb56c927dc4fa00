//! Names of messages and of transactions. How numbers are chosen is the engine's and the mailroom's business.

use std::fmt;
use std::str::FromStr;

#[cfg(test)]
mod tests;

/// Crockford's base32 in lower case: no `i`, `l`, `o`, `u`, and in ASCII order, so text order is number order.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 13;

/// A message in its mailbox: a number that only grows, written as 13 digits, so that string order is arrival order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MessageId(u64);

/// This text is no message id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a message id is 13 lower-case base32 digits")]
pub struct BadId;

impl MessageId {
    /// The id of this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number behind the id.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The 13 digits, without an allocation.
    pub fn digits(self) -> [u8; LENGTH] {
        std::array::from_fn(|place| DIGITS[(self.0 >> (5 * (LENGTH - 1 - place)) & 31) as usize])
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(std::str::from_utf8(&self.digits()).expect("the digits are ASCII"))
    }
}

impl FromStr for MessageId {
    type Err = BadId;

    /// Takes only what `Display` writes: one message has one spelling.
    fn from_str(text: &str) -> Result<Self, BadId> {
        if text.len() != LENGTH {
            return Err(BadId);
        }
        let mut number: u128 = 0;
        for byte in text.bytes() {
            let digit = DIGITS.iter().position(|known| *known == byte).ok_or(BadId)?;
            number = number << 5 | digit as u128;
        }
        u64::try_from(number).map(Self).map_err(|_| BadId)
    }
}

/// One SMTP transaction (or another way in): the same in every mailbox the message went to, and in its `Received`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TransactionId(u128);

impl TransactionId {
    /// The transaction of this number.
    pub const fn new(number: u128) -> Self {
        Self(number)
    }

    /// The number behind it.
    pub const fn number(self) -> u128 {
        self.0
    }

    /// The 32 hexadecimal digits, without an allocation.
    pub fn digits(self) -> [u8; 32] {
        std::array::from_fn(|place| b"0123456789abcdef"[(self.0 >> (4 * (31 - place)) & 15) as usize])
    }
}

impl fmt::Display for TransactionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(std::str::from_utf8(&self.digits()).expect("the digits are ASCII"))
    }
}
