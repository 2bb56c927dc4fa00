//! How opening a store fails, and what an error of SQLite means for those who called.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite::ffi;
use store::Error;

/// Why a store could not be opened. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error(
        "{path} is in use by another postkeep{}; stop that one, or give this one a store.disk.path of its own",
        process(holder)
    )]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The number of that process, where it is known.
        holder: String,
    },
    /// A symbolic link, or something else that is no file, stands in the place of ours.
    #[error(
        "{path} is a symbolic link or no plain file, and none is followed here; name the real place in store.disk.path"
    )]
    Link {
        /// What was found.
        path: PathBuf,
    },
    /// A file, not a directory.
    #[error("{path} is not a directory; name one in store.disk.path")]
    NotADirectory {
        /// What was found.
        path: PathBuf,
    },
    /// There is no store.
    #[error("there is no store in {path}; check store.disk.path, or start the server once to make one")]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A directory with files of somebody else.
    #[error(
        "{path} holds other files and no store; name an empty directory in store.disk.path, or one that is not there yet"
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
    },
    /// Written by a later version.
    #[error(
        "{path} was written by a newer postkeep (format {found}, this one reads up to {known}); start that version, \
        or restore a backup from before the upgrade"
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The last format known here.
        known: i64,
    },
    /// Written by an earlier version, and not brought up to date yet.
    #[error("{path} has an older format; start the server on it once, which brings it up to date, and try again")]
    Older {
        /// The database.
        path: PathBuf,
    },
    /// No store of ours.
    #[error("{path} is not a store of postkeep; name another directory in store.disk.path")]
    NotAStore {
        /// The database.
        path: PathBuf,
    },
    /// The file system failed.
    #[error("cannot {doing} {path}: {source}; check the path, its owner and the room on the disk")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The database could not be read.
    #[error(
        "cannot open {path}: {source}; `postkeep store check` tells what is damaged, a backup can be put in its place"
    )]
    Database {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

impl OpenError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }

    pub(crate) fn database(path: &Path, source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotAStore { path: path.to_owned() },
            // Nothing is known to be damaged: it may not be read or made.
            Some(ErrorCode::CannotOpen) => Self::io("open", path, io::Error::other(source)),
            _ => Self::Database { path: path.to_owned(), source },
        }
    }
}

fn process(holder: &str) -> String {
    if holder.is_empty() { String::new() } else { format!(" (process {holder})") }
}

/// Why a step within a transaction could not be done.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It is refused, and it has written nothing: the others of its group go on.
    Refused(Error),
    /// SQLite failed: the transaction is rolled back.
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// What a failure of SQLite is for the caller when it is known that nothing was changed.
pub(crate) fn undone(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Error::Full { what: "the disk is full".to_owned() },
        _ => Error::TryLater { why: "the database failed".to_owned(), after: None, source: Some(Box::new(error)) },
    }
}

/// Whether a sync failed: what was written before it may be on the disk, or not, and no later sync can tell.
pub(crate) fn is_unsynced(error: &rusqlite::Error) -> bool {
    matches!(extended(error), Some(ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC))
}

/// Whether reading or writing failed.
pub(crate) fn is_io(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
}

/// Whether pages of the database are damaged.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

fn extended(error: &rusqlite::Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}
