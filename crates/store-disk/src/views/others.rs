//! What is kept beside mail: jobs and records.

use bytes::Bytes;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};
use store::outbox::{DeadJob, JobId};
use store::{Entry, Version};

use crate::desk::jobs::named;
use crate::row::{micros, timestamp};

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

/// The columns of a dead job in the order in which [`dead`] reads them.
const DEAD: &str = "id, kind, lane, payload, messages, attempts, reason, died_at";

/// Read a dead job.
fn dead(row: &Row<'_>) -> rusqlite::Result<DeadJob> {
    Ok(DeadJob {
        id: JobId(row.get::<_, i64>(0)?.unsigned_abs()),
        kind: row.get(1)?,
        lane: row.get(2)?,
        payload: Bytes::from(row.get::<_, Vec<u8>>(3)?),
        messages: named(&row.get::<_, String>(4)?)?,
        attempts: row.get(5)?,
        reason: row.get(6)?,
        died_at: timestamp(row.get(7)?).unwrap_or(Timestamp::UNIX_EPOCH),
    })
}

/// The dead of a kind, newest first.
pub(crate) fn dead_jobs(connection: &Connection, kind: &str, limit: usize) -> rusqlite::Result<Vec<DeadJob>> {
    let sql = format!("SELECT {DEAD} FROM dead_job WHERE kind = ?1 ORDER BY place DESC LIMIT ?2");
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    connection.prepare_cached(&sql)?.query_map((kind, limit), dead)?.collect()
}

/// One of the dead.
pub(crate) fn dead_job(connection: &Connection, job: JobId) -> rusqlite::Result<Option<DeadJob>> {
    let sql = format!("SELECT {DEAD} FROM dead_job WHERE id = ?1");
    connection.prepare_cached(&sql)?.query_row([i64::try_from(job.0).unwrap_or(0)], dead).optional()
}

/// Whether a job of a kind can be taken now.
pub(crate) fn is_any_due(connection: &Connection, kind: &str, now: Timestamp) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM job WHERE kind = ?1 AND behind = 0 AND ready_at <= ?2)";
    connection.prepare_cached(sql)?.query_row((kind, micros(now)), |row| row.get(0))
}

/// How many jobs of a kind wait or are leased.
pub(crate) fn waiting(connection: &Connection, kind: &str) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM job WHERE kind = ?1";
    let count: i64 = connection.prepare_cached(sql)?.query_row([kind], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}
