//! Whether there is room for more: within `bytes_max`, and on the disk. Only new mail is refused; deletes and everything
//! else goes on, into the room that was kept free.

use std::path::PathBuf;

use rusqlite::Connection;
use store::{Error, Result};

use crate::schema::PAGE_BYTES;
use crate::settings::Settings;

/// What is written goes to the log first and to its place later: for a while it takes its bytes twice.
const TWICE: u64 = 2;

/// What there is and what may be used.
pub(super) struct Room {
    path: PathBuf,
    bytes_max: Option<u64>,
    free_min: u64,
    /// Bytes of pages in use at the last commit.
    used: u64,
    /// Bytes of free pages at the last commit: mail that goes there takes nothing from the disk.
    spare: u64,
    /// Bytes of this transaction.
    pending: u64,
    /// Bytes free on the disk, asked for once in a transaction that brings mail.
    free: Option<u64>,
    /// Whether the last mail was refused: it is said once in the log, not for every message.
    is_full: bool,
}

impl Room {
    pub(super) fn new(connection: &Connection, settings: &Settings) -> rusqlite::Result<Self> {
        let (path, bytes_max, free_min) = (settings.path.clone(), settings.bytes_max, settings.free_min);
        let mut room = Self { path, bytes_max, free_min, used: 0, spare: 0, pending: 0, free: None, is_full: false };
        room.measure(connection)?;
        Ok(room)
    }

    /// See how much is in use after a commit.
    pub(super) fn measure(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.forget_pending();
        let pages = |sql| connection.prepare_cached(sql)?.query_row([], |row| row.get::<_, i64>(0));
        if self.bytes_max.is_some() || self.free_min > 0 {
            self.spare = pages("PRAGMA freelist_count")?.unsigned_abs() * PAGE_BYTES;
        }
        if self.bytes_max.is_some() {
            self.used = (pages("PRAGMA page_count")?.unsigned_abs() * PAGE_BYTES).saturating_sub(self.spare);
        }
        Ok(())
    }

    pub(super) fn pending(&self) -> u64 {
        self.pending
    }

    pub(super) fn forget_pending(&mut self) {
        self.pending = 0;
        self.free = None;
    }

    /// Take so many bytes, if they are there.
    pub(super) fn take(&mut self, bytes: u64) -> Result<()> {
        let after = self.pending + bytes;
        match self.lacking(after) {
            None => {
                self.pending = after;
                if std::mem::take(&mut self.is_full) {
                    tracing::info!("there is room again: new mail is taken");
                }
                Ok(())
            }
            Some(what) => {
                if !std::mem::replace(&mut self.is_full, true) {
                    tracing::error!(
                        "new mail is refused until there is room: {what}; delete mail, or give it more room"
                    );
                }
                Err(Error::Full { what })
            }
        }
    }

    fn lacking(&mut self, pending: u64) -> Option<String> {
        let used = self.used + pending;
        if let Some(max) = self.bytes_max.filter(|max| used > *max) {
            return Some(format!("{used} bytes would be in use, and store.disk.bytes_max is {max}"));
        }
        if self.free_min == 0 {
            return None;
        }
        let free = *self.free.get_or_insert_with(|| free(&self.path));
        let left = free.saturating_add(self.spare).saturating_sub(pending.saturating_mul(TWICE));
        (left < self.free_min)
            .then(|| format!("the disk has {free} bytes free, and store.disk.free_min is {}", self.free_min))
    }
}

/// Bytes that this process may still write there; where that cannot be told, as many as it likes.
#[cfg(unix)]
pub(crate) fn free(path: &std::path::Path) -> u64 {
    rustix::fs::statvfs(path).map_or(u64::MAX, |stat| stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(not(unix))]
pub(crate) fn free(_path: &std::path::Path) -> u64 {
    u64::MAX
}
