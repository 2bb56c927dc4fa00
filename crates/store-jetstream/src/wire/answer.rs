//! What a broker answered, and what that means for whoever asked.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;

/// The guard of a write stands already: it was done before.
const WRONG_LAST_SEQUENCE: u32 = 10071;
/// The same write is under way and not yet stored.
const SAME_IN_FLIGHT: [u32; 2] = [10158, 10164];
/// Messages of a batch are missing: the leader changed, or the connection broke.
const BATCH_GAP: u32 = 10176;
const TOO_MANY_BATCHES: u32 = 10210;
/// A bound of the stream, the account or the server is met.
const NO_ROOM: [u32; 5] = [10077, 10047, 10023, 10002, 10028];
const NOT_FOUND: [u32; 2] = [10037, 10043];
const STREAM_NOT_FOUND: u32 = 10059;

/// Why a request brought nothing.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// A broker said no. This attempt changed nothing.
    Refused(Refusal),
    /// It never reached a stream. This attempt changed nothing.
    Unsent(String),
    /// It may have been done.
    Unknown(String),
}

/// A broker's no.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Refusal {
    #[serde(default)]
    pub(crate) code: u32,
    #[serde(default, rename = "err_code")]
    pub(crate) number: u32,
    #[serde(default)]
    pub(crate) description: String,
}

/// A write that is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ack {
    /// Where; of a batch: its last message.
    pub(crate) seq: u64,
    /// Whether it was stored by an earlier attempt.
    pub(crate) duplicate: bool,
}

/// Read an answer: its `error` first, as an answer that says no may look like any other beside it.
pub(super) fn read<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Result<T, Failure> {
    #[derive(Deserialize)]
    struct Verdict {
        error: Option<Refusal>,
    }
    let unreadable = |error| Failure::Unknown(format!("a broker's answer cannot be read: {error}"));
    let Verdict { error } = serde_json::from_slice(payload).map_err(unreadable)?;
    match error {
        Some(refusal) => Err(Failure::Refused(refusal)),
        None => serde_json::from_slice(payload).map_err(unreadable),
    }
}

impl Refusal {
    /// Where the guard stands that refused a write, if that is what this is.
    pub(crate) fn stands_at(&self) -> Option<u64> {
        let (_, number) = self.description.rsplit_once(' ').filter(|_| self.number == WRONG_LAST_SEQUENCE)?;
        number.parse().ok()
    }

    pub(crate) fn is_no_room(&self) -> bool {
        NO_ROOM.contains(&self.number)
    }

    pub(crate) fn is_not_found(&self) -> bool {
        NOT_FOUND.contains(&self.number)
    }

    pub(crate) fn is_stream_not_found(&self) -> bool {
        self.number == STREAM_NOT_FOUND
    }

    /// When to ask again; none when the answer would be the same.
    fn pause(&self) -> Option<Duration> {
        let millis = match self.number {
            number if SAME_IN_FLIGHT.contains(&number) => 50,
            BATCH_GAP => 5,
            TOO_MANY_BATCHES => 150,
            _ if self.is_no_room() => return None,
            _ => match self.code {
                429 => 150,
                503 | 500 => 200,
                _ => return None,
            },
        };
        Some(Duration::from_millis(millis))
    }
}

impl Failure {
    /// When to ask again; none when the answer would be the same.
    pub(super) fn pause(&self) -> Option<Duration> {
        match self {
            Self::Refused(refusal) => refusal.pause(),
            Self::Unsent(_) => Some(Duration::from_millis(100)),
            Self::Unknown(_) => Some(Duration::from_millis(20)),
        }
    }

    /// Where the guard stands that refused a write, if that is what happened.
    pub(crate) fn stands_at(&self) -> Option<u64> {
        match self {
            Self::Refused(refusal) => refusal.stands_at(),
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(out, "{refusal}"),
            Self::Unsent(why) | Self::Unknown(why) => out.write_str(why),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the broker says: {} ({}/{})", self.description, self.code, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Refusal {
        match read::<serde_json::Value>(text.as_bytes()) {
            Err(Failure::Refused(refusal)) => refusal,
            other => panic!("{other:?}"),
        }
    }

    /// An answer with both an error and a sequence is a no.
    #[test]
    fn an_error_beside_a_sequence_is_a_no() {
        let refusal = refused(r#"{"stream":"s","seq":0,"error":{"code":503,"err_code":10077,"description":"full"}}"#);
        assert!(refusal.is_no_room() && refusal.pause().is_none());
    }

    #[test]
    fn a_guard_says_where_it_stands() {
        let said = r#"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 1834"}}"#;
        assert_eq!(refused(said).stands_at(), Some(1834));
        let other = r#"{"error":{"code":400,"err_code":10060,"description":"expected stream 12"}}"#;
        assert_eq!(refused(other).stands_at(), None);
    }

    #[test]
    fn what_passes_is_asked_again_and_what_does_not_is_not() {
        for (code, number, again) in [
            (400, 10164, true),
            (409, 10158, true),
            (400, 10176, true),
            (429, 10210, true),
            (503, 10008, true),
            (503, 10077, false),
            (500, 10047, false),
            (400, 10174, false),
            (400, 10165, false),
            (404, 10059, false),
            (400, 10054, false),
        ] {
            let refusal = Refusal { code, number, description: String::new() };
            assert_eq!(refusal.pause().is_some(), again, "{number}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        assert!(matches!(read::<serde_json::Value>(b"{"), Err(Failure::Unknown(_))));
    }
}
