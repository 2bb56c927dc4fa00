//! The records of the registry.

use bytes::Bytes;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use store::{Entry, Error, Expect, Put, RegistryChange, Version};

use crate::error::Fault;
use crate::row::micros;
use crate::views::{ENTRY, entry};

use super::Desk;

/// Charged for each record beside its key and value.
const RECORD_WEIGHT: u64 = 128;
/// Expired records freed by one put: more than it writes, so that they never gather.
const SWEEP: i64 = 4;

/// What all records are charged.
pub(super) fn bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT total(?1 + length(CAST(key AS BLOB)) + length(value)) FROM record";
    let sum: f64 = connection.query_row(sql, [RECORD_WEIGHT as i64], |row| row.get(0))?;
    Ok(sum as u64)
}

fn weight(key: &str, value: &[u8]) -> u64 {
    RECORD_WEIGHT + (key.len() + value.len()) as u64
}

impl Desk<'_> {
    /// Write a record if what is there is what was expected.
    pub(crate) fn put_record(
        &mut self,
        kind: &str,
        key: &str,
        value: &Bytes,
        expires: Option<Timestamp>,
        expect: Expect,
    ) -> Result<Put, Fault> {
        self.sweep_records(SWEEP)?;
        let there = self.record(kind, key)?;
        let live = there.clone().filter(|entry| entry.is_live(self.now));
        if !expect.is_met(live.as_ref()) {
            return Ok(Put::Conflict(live));
        }
        let mut before = there.as_ref().map_or(0, |entry| weight(key, &entry.value));
        let (more, max) = (weight(key, value), self.settings.registry_bytes_max);
        if self.books.registry_bytes - before + more > max {
            self.sweep_records(-1)?;
            before = self.record(kind, key)?.map_or(0, |entry| weight(key, &entry.value));
            if self.books.registry_bytes - before + more > max {
                return Err(Error::Full { what: format!("records take the {max} bytes kept for them") }.into());
            }
        }
        self.books.last_version += 1;
        let version = self.books.last_version;
        let sql = "INSERT OR REPLACE INTO record (kind, key, value, version, expires) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.statement(sql)?.execute((kind, key, &value[..], version, expires.map(micros)))?;
        self.books.registry_bytes = self.books.registry_bytes - before + more;
        let version = Version(version.unsigned_abs());
        let entry = Entry { key: key.to_owned(), value: value.clone(), version, expires };
        self.record_changes.push((kind.to_owned(), RegistryChange::Put(entry)));
        Ok(Put::Written(version))
    }

    /// Delete a record if what is there is what was expected; whether one went.
    pub(crate) fn delete_record(&mut self, kind: &str, key: &str, expect: Expect) -> Result<bool, Fault> {
        let live = self.record(kind, key)?.filter(|entry| entry.is_live(self.now));
        let Some(entry) = live.filter(|entry| expect.is_met(Some(entry))) else { return Ok(false) };
        self.statement("DELETE FROM record WHERE kind = ?1 AND key = ?2")?.execute((kind, key))?;
        self.books.registry_bytes = self.books.registry_bytes.saturating_sub(weight(key, &entry.value));
        self.record_changes.push((kind.to_owned(), RegistryChange::Deleted(key.to_owned())));
        Ok(true)
    }

    fn record(&self, kind: &str, key: &str) -> rusqlite::Result<Option<Entry>> {
        let sql = format!("SELECT {ENTRY} FROM record WHERE kind = ?1 AND key = ?2");
        self.statement(&sql)?.query_row((kind, key), entry).optional()
    }

    /// Free expired records, at most so many; -1: all.
    fn sweep_records(&mut self, budget: i64) -> rusqlite::Result<()> {
        let sql = "DELETE FROM record WHERE (kind, key) IN (SELECT kind, key FROM record WHERE expires <= ?1 \
                   ORDER BY expires LIMIT ?2) RETURNING key, value";
        let gone: Vec<u64> = self
            .statement(sql)?
            .query_map((micros(self.now), budget), |row| {
                Ok(weight(&row.get::<_, String>(0)?, &row.get::<_, Vec<u8>>(1)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
        self.books.registry_bytes = self.books.registry_bytes.saturating_sub(gone.iter().sum());
        Ok(())
    }
}
