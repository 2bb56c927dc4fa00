//! What scripts remember from one event to the next: few, small, for a time, on this node. It is all the state they share.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of a key, and of a text kept under one.
pub(crate) const KEY_MAX: usize = 256;
pub(crate) const VALUE_MAX: usize = 4096;

/// Notes by their keys. When there are too many, the one that would lapse first goes.
pub(crate) struct Notes {
    max: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    notes: HashMap<String, Note>,
    ends: BTreeSet<(Instant, String)>,
}

#[derive(Clone)]
struct Note {
    value: Value,
    until: Instant,
}

#[derive(Clone)]
enum Value {
    Text(String),
    Count(u64),
}

impl Notes {
    pub(crate) fn new(max: usize) -> Self {
        Self { max, kept: Mutex::default() }
    }

    /// Keep a text under a key, for a time.
    pub(crate) fn remember(&self, key: &str, text: String, time: Duration, now: Instant) {
        self.kept().put(self.max, key, Value::Text(text), now + time, now);
    }

    /// What is kept under a key.
    pub(crate) fn recall(&self, key: &str, now: Instant) -> Option<String> {
        match self.kept().find(key, now)?.value {
            Value::Text(text) => Some(text),
            Value::Count(count) => Some(count.to_string()),
        }
    }

    /// The how-manieth time this is since the first, for a time from the first on.
    pub(crate) fn count(&self, key: &str, time: Duration, now: Instant) -> u64 {
        let mut kept = self.kept();
        let (count, until) = match kept.find(key, now) {
            Some(Note { value: Value::Count(count), until }) => (count + 1, until),
            _ => (1, now + time),
        };
        kept.put(self.max, key, Value::Count(count), until, now);
        count
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn find(&self, key: &str, now: Instant) -> Option<Note> {
        self.notes.get(key).filter(|note| note.until > now).cloned()
    }

    fn put(&mut self, max: usize, key: &str, value: Value, until: Instant, now: Instant) {
        if let Some(old) = self.notes.remove(key) {
            self.ends.remove(&(old.until, key.to_owned()));
        }
        while self.ends.first().is_some_and(|(end, _)| *end <= now || self.notes.len() >= max.max(1)) {
            if let Some((_, lapsed)) = self.ends.pop_first() {
                self.notes.remove(&lapsed);
            }
        }
        self.ends.insert((until, key.to_owned()));
        self.notes.insert(key.to_owned(), Note { value, until });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn what_is_remembered_lapses() {
        let (notes, now) = (Notes::new(10), Instant::now());
        notes.remember("a", "one".into(), MINUTE, now);
        assert_eq!(notes.recall("a", now).as_deref(), Some("one"));
        notes.remember("a", "two".into(), MINUTE, now + MINUTE / 2);
        assert_eq!(notes.recall("a", now + MINUTE).as_deref(), Some("two"));
        assert_eq!(notes.recall("a", now + MINUTE * 2), None);
    }

    #[test]
    fn a_count_begins_anew_when_its_time_is_over() {
        let (notes, now) = (Notes::new(10), Instant::now());
        assert_eq!((0..3).map(|_| notes.count("a", MINUTE, now)).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(notes.count("a", MINUTE, now + MINUTE), 1);
    }

    #[test]
    fn there_are_never_more_than_so_many() {
        let (notes, now) = (Notes::new(100), Instant::now());
        for number in 0..1000 {
            notes.remember(&number.to_string(), "x".into(), MINUTE * (number + 1), now);
        }
        let kept = notes.kept();
        assert_eq!((kept.notes.len(), kept.ends.len()), (100, 100));
        assert!(kept.find("999", now).is_some() && kept.find("5", now).is_none());
    }
}
