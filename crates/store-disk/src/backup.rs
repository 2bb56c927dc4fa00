//! A copy of a store as it is at one moment, made while a server may be at work on it: a directory that can be served.
//!
//! The moment is held by a read transaction, and SQLite copies its pages in steps. The copy is written under another
//! name, made durable, and only then given its own: half a copy is never taken for a backup. The copy gets an epoch of
//! its own, as its future is not that of the original.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::directory::{self, DATABASE};
use crate::error::OpenError;
use crate::schema;

/// Pages copied in one step: so often is told how far it came.
const STEP: i32 = 2_048;
/// The copy until it is whole.
const UNFINISHED: &str = "postkeep.db.unfinished";

/// What was copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backed {
    /// Bytes of the copy.
    pub bytes: u64,
    /// Messages in it.
    pub messages: u64,
}

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The store cannot be read.
    #[error(transparent)]
    Source(#[from] OpenError),
    /// There is something where the copy should be.
    #[error("{path} is not an empty directory; name one that does not exist yet")]
    Occupied {
        /// The directory.
        path: PathBuf,
    },
    /// The copy cannot be written.
    #[error("cannot {doing} {path}: {source}; check the path, its owner and the room on the disk")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// SQLite failed.
    #[error("cannot copy to {path}: {source}; check the room on the disk, and the store with `postkeep store check`")]
    Copy {
        /// The copy.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

/// Copy the store in `path` to the directory `to`. How many bytes are copied is told now and then: so many of so many.
pub fn backup(path: &Path, to: &Path, tell: &mut dyn FnMut(u64, u64)) -> Result<Backed, BackupError> {
    let database = directory::visit(path)?;
    let source = schema::open_reader(&database)?;
    prepare(to)?;
    let unfinished = to.join(UNFINISHED);
    let copied = copy(&source, &unfinished, tell).and_then(|backed| {
        publish(to, &unfinished)?;
        Ok(backed)
    });
    if copied.is_err() {
        // Best effort: what is left has a name that nobody takes for a store's.
        let _ = fs::remove_file(&unfinished);
    }
    copied
}

/// A directory of its own, for its owner alone.
fn prepare(to: &Path) -> Result<(), BackupError> {
    let failed = |doing| move |source| BackupError::Io { doing, path: to.to_owned(), source };
    match directory::create(to) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let is_dir = fs::symlink_metadata(to).map_err(failed("look at"))?.is_dir();
            if !is_dir || fs::read_dir(to).map_err(failed("look into"))?.next().is_some() {
                return Err(BackupError::Occupied { path: to.to_owned() });
            }
            #[cfg(unix)]
            {
                let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
                fs::set_permissions(to, private).map_err(failed("close to others"))?;
            }
            Ok(())
        }
        made => made.map_err(failed("make")),
    }
}

fn copy(source: &Connection, unfinished: &Path, tell: &mut dyn FnMut(u64, u64)) -> Result<Backed, BackupError> {
    let failed = |error| BackupError::Copy { path: unfinished.to_owned(), source: error };
    create(unfinished)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut copy = Connection::open_with_flags(unfinished, flags).map_err(failed)?;
    fill(source, &mut copy, tell).map_err(failed)?;
    let messages: i64 = settle(&copy).map_err(failed)?;
    copy.close().map_err(|(_, error)| failed(error))?;
    let bytes = fs::metadata(unfinished).map_or(0, |found| found.len());
    Ok(Backed { bytes, messages: messages.unsigned_abs() })
}

/// A new file for its owner alone; SQLite would make one that everybody may read.
fn create(path: &Path) -> Result<(), BackupError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let failed = |source| BackupError::Io { doing: "make", path: path.to_owned(), source };
    options.open(path).map(drop).map_err(failed)
}

/// Copy every page of one moment.
fn fill(source: &Connection, copy: &mut Connection, tell: &mut dyn FnMut(u64, u64)) -> rusqlite::Result<()> {
    // What is not whole is thrown away, so nothing is synced before the end, and nothing needs to be undone.
    copy.pragma_update(None, "synchronous", "OFF")?;
    copy.pragma_update(None, "journal_mode", "OFF")?;
    let moment = source.unchecked_transaction()?;
    // The transaction begins with the first look.
    moment.query_row("SELECT epoch FROM state", [], |_| Ok(()))?;
    let page: i64 = moment.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let backup = Backup::new(&moment, copy)?;
    loop {
        let step = backup.step(STEP)?;
        let progress = backup.progress();
        let bytes = |pages: i32| u64::from(pages.unsigned_abs()) * page.unsigned_abs();
        tell(bytes(progress.pagecount - progress.remaining), bytes(progress.pagecount));
        match step {
            StepResult::Done => break,
            StepResult::More => {}
            // Nobody else writes either of them in a way that could stand against this.
            _ => std::thread::yield_now(),
        }
    }
    drop(backup);
    moment.finish()
}

/// Make it a store of its own, in one file; how many messages it holds.
fn settle(copy: &Connection) -> rusqlite::Result<i64> {
    copy.pragma_update(None, "journal_mode", "DELETE")?;
    copy.execute("UPDATE state SET epoch = random() & 9223372036854775807", [])?;
    copy.query_row("SELECT count(*) FROM message", [], |row| row.get(0))
}

/// Durable first, then under its name, and that durable too.
fn publish(to: &Path, unfinished: &Path) -> Result<(), BackupError> {
    let failed = |doing| move |source| BackupError::Io { doing, path: to.to_owned(), source };
    let file = File::options().write(true).open(unfinished).map_err(failed("open"))?;
    file.sync_all().map_err(failed("sync"))?;
    fs::rename(unfinished, to.join(DATABASE)).map_err(failed("name the copy in"))?;
    directory::sync(to)?;
    let real = to.canonicalize().map_err(failed("find"))?;
    real.parent().map_or(Ok(()), directory::sync)?;
    Ok(())
}

#[cfg(test)]
mod tests;
