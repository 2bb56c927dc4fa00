//! Where a reader has come to, as text that it keeps: opaque outside, valid on every node, also of an empty mailbox.
//!
//! A cursor holds no time that could be compared with somebody's clock: what counts as newer is said by the engine's
//! order of changes alone. It is not signed, since it opens nothing: whoever makes one up may list the same mailbox
//! from another place on.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jiff::Timestamp;
use store::{Position, Scope};

/// The first octet, so that a later form can be told from this one.
const FORM: u8 = 1;
/// Octets of a cursor of this form: form, epoch, place, position, time.
const LENGTH: usize = 1 + 8 + 4 + 8 + 5;

/// A cursor taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cursor {
    /// The engine's epoch when it was issued.
    pub epoch: u64,
    /// Of which mailbox it is, as a tag of its name.
    pub place: Place,
    /// Everything up to here was there.
    pub position: Position,
    /// When it was issued, to the second.
    pub issued: Timestamp,
}

/// A tag of what a cursor is of. It finds mistakes and hides nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place([u8; 4]);

/// Where somebody wants to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Since {
    /// What comes behind this position is new to them.
    pub position: Position,
    /// When their cursor was issued.
    pub issued: Timestamp,
    /// Whether their cursor is of an earlier life of the store, in which case all that is there is new.
    pub restarted: bool,
}

/// This text is no cursor that could be gone on from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadCursor {
    /// Not one of ours.
    #[error("this is no cursor, nor is a time one: take `cursor` from the answer to reading or listing the mailbox")]
    Syntax,
    /// It belongs to something else.
    #[error("this cursor was issued for another mailbox: take one from the mailbox that is asked for")]
    Foreign,
    /// The store has not come so far.
    #[error("this cursor is ahead of the store, which was put back to an earlier state: take a new one")]
    Ahead,
}

impl Place {
    /// The tag of a mailbox, or of all.
    pub fn of(scope: &Scope) -> Self {
        let name = match scope {
            Scope::Mailbox(mailbox) => mailbox.as_str(),
            Scope::All => "",
        };
        let hash = blake3::hash(name.as_bytes());
        let [a, b, c, d, ..] = *hash.as_bytes();
        Self([a, b, c, d])
    }
}

impl Cursor {
    /// As it is handed out.
    pub fn encode(&self) -> String {
        let mut octets = Vec::with_capacity(LENGTH);
        octets.push(FORM);
        octets.extend(self.epoch.to_be_bytes());
        octets.extend(self.place.0);
        octets.extend(self.position.0.to_be_bytes());
        octets.extend(&self.issued.as_second().to_be_bytes()[3..]);
        BASE64_URL_SAFE_NO_PAD.encode(octets)
    }

    /// As it comes back.
    pub fn decode(text: &str) -> Result<Self, BadCursor> {
        let octets = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| BadCursor::Syntax)?;
        let octets: [u8; LENGTH] = octets.try_into().map_err(|_| BadCursor::Syntax)?;
        let (&[FORM], rest) = octets.split_at(1) else { return Err(BadCursor::Syntax) };
        let seconds = number(&rest[20..]);
        Ok(Self {
            epoch: number(&rest[..8]),
            place: Place([rest[8], rest[9], rest[10], rest[11]]),
            position: Position(number(&rest[12..20])),
            issued: i64::try_from(seconds)
                .ok()
                .and_then(|at| Timestamp::from_second(at).ok())
                .ok_or(BadCursor::Syntax)?,
        })
    }
}

fn number(octets: &[u8]) -> u64 {
    octets.iter().fold(0, |number, octet| number << 8 | u64::from(*octet))
}

#[cfg(test)]
mod tests;
