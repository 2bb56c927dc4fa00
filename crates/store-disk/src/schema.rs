//! Opening the database: what it is made of, which format it has, and how SQLite is told to keep it.
//!
//! A format is a number in `user_version`. Each has a file that brings the one before to it; a store of any older format
//! is brought up to date when it is opened, in one transaction, and one of a newer format is not touched.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::OpenError;

/// Tells our files from others' (`PRAGMA application_id`): "PKM1".
const APPLICATION: i64 = 0x504B_4D31;
/// From nothing to format 1, from 1 to 2, and so on.
const MIGRATIONS: &[&str] = &[include_str!("schema.sql"), include_str!("schema-2.sql")];
/// Bytes of a page; for good, as a database has one size.
pub(crate) const PAGE_BYTES: u64 = 8192;
/// Bytes that every database begins with.
const HEADER_BYTES: u64 = 100;
/// Memory for pages, in KiB: of the writer, and of each reader.
const WRITER_CACHE: i64 = 32 << 10;
const READER_CACHE: i64 = 4 << 10;
/// The log of SQLite is cut back to this when it was longer for once.
const LOG_BYTES: u64 = 64 << 20;
/// Only a store check or backup of another process could make us wait.
const BUSY: Duration = Duration::from_secs(10);
/// Statements kept ready.
const STATEMENTS: usize = 64;

/// Open the database to write it, made or brought up to date, with everything of an earlier process put in order.
pub(crate) fn open_writer(path: &Path) -> Result<Connection, OpenError> {
    let failed = |source| OpenError::database(path, source);
    let mut connection = connect(path)?;
    let (application, format) = identity(&connection).map_err(failed)?;
    if format == 0 && application == 0 && is_blank(&connection, path).map_err(failed)? {
        // Before the first table is made; afterwards these cannot be changed.
        connection.pragma_update(None, "page_size", PAGE_BYTES as i64).map_err(failed)?;
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
    } else {
        known(path, application, format)?;
    }
    settle(&connection, WRITER_CACHE).map_err(failed)?;
    migrate(&mut connection, format).map_err(failed)?;
    // What is in the log is brought into the database and made durable once more: a process that was stopped by a failing
    // disk may have left pages that the system holds to be written and are not.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(failed)?;
    Ok(connection)
}

/// Open the database beside the writer of this process.
pub(crate) fn open_beside(path: &Path) -> Result<Connection, OpenError> {
    let connection = connect(path)?;
    settle(&connection, READER_CACHE).map_err(|source| OpenError::database(path, source))?;
    Ok(connection)
}

/// Open the database to read it, perhaps beside a writer of another process.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, OpenError> {
    let failed = |source| OpenError::database(path, source);
    let connection = connect(path)?;
    let (application, format) = identity(&connection).map_err(failed)?;
    known(path, application, format)?;
    if format < MIGRATIONS.len() as i64 {
        return Err(OpenError::Older { path: path.to_owned() });
    }
    settle(&connection, READER_CACHE).map_err(failed)?;
    connection.pragma_update(None, "query_only", true).map_err(failed)?;
    Ok(connection)
}

fn connect(path: &Path) -> Result<Connection, OpenError> {
    // Each connection belongs to one thread: SQLite's own locks are left out.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags).map_err(|source| OpenError::database(path, source))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.busy_timeout(BUSY).map_err(|source| OpenError::database(path, source))?;
    Ok(connection)
}

fn identity(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get(0));
    Ok((number("application_id")?, number("user_version")?))
}

/// Whether nothing was ever put into this database, as when the first start of all was stopped early. A database of
/// somebody else has things in it, and what is shorter than the header of one is none.
fn is_blank(connection: &Connection, path: &Path) -> rusqlite::Result<bool> {
    let things: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let bytes = fs::metadata(path).map_or(0, |file| file.len());
    Ok(things == 0 && (bytes == 0 || bytes >= HEADER_BYTES))
}

/// F25: a format that is not known is not touched.
fn known(path: &Path, application: i64, format: i64) -> Result<(), OpenError> {
    let known = MIGRATIONS.len() as i64;
    match () {
        () if application != APPLICATION || format < 1 => Err(OpenError::NotAStore { path: path.to_owned() }),
        () if format > known => Err(OpenError::Newer { path: path.to_owned(), found: format, known }),
        () => Ok(()),
    }
}

fn settle(connection: &Connection, cache: i64) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // macOS calls it synced when the drive has it in its cache, unless it is told to mean it.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES as i64)?;
    connection.pragma_update(None, "cache_size", -cache)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)
}

fn migrate(connection: &mut Connection, format: i64) -> rusqlite::Result<()> {
    let steps = MIGRATIONS.iter().enumerate().skip(usize::try_from(format).unwrap_or(0));
    for (before, step) in steps {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(step)?;
        if before == 0 {
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            let first = "INSERT INTO state VALUES (1, random() & 9223372036854775807, 0, 0, 0, 0, 0)";
            transaction.execute(first, [])?;
        }
        transaction.pragma_update(None, "user_version", before as i64 + 1)?;
        transaction.commit()?;
    }
    Ok(())
}
