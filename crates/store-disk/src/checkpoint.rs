//! Bringing SQLite's log into the database, beside the writer. A thread of its own does the bulk while the writer goes
//! on; the writer does the little that came meanwhile, and then the log begins anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use crate::error::is_unsynced;
use crate::health::Health;
use crate::inbox::Inbox;

/// The log is brought in when it has so many pages.
const LOG_PAGES: i32 = 2_048;

/// The thread, and what it has to do.
pub(crate) struct Checkpoints {
    asked: Arc<Inbox<()>>,
    /// Pages in the log after the last commit.
    pages: Arc<AtomicI32>,
    /// The thread has done the bulk.
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Watch the writer's connection, and start the thread with one of its own.
    pub(crate) fn start(writer: &mut Connection, own: Connection, health: Arc<Health>) -> rusqlite::Result<Self> {
        let pages = Arc::new(AtomicI32::new(0));
        let seen = Arc::clone(&pages);
        writer.wal_hook(Some(move |_: &mut _, pages| {
            seen.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        let asked = Arc::new(Inbox::new(1));
        let done = Arc::new(AtomicBool::new(false));
        let thread = thread::Builder::new().name("store-log".to_owned()).spawn({
            let (asked, done) = (Arc::clone(&asked), Arc::clone(&done));
            move || {
                while asked.take().is_some() {
                    checkpoint(&own, &health);
                    done.store(true, Ordering::Release);
                }
            }
        });
        Ok(Self { asked, pages, done, thread: thread.ok() })
    }

    /// The writer has committed.
    pub(crate) fn after_commit(&self, writer: &Connection, health: &Health) {
        if self.done.swap(false, Ordering::AcqRel) {
            checkpoint(writer, health);
        } else if self.pages.load(Ordering::Relaxed) >= LOG_PAGES {
            // Full: it is at work already.
            let _ = self.asked.put(());
        }
    }

    /// The writer is about to end: everything goes into the database.
    pub(crate) fn finish(&mut self, writer: &Connection) {
        self.asked.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if let Err(error) = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
            tracing::debug!(%error, "the log stays as it is; the next start brings it in");
        }
    }
}

fn checkpoint(connection: &Connection, health: &Health) {
    if health.check().is_err() {
        return;
    }
    let done =
        connection.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)").and_then(|mut sql| sql.query_row([], |_| Ok(())));
    match done {
        Err(error) if is_unsynced(&error) => health.fail(error.to_string()),
        Err(error) => tracing::debug!(%error, "the log could not be brought into the database; it is tried again"),
        Ok(()) => {}
    }
}
