//! Messages taken apart, kept for a while: each is parsed once, however many wait for it or read it (`parse.cache_max`).
//!
//! A message is the same in all its mailboxes, so it is known here by its transaction. Nobody is asked here whether the
//! reader may: that was asked when the message was read.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use bytes::Bytes;
use mail::{Letter, TransactionId, letter};
use store::Stored;
use tokio::sync::{OnceCell, Semaphore};

/// Messages up to this size are taken apart at once; larger ones aside, where they hold up no other task.
const INLINE_MAX: usize = 256 << 10;
/// What a place takes before there is a letter in it.
const PLACE_SIZE: usize = 256;

/// The letters that are kept.
pub(crate) struct Letters {
    kept: Mutex<Kept>,
    bytes_max: usize,
    limits: letter::Limits,
    aside: Semaphore,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<TransactionId, Entry>,
    /// The oldest first.
    order: VecDeque<TransactionId>,
    bytes: usize,
}

#[derive(Default)]
struct Entry {
    slot: Arc<Slot>,
    bytes: usize,
}

/// One message: whoever comes first parses it, and the others wait for that.
type Slot = OnceCell<Arc<Letter>>;

impl Letters {
    pub(crate) fn new(bytes_max: usize, limits: letter::Limits) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self { kept: Mutex::default(), bytes_max, limits, aside: Semaphore::new(cores * 2) }
    }

    /// What a message says.
    pub(crate) async fn of(&self, stored: &Stored) -> Arc<Letter> {
        let transaction = stored.summary.transaction;
        let slot = self.lock().enter(transaction, self.bytes_max);
        if let Some(letter) = slot.get() {
            return Arc::clone(letter);
        }
        let mut is_new = false;
        let parse = async {
            is_new = true;
            self.parse(&stored.raw).await
        };
        let letter = Arc::clone(slot.get_or_init(|| parse).await);
        if is_new {
            self.lock().grow(transaction, letter.bytes(), self.bytes_max);
        }
        letter
    }

    async fn parse(&self, raw: &Bytes) -> Arc<Letter> {
        if raw.len() <= INLINE_MAX {
            return Arc::new(Letter::of(raw, &self.limits));
        }
        let _turn = self.aside.acquire().await.expect("the semaphore is never closed");
        let (raw, limits) = (raw.clone(), self.limits);
        match tokio::task::spawn_blocking(move || Arc::new(Letter::of(&raw, &limits))).await {
            Ok(letter) => letter,
            Err(ended) => std::panic::resume_unwind(ended.into_panic()),
        }
    }

    /// A holder that panicked left the table whole.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    fn kept(&self) -> (usize, usize) {
        let kept = self.lock();
        (kept.entries.len(), kept.bytes)
    }
}

impl Kept {
    /// The place of a message, which counts from the beginning: whoever was to parse it may go away before.
    fn enter(&mut self, transaction: TransactionId, bytes_max: usize) -> Arc<Slot> {
        if let Some(entry) = self.entries.get(&transaction) {
            return Arc::clone(&entry.slot);
        }
        let slot = Arc::clone(&self.entries.entry(transaction).or_default().slot);
        self.order.push_back(transaction);
        self.grow(transaction, PLACE_SIZE, bytes_max);
        slot
    }

    /// A message takes so many bytes more, and the oldest go until there is room.
    fn grow(&mut self, transaction: TransactionId, bytes: usize, bytes_max: usize) {
        let Some(entry) = self.entries.get_mut(&transaction) else { return };
        entry.bytes += bytes;
        self.bytes += bytes;
        while self.bytes > bytes_max
            && let Some(oldest) = self.order.pop_front()
        {
            self.bytes -= self.entries.remove(&oldest).map_or(0, |entry| entry.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mail::{Digest, Envelope};

    use super::*;
    use crate::stub;

    fn stored(number: u128, text: &str) -> Stored {
        let (_, room) = stub::open(crate::Settings::default());
        let mut envelope = Envelope::clone(&stub::parcel(&room, &["alice@a.test"]).envelope);
        envelope.transaction = TransactionId::new(number);
        let raw = Bytes::from(text.to_owned());
        let copy = store::Copy { mailbox: stub::mailbox("alice"), rcpt_to: vec![], other_recipients: 0, expires: None };
        let (digest, received_at) = (Digest::of(&raw), jiff::Timestamp::UNIX_EPOCH);
        let (envelope, copies) = (Arc::new(envelope), vec![copy]);
        let delivery = store::Delivery { raw, envelope, digest, received_at, copies, tags: vec![], jobs: vec![] };
        let mut sorted = delivery.sort();
        let (_, summary) = sorted.copies.remove(0);
        Stored { summary: Arc::new(summary), envelope: sorted.envelope, raw: sorted.raw }
    }

    #[tokio::test]
    async fn a_message_is_parsed_once() {
        let letters = Letters::new(1 << 20, letter::Limits::default());
        let stored = stored(1, "Subject: a\r\n\r\nhello\r\n");
        let (first, second) = (letters.of(&stored).await, letters.of(&stored).await);
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(first.text, "hello\n");
    }

    #[tokio::test]
    async fn the_oldest_go_when_there_is_no_room() {
        let letters = Letters::new(12 << 10, letter::Limits::default());
        for number in 0..20 {
            letters.of(&stored(number, &format!("Subject: {number}\r\n\r\n{}", "x".repeat(2000)))).await;
        }
        let (count, bytes) = letters.kept();
        assert!((2..6).contains(&count) && bytes <= 12 << 10, "{count} with {bytes}");
    }

    #[tokio::test]
    async fn one_that_fits_nowhere_is_parsed_and_not_kept() {
        let letters = Letters::new(10, letter::Limits::default());
        let stored = stored(1, "Subject: a\r\n\r\nhello\r\n");
        let read = tokio::time::timeout(Duration::from_secs(5), letters.of(&stored)).await;
        assert_eq!((read.unwrap().text.as_str(), letters.kept()), ("hello\n", (0, 0)));
    }
}
