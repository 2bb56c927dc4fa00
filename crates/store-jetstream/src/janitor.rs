//! Marks that everybody has had time to see are taken away, by the process that made them. One that dies leaves its marks
//! to their age.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

use crate::office::Office;
use crate::remove::MARK_LIFE;

/// So many removals are remembered; the marks of more stay until their age takes them.
const REMEMBERED_MAX: usize = 100_000;
const PAUSE: Duration = Duration::from_millis(200);

/// Takes marks away when their time has come.
pub(crate) struct Janitor {
    told: Sender<Due>,
    working: AbortHandle,
}

struct Due {
    at: Instant,
    shard: usize,
    marks: Range<u64>,
}

impl Janitor {
    pub(crate) fn start(office: Arc<Office>) -> Self {
        let (told, hearing) = channel(1024);
        let working = tokio::spawn(work(office, hearing)).abort_handle();
        Self { told, working }
    }

    /// Take these away later.
    pub(crate) fn later(&self, shard: usize, marks: Range<u64>) {
        // When there are too many at once, age takes them.
        let _ = self.told.try_send(Due { at: Instant::now() + MARK_LIFE, shard, marks });
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        self.working.abort();
    }
}

async fn work(office: Arc<Office>, mut hearing: Receiver<Due>) {
    let mut waiting: VecDeque<Due> = VecDeque::new();
    loop {
        let next = waiting.front().map(|due| due.at);
        tokio::select! {
            due = hearing.recv() => match due {
                Some(due) if waiting.len() < REMEMBERED_MAX => waiting.push_back(due),
                Some(_) => {}
                None => return,
            },
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {
                if let Some(due) = waiting.pop_front() {
                    take_away(&office, due).await;
                }
            }
        }
    }
}

/// A mark that cannot be taken away now is left to its age.
async fn take_away(office: &Office, Due { shard, marks, .. }: Due) {
    let stream = office.names.summaries(shard);
    for seq in marks {
        if office.link.remove(&stream, seq).await.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
    }
}
