//! The index of a store's texts, in a file of its own beside the database: what it says is checked against the mail before
//! it is believed, and without it everything is found all the same, only slower. So it may lag behind, miss its old end,
//! or be deleted; damaged, it is made anew.
//!
//! A thread of its own fills it behind the commits (`filler`); delivery neither waits for it nor knows it. The file itself
//! is the `book`, and `search` goes through it.

mod book;
mod filler;
mod search;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::timeout;

use crate::engine::Shared;
use crate::error::is_damage;
use crate::pool::Pool;

pub(crate) use book::FILES;
pub(crate) use search::search;

use book::{Asked, Batch, Book, Range};
use filler::Filler;

/// Threads that look into the index, and how many questions may wait for them.
const READERS: usize = 2;
const QUEUE_MAX: usize = 64;

/// The index as the engine sees it.
pub(crate) struct Index {
    desk: Arc<Desk>,
    filler: Filler,
}

/// What the filler and those who search share.
struct Desk {
    path: PathBuf,
    /// None: there is no index now.
    readers: Mutex<Option<Arc<Pool>>>,
    /// Somebody met damage: the filler makes the index anew.
    spoilt: Mutex<Option<String>>,
}

/// What came of a question to the index.
enum Answer {
    /// These may match.
    Batch(Batch),
    /// There is no index to ask.
    None,
    /// It did not answer in time.
    Late,
}

impl Index {
    /// Have the index of this store kept, from now on. What goes wrong with it is told in the log and stops nothing.
    pub(crate) fn start(database: &Path, shared: Arc<Shared>, epoch: u64) -> Self {
        let path = database.with_file_name(book::FILE);
        let desk = Arc::new(Desk { path, readers: Mutex::default(), spoilt: Mutex::default() });
        let filler = Filler::start(database.to_owned(), shared, Arc::clone(&desk), epoch);
        Self { desk, filler }
    }

    /// End both sides of it.
    pub(crate) fn close(&self) {
        self.filler.close();
        self.desk.shut();
    }

    async fn ask(&self, asked: Asked, time: Duration) -> Answer {
        let readers = self.desk.readers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(readers) = readers else { return Answer::None };
        let desk = Arc::clone(&self.desk);
        let asking = readers.ask(move |connection| {
            let batch = Book::batch(connection, &asked);
            if let Err(error) = batch.as_ref() {
                desk.met(error);
            }
            batch
        });
        match timeout(time, asking).await {
            Ok(Ok(batch)) => Answer::Batch(batch),
            Ok(Err(_)) => Answer::None,
            Err(_) => Answer::Late,
        }
    }
}

impl Desk {
    /// An error of the index: damage has it made anew.
    fn met(&self, error: &rusqlite::Error) {
        if is_damage(error) {
            let mut spoilt = self.spoilt.lock().unwrap_or_else(PoisonError::into_inner);
            spoilt.get_or_insert_with(|| error.to_string());
        }
    }

    fn is_spoilt(&self) -> Option<String> {
        self.spoilt.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// From now on it can be asked.
    fn open(&self) -> rusqlite::Result<()> {
        let path = self.path.clone();
        let pool = Pool::start("store-index", READERS, QUEUE_MAX, || book::connect_reader(&path));
        let pool = pool.map_err(|_| rusqlite::Error::InvalidQuery)?;
        *self.readers.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(pool));
        Ok(())
    }

    /// From now on it cannot; whoever asks is answered first.
    fn shut(&self) {
        let readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(readers) = readers {
            readers.close();
        }
    }
}
