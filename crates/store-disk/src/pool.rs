//! The readers: threads with a connection each. A reader never waits for the writer, nor the writer for a reader.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use store::{Error, Result};
use tokio::sync::oneshot;

use crate::error::{OpenError, undone};
use crate::inbox::{Inbox, Rejected};

type Work = Box<dyn FnOnce(&Connection) + Send>;

/// Threads that read.
pub(crate) struct Pool {
    inbox: Arc<Inbox<Work>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Pool {
    /// Start threads of a name, each with a connection of its own.
    pub(crate) fn start(
        name: &str,
        readers: usize,
        queue_max: usize,
        connect: impl Fn() -> std::result::Result<Connection, OpenError>,
    ) -> std::result::Result<Self, OpenError> {
        let inbox = Arc::new(Inbox::<Work>::new(queue_max));
        let mut threads = Vec::new();
        for _ in 0..readers.max(1) {
            let connection = connect()?;
            let inbox = Arc::clone(&inbox);
            let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
                while let Some(work) = inbox.take() {
                    // One that panics answers nobody, and the next is served.
                    if catch_unwind(AssertUnwindSafe(|| work(&connection))).is_err() {
                        tracing::error!("a reader of the store panicked");
                    }
                }
            });
            threads.push(thread.map_err(|source| OpenError::io("start a thread for", Path::new(name), source))?);
        }
        Ok(Self { inbox, threads: Mutex::new(threads) })
    }

    /// Look at one moment of the store.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let work: Work = Box::new(move |connection| {
            let seen = connection.unchecked_transaction().and_then(|moment| look(&moment));
            // Whoever asked may have gone.
            let _ = reply.send(seen);
        });
        self.inbox.put(work).map_err(|rejected| match rejected {
            Rejected::Full(_) => Error::try_later("the disk is slow: store.disk.queue_max reads wait for it"),
            Rejected::Closed(_) => Error::try_later("the store is closed"),
        })?;
        match answer.await {
            Ok(seen) => seen.map_err(undone),
            Err(_) => Err(Error::try_later("a reader of the store panicked")),
        }
    }

    /// Walk through something in slices, between what others ask. Each slice is told where it begins and says where the
    /// next one does; nobody waits for the end.
    pub(crate) fn walk(&self, slice: impl Fn(&Connection, i64) -> rusqlite::Result<Option<i64>> + Send + 'static) {
        walk(Arc::clone(&self.inbox), Box::new(slice), 0);
    }

    /// Answer what was asked, and end.
    pub(crate) fn close(&self) {
        self.inbox.close();
        for thread in self.threads.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // It catches the panics of its work.
            let _ = thread.join();
        }
    }
}

type Slice = Box<dyn Fn(&Connection, i64) -> rusqlite::Result<Option<i64>> + Send>;

fn walk(inbox: Arc<Inbox<Work>>, slice: Slice, from: i64) {
    let again = Arc::clone(&inbox);
    let work: Work = Box::new(move |connection| {
        let seen = connection.unchecked_transaction().and_then(|moment| slice(&moment, from));
        if let Ok(Some(next)) = seen {
            walk(again, slice, next);
        }
    });
    // When there is no room, or all is over, so is this.
    let _ = inbox.put(work);
}
