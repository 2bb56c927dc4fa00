//! What everything is called on the brokers. Whatever a mailbox is called, its subject is a hash of that name: no name
//! reaches into another's subject, and the record carries the name itself, so that two of one hash are told apart.

use std::fmt::Write as _;

use mail::Mailbox;

/// Letters and digits that make a token of a subject, five bits each.
const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// 80 bits.
const TOKEN_DIGITS: usize = 16;

/// The names of one store.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    prefix: String,
    shards: usize,
}

/// A mailbox on the brokers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Place {
    /// In which shard.
    pub(crate) shard: usize,
    token: String,
}

/// Names one thing that is done once, by whomever and however often it is tried.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Deed(pub(crate) u128);

impl Deed {
    pub(crate) fn new() -> Self {
        Self(uuid::Uuid::new_v4().as_u128())
    }

    pub(crate) fn hex(self) -> String {
        format!("{:032x}", self.0)
    }
}

impl Names {
    pub(crate) fn new(prefix: &str, shards: usize) -> Self {
        Self { prefix: prefix.to_owned(), shards: shards.max(1) }
    }

    // --- streams ---

    pub(crate) fn summaries(&self, shard: usize) -> String {
        format!("{}-sum-{shard}", self.prefix)
    }

    pub(crate) fn bodies(&self, shard: usize) -> String {
        format!("{}-body-{shard}", self.prefix)
    }

    pub(crate) fn records(&self) -> String {
        format!("{}-reg", self.prefix)
    }

    pub(crate) fn jobs(&self) -> String {
        format!("{}-jobs", self.prefix)
    }

    // --- mailboxes ---

    pub(crate) fn place(&self, mailbox: &Mailbox) -> Place {
        let hash = blake3::hash(mailbox.as_str().as_bytes());
        let first = u32::from_be_bytes(hash.as_bytes()[..4].try_into().expect("four bytes of thirty-two"));
        // The high bits of the hash, spread evenly over any number of shards.
        let shard = ((u64::from(first) * self.shards as u64) >> 32) as usize;
        Place { shard, token: token(hash.as_bytes()) }
    }

    /// Where a mailbox's mail lies.
    pub(crate) fn mail(&self, place: &Place) -> String {
        format!("{}.s.{}.{}.m", self.prefix, place.shard, place.token)
    }

    /// Where it is told what was taken out of a mailbox.
    pub(crate) fn marks(&self, place: &Place) -> String {
        format!("{}.s.{}.{}.d", self.prefix, place.shard, place.token)
    }

    /// Everything of a mailbox.
    pub(crate) fn mailbox(&self, place: &Place) -> String {
        format!("{}.s.{}.{}.*", self.prefix, place.shard, place.token)
    }

    /// The mail and marks of all mailboxes in a shard.
    pub(crate) fn all_mailboxes(&self, shard: usize) -> String {
        format!("{}.s.{shard}.>", self.prefix)
    }

    /// Where changes of mailboxes are told when they happen: `(from, to)` of every shard's stream.
    pub(crate) fn telling(&self) -> (String, String) {
        (format!("{}.s.>", self.prefix), format!("{}.ev.>", self.prefix))
    }

    /// Where changes of one mailbox are told.
    pub(crate) fn told(&self, place: &Place) -> String {
        format!("{}.ev.{}.{}.*", self.prefix, place.shard, place.token)
    }

    /// Where changes of all mailboxes are told.
    pub(crate) fn told_anywhere(&self) -> String {
        format!("{}.ev.>", self.prefix)
    }

    /// The shard of a change that was told on this subject.
    pub(crate) fn shard_told(&self, subject: &str) -> Option<usize> {
        let rest = subject.strip_prefix(&self.prefix)?.strip_prefix(".ev.")?;
        rest.split('.').next()?.parse().ok()
    }

    /// Whether what stands on this subject is a mark; else it is a line.
    pub(crate) fn is_mark(&self, subject: &str) -> bool {
        subject.ends_with(".d")
    }

    // --- what makes things happen once ---

    /// Stands in a shard once a part of a deed is done there.
    pub(crate) fn guard(&self, shard: usize, deed: Deed, part: usize) -> String {
        format!("{}.g.{shard}.{}-{part}", self.prefix, deed.hex())
    }

    /// Stands in a shard once a message there was deleted.
    pub(crate) fn grave(&self, shard: usize, seq: u64) -> String {
        format!("{}.g.{shard}.d{seq}", self.prefix)
    }

    pub(crate) fn guards(&self, shard: usize) -> String {
        format!("{}.g.{shard}.*", self.prefix)
    }

    // --- bodies and intents ---

    pub(crate) fn body(&self, shard: usize) -> String {
        format!("{}.b.{shard}", self.prefix)
    }

    /// What is begun and not finished.
    pub(crate) fn intent(&self, shard: usize, deed: Deed) -> String {
        format!("{}.x.{shard}.{}", self.prefix, deed.hex())
    }

    pub(crate) fn intents(&self, shard: usize) -> String {
        format!("{}.x.{shard}.*", self.prefix)
    }

    // --- errands ---

    /// What is to be done for mail of a mailbox; it stands in the mailbox's shard until it is among the jobs.
    pub(crate) fn errand(&self, place: &Place, deed: Deed) -> String {
        format!("{}.w.{}.{}.{}", self.prefix, place.shard, place.token, deed.hex())
    }

    pub(crate) fn errands_of(&self, place: &Place) -> String {
        format!("{}.w.{}.{}.*", self.prefix, place.shard, place.token)
    }

    pub(crate) fn errands(&self, shard: usize) -> String {
        format!("{}.w.{shard}.>", self.prefix)
    }

    // --- the pulse of a stream ---

    pub(crate) fn pulse_of_summaries(&self, shard: usize, node: &str) -> String {
        format!("{}.h.s{shard}.{node}", self.prefix)
    }

    pub(crate) fn pulse_of_bodies(&self, shard: usize, node: &str) -> String {
        format!("{}.h.b{shard}.{node}", self.prefix)
    }

    pub(crate) fn pulses_of_summaries(&self, shard: usize) -> String {
        format!("{}.h.s{shard}.*", self.prefix)
    }

    pub(crate) fn pulses_of_bodies(&self, shard: usize) -> String {
        format!("{}.h.b{shard}.*", self.prefix)
    }

    // --- records, jobs, nodes ---

    /// Anything below the prefix; the words are our own, or tokens.
    pub(crate) fn below(&self, words: &[&str]) -> String {
        let mut subject = self.prefix.clone();
        for word in words {
            // Writing to a string does not fail.
            let _ = write!(subject, ".{word}");
        }
        subject
    }
}

/// A token of a subject for any text.
pub(crate) fn token_of(text: &str) -> String {
    token(blake3::hash(text.as_bytes()).as_bytes())
}

fn token(hash: &[u8; 32]) -> String {
    let mut bits = u128::from_be_bytes(hash[..16].try_into().expect("sixteen bytes of thirty-two"));
    let mut token = String::with_capacity(TOKEN_DIGITS);
    for _ in 0..TOKEN_DIGITS {
        bits = bits.rotate_left(5);
        token.push(char::from(DIGITS[(bits & 31) as usize]));
    }
    token
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_mailbox_keeps_its_place_for_ever() {
        let names = Names::new("postkeep", 128);
        let place = names.place(&Mailbox::from_canonical("ann"));
        assert_eq!(names.mail(&place), "postkeep.s.116.5d7wom3ynaly457z.m");
    }

    #[test]
    fn every_shard_gets_its_share() {
        let names = Names::new("postkeep", 16);
        let mut shares = [0; 16];
        for number in 0..16_000 {
            shares[names.place(&Mailbox::from_canonical(&format!("box{number}"))).shard] += 1;
        }
        assert!(shares.iter().all(|share| (850..1150).contains(share)), "{shares:?}");
    }

    proptest! {
        /// Whatever a mailbox is called, its subject has the tokens it should and no wildcard, and no other name's.
        #[test]
        fn t079_no_name_leaves_its_subject(name in ".{1,60}", other in "[a-z.*> ]{1,20}") {
            let names = Names::new("postkeep", 8);
            let place = names.place(&Mailbox::from_canonical(&name));
            let subject = names.mail(&place);
            prop_assert_eq!(subject.split('.').count(), 5);
            prop_assert!(subject.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'.'));
            if name != other {
                prop_assert_ne!(place, names.place(&Mailbox::from_canonical(&other)));
            }
        }
    }
}
