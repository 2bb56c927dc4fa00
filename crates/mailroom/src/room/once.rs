//! A delivery that happens once, however often it is asked for: the key that came with it is kept for a while, with what
//! became of it. The record is the engine's, so on a cluster every node knows it.
//!
//! Order of effects: the key is claimed, the message appended, the outcome written to the key. Whoever asks meanwhile is
//! told to try again; if a node dies in between, that lasts as long as the key.

use bytes::Bytes;
use jiff::SignedDuration;
use mail::{Mailbox, MessageId};
use std::time::Duration;
use store::{Expect, Filed, Put, Store, Version};

use super::Mailroom;
use crate::access::{Target, Verb};
use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::parcel::{Delivered, Parcel};

/// The kind of these records.
const KIND: &str = "delivered";

/// A key and what it stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Once<'a> {
    /// What the client calls this delivery.
    pub key: &'a str,
    /// What it sent, envelope and content, in one sum.
    pub sum: [u8; 32],
    /// How long the key is kept.
    pub window: Duration,
}

/// What became of a delivery with a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was delivered, now or before.
    Delivered(Delivered),
    /// The key came before with something else.
    Conflict,
}

impl Mailroom {
    /// Whether a caller may deliver to this mailbox, to tell so as this edge tells it and not in the words of SMTP.
    pub fn may_deliver(&self, caller: &Caller, mailbox: &Mailbox) -> Result<()> {
        self.access.permit(caller, Verb::Deliver, Target::Transaction)?;
        self.access.permit(caller, Verb::Deliver, Target::Mailbox(mailbox)).map(drop)
    }

    /// [`Mailroom::deliver`], unless the same came before with this key: then what became of that.
    pub async fn deliver_once(&self, caller: &Caller, parcel: Parcel, once: Once<'_>) -> Result<Outcome> {
        let permit = self.access.permit(caller, Verb::Deliver, Target::Transaction)?;
        let store = self.vault.open(&permit);
        let key = name(caller, once.key);
        let expires = self.now().checked_add(SignedDuration::try_from(once.window).unwrap_or_default()).ok();
        let claimed = store.registry().put(KIND, &key, claim(&once), expires, Expect::Absent).await?;
        let version = match claimed {
            Put::Written(version) => version,
            Put::Conflict(Some(entry)) => return before(&entry.value, &once),
            Put::Conflict(None) => return Err(under_way()),
        };
        match self.deliver(caller, parcel).await {
            Ok(delivered) => {
                settle(store, &key, version, outcome(&once, &delivered), expires).await;
                Ok(Outcome::Delivered(delivered))
            }
            // Nobody knows whether it is there: the key stays claimed, so that asking again does not add another.
            Err(error @ Error::Store(store::Error::UnknownOutcome { .. })) => Err(error),
            Err(error) => {
                if let Err(error) = store.registry().delete(KIND, &key, Expect::Version(version)).await {
                    tracing::warn!(%error, "the key of a failed delivery stays claimed");
                }
                Err(error)
            }
        }
    }
}

/// The key under which a record is kept: one caller's keys are not another's.
fn name(caller: &Caller, key: &str) -> String {
    let who = match caller {
        Caller::Token { grant } => grant.id.as_str(),
        Caller::User { name, .. } => name.as_str(),
        _ => "",
    };
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(who.len() as u64).to_le_bytes()).update(who.as_bytes()).update(key.as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}

/// The sum alone: it is under way.
fn claim(once: &Once<'_>) -> Bytes {
    Bytes::copy_from_slice(&once.sum)
}

/// The sum, then a line for each copy: id and mailbox.
fn outcome(once: &Once<'_>, delivered: &Delivered) -> Bytes {
    let mut record = once.sum.to_vec();
    record.push(b'\n');
    for filed in &delivered.filed {
        record.extend_from_slice(&filed.id.digits());
        record.extend_from_slice(format!(" {}\n", filed.mailbox).as_bytes());
    }
    record.into()
}

/// A message that is there must not be told to be lost because its key could not be settled.
async fn settle(store: &dyn Store, key: &str, version: Version, record: Bytes, expires: Option<jiff::Timestamp>) {
    let settled = store.registry().put(KIND, key, record, expires, Expect::Version(version)).await;
    if !matches!(settled, Ok(Put::Written(_))) {
        tracing::warn!(?settled, "what became of a delivery was not written to its key");
    }
}

/// What came before with this key.
fn before(record: &[u8], once: &Once<'_>) -> Result<Outcome> {
    let Some((sum, rest)) = record.split_at_checked(32) else { return Err(under_way()) };
    if sum != once.sum {
        return Ok(Outcome::Conflict);
    }
    let Some(lines) = rest.strip_prefix(b"\n") else { return Err(under_way()) };
    let lines = String::from_utf8_lossy(lines);
    let filed = lines.lines().filter_map(|line| {
        let (id, mailbox) = line.split_once(' ')?;
        let id: MessageId = id.parse().ok()?;
        Some(Filed { mailbox: Mailbox::from_canonical(mailbox), id })
    });
    Ok(Outcome::Delivered(Delivered { filed: filed.collect(), delay: None }))
}

fn under_way() -> Error {
    store::Error::try_later("a delivery with this key is under way").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use crate::stub::{self, ANYBODY, parcel};

    const WINDOW: Duration = Duration::from_secs(120);

    fn once(key: &str, sum: u8) -> Once<'_> {
        Once { key, sum: [sum; 32], window: WINDOW }
    }

    #[tokio::test]
    async fn the_same_key_delivers_once_and_tells_the_same() {
        let (stub, room) = stub::open(Settings::default());
        let to = ["a@x.test", "b@x.test"];
        let first = room.deliver_once(&ANYBODY, parcel(&room, &to), once("k", 1)).await.unwrap();
        let again = room.deliver_once(&ANYBODY, parcel(&room, &to), once("k", 1)).await.unwrap();
        assert_eq!(first, again);
        let Outcome::Delivered(delivered) = first else { panic!("{first:?}") };
        assert_eq!((delivered.filed.len(), stub.messages()), (2, 2));
        let other = room.deliver_once(&ANYBODY, parcel(&room, &to), once("k", 2)).await.unwrap();
        assert_eq!((other, stub.messages()), (Outcome::Conflict, 2));
        room.deliver_once(&ANYBODY, parcel(&room, &to), once("l", 1)).await.unwrap();
        assert_eq!(stub.messages(), 4);
    }

    #[tokio::test]
    async fn what_failed_may_be_asked_for_again_unless_nobody_knows() {
        let (stub, room) = stub::open(Settings::default());
        let errors = [store::Error::try_later("down"), store::Error::UnknownOutcome { why: "cut".into() }];
        stub.append_errors.lock().unwrap().extend(errors);
        let ask = || room.deliver_once(&ANYBODY, parcel(&room, &["a@x.test"]), once("k", 1));
        assert!(matches!(ask().await, Err(Error::Store(store::Error::TryLater { .. }))));
        assert!(matches!(ask().await, Err(Error::Store(store::Error::UnknownOutcome { .. }))));
        assert!(matches!(ask().await, Err(Error::Store(store::Error::TryLater { .. }))), "it may be there already");
        assert_eq!(stub.messages(), 0);
    }

    #[test]
    fn keys_of_two_callers_differ() {
        let user = |name: &str| Caller::User { name: name.to_owned(), peer: None };
        assert_ne!(name(&user("a"), "bc"), name(&user("ab"), "c"));
        assert_eq!(name(&user("a"), "k"), name(&user("a"), "k"));
        assert_ne!(name(&user("a"), "k"), name(&ANYBODY, "k"));
    }
}
