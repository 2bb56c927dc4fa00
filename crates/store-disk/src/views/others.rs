//! What is kept beside mail: jobs and records.

use bytes::Bytes;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};
use store::outbox::{DeadJob, JobId};
use store::{Entry, Version};

use crate::row::timestamp;

/// The columns of a record in the order in which [`entry`] reads them.
pub(crate) const ENTRY: &str = "key, value, version, expires";

/// Read a record.
pub(crate) fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let expires: Option<i64> = row.get(3)?;
    Ok(Entry {
        key: row.get(0)?,
        value: Bytes::from(row.get::<_, Vec<u8>>(1)?),
        version: Version(row.get::<_, i64>(2)?.unsigned_abs()),
        expires: expires.map(|at| timestamp(at).unwrap_or(Timestamp::MAX)),
    })
}

/// One record, expired or not.
pub(crate) fn record(connection: &Connection, kind: &str, key: &str) -> rusqlite::Result<Option<Entry>> {
    let sql = format!("SELECT {ENTRY} FROM record WHERE kind = ?1 AND key = ?2");
    connection.prepare_cached(&sql)?.query_row((kind, key), entry).optional()
}

/// All records of a kind by key, expired or not.
pub(crate) fn records(connection: &Connection, kind: &str) -> rusqlite::Result<Vec<Entry>> {
    let sql = format!("SELECT {ENTRY} FROM record WHERE kind = ?1 ORDER BY key");
    connection.prepare_cached(&sql)?.query_map([kind], entry)?.collect()
}

/// The dead of a kind, newest first.
pub(crate) fn dead_jobs(connection: &Connection, kind: &str, limit: usize) -> rusqlite::Result<Vec<DeadJob>> {
    let sql = "SELECT id, payload, reason, died_at FROM dead_job WHERE kind = ?1 ORDER BY place DESC LIMIT ?2";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let read = |row: &Row<'_>| {
        Ok(DeadJob {
            id: JobId(row.get::<_, i64>(0)?.unsigned_abs()),
            kind: kind.to_owned(),
            payload: Bytes::from(row.get::<_, Vec<u8>>(1)?),
            reason: row.get(2)?,
            died_at: timestamp(row.get(3)?).unwrap_or(Timestamp::UNIX_EPOCH),
        })
    };
    connection.prepare_cached(sql)?.query_map((kind, limit), read)?.collect()
}

/// How many jobs of a kind wait or are leased.
pub(crate) fn waiting(connection: &Connection, kind: &str) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM job WHERE kind = ?1";
    let count: i64 = connection.prepare_cached(sql)?.query_row([kind], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}
