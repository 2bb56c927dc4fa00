//! What is said of failing scripts in the log: not more than a few lines a second, however many mails fail.

use std::sync::Mutex;
use std::time::{Duration, Instant};

const LINES: u32 = 10;
const WITHIN: Duration = Duration::from_secs(1);

/// Counts lines.
#[derive(Default)]
pub(crate) struct Complaints(Mutex<Option<Window>>);

struct Window {
    since: Instant,
    said: u32,
    left_out: u64,
}

impl Complaints {
    /// Say it, unless much was said just now.
    pub(crate) fn say(&self, say: impl FnOnce(u64)) {
        if let Some(left_out) = self.pass(Instant::now()) {
            say(left_out);
        }
    }

    /// Whether a line may be said, and how many were left out before it.
    fn pass(&self, now: Instant) -> Option<u64> {
        let mut window = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let window = window.get_or_insert(Window { since: now, said: 0, left_out: 0 });
        let mut left_out = 0;
        if now.duration_since(window.since) >= WITHIN {
            left_out = window.left_out;
            *window = Window { since: now, said: 0, left_out: 0 };
        }
        if window.said == LINES {
            window.left_out += 1;
            return None;
        }
        window.said += 1;
        Some(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_not_said() {
        let (complaints, start) = (Complaints::default(), Instant::now());
        let said = (0..100).filter(|_| complaints.pass(start).is_some()).count();
        assert_eq!(said, 10);
        assert_eq!(complaints.pass(start + WITHIN), Some(90));
    }
}
