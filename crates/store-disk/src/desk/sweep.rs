//! Letting go, in small slices beside the mail that comes in: what has lapsed, what was purged, and the room that
//! both leave in the file.

use std::collections::BTreeSet;

use mail::Mailbox;
use rusqlite::OptionalExtension;

use super::{Desk, Micros, NEVER, place_range};

/// Free pages are given back to the file system when there are more than this, and more than a share of all pages: fewer
/// are kept for the mail to come.
const FREE_PAGES_MIN: i64 = 2_048;
const FREE_SHARE: i64 = 8;
/// What should have gone so long ago is overdue, in microseconds.
const OVERDUE: Micros = 60_000_000;
/// Pages given back in one slice.
const FREE_SLICE: i64 = 256;

impl Desk<'_> {
    /// Whether there is anything to let go.
    pub(crate) fn is_sweep_due(&self) -> rusqlite::Result<bool> {
        Ok(self.sundial.now() >= self.next_deadline || self.has_graves()? || self.free_pages()? > 0)
    }

    /// Whether there has been something to let go for long.
    pub(crate) fn is_sweep_overdue(&self) -> bool {
        self.today.saturating_sub(self.next_deadline) > OVERDUE
    }

    /// A slice failed: what it found of the next deadline is not so.
    pub(crate) fn look_again(&mut self) {
        self.next_deadline = Micros::MIN;
    }

    /// Let go up to so many messages; how many went.
    pub(crate) fn sweep(&mut self, budget: usize) -> rusqlite::Result<usize> {
        let mut gone = self.dig(budget)?;
        if self.today >= self.next_deadline {
            let mut touched = BTreeSet::new();
            gone += self.sweep_by(
                "WHERE expires <= ?1 ORDER BY expires LIMIT ?2",
                self.today,
                budget - gone,
                &mut touched,
            )?;
            let lapsed = self.lapsed_from();
            gone += self.sweep_by(
                "WHERE received_at <= ?1 ORDER BY received_at LIMIT ?2",
                lapsed,
                budget - gone,
                &mut touched,
            )?;
            for no in touched {
                self.settle(no)?;
            }
            if gone < budget {
                self.find_next_deadline()?;
            }
        }
        Ok(gone)
    }

    fn sweep_by(
        &mut self,
        which: &str,
        until: Micros,
        budget: usize,
        touched: &mut BTreeSet<i64>,
    ) -> rusqlite::Result<usize> {
        let lapsed = self.find(which, (until, budget as i64))?;
        for found in &lapsed {
            self.remove(*found)?;
            touched.insert(found.no());
        }
        Ok(lapsed.len())
    }

    /// Let go what was put out of sight by a purge; how many messages went, and one for the grave itself.
    fn dig(&mut self, budget: usize) -> rusqlite::Result<usize> {
        let grave = self.statement("SELECT no FROM grave LIMIT 1")?.query_row([], |row| row.get(0)).optional()?;
        let Some(no) = grave else { return Ok(0) };
        let places = place_range(no);
        let found =
            self.find("WHERE place >= ?1 AND place < ?2 LIMIT ?3", (places.start, places.end, budget as i64))?;
        for found in &found {
            self.remove(*found)?;
        }
        if found.len() < budget {
            self.statement("DELETE FROM grave WHERE no = ?1")?.execute([no])?;
            return Ok(found.len() + 1);
        }
        Ok(found.len())
    }

    fn has_graves(&self) -> rusqlite::Result<bool> {
        self.statement("SELECT EXISTS (SELECT 1 FROM grave)")?.query_row([], |row| row.get(0))
    }

    /// A mailbox left empty is forgotten.
    pub(super) fn settle(&mut self, no: i64) -> rusqlite::Result<()> {
        if !self.is_empty(no)? {
            return Ok(());
        }
        let sql = "DELETE FROM mailbox WHERE no = ?1 RETURNING name";
        let name: Option<String> = self.statement(sql)?.query_row([no], |row| row.get(0)).optional()?;
        if let Some(name) = name {
            self.seats.forget_one(&Mailbox::from_canonical(&name), no);
        }
        Ok(())
    }

    pub(super) fn find_next_deadline(&mut self) -> rusqlite::Result<()> {
        let first = |sql: &str| -> rusqlite::Result<Micros> {
            let first: Option<Micros> = self.statement(sql)?.query_row([], |row| row.get(0))?;
            Ok(first.unwrap_or(NEVER))
        };
        let oldest = first("SELECT min(received_at) FROM message")?;
        let expires = first("SELECT min(expires) FROM message WHERE expires IS NOT NULL")?;
        let lapses = if oldest == NEVER { NEVER } else { self.age(oldest) };
        self.next_deadline = lapses.min(expires);
        Ok(())
    }

    /// Give some free pages back to the file system; whether there were any.
    pub(crate) fn give_back(&mut self) -> rusqlite::Result<bool> {
        let pages = self.free_pages()?.min(FREE_SLICE);
        if pages > 0 {
            // It gives back one page a step, and has to be stepped to its end.
            let mut statement = self.connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
        }
        Ok(pages > 0)
    }

    /// How many pages are free beyond those that are kept.
    fn free_pages(&self) -> rusqlite::Result<i64> {
        let pages = |sql| self.statement(sql)?.query_row([], |row| row.get::<_, i64>(0));
        let kept = (pages("PRAGMA page_count")? / FREE_SHARE).max(FREE_PAGES_MIN);
        Ok(pages("PRAGMA freelist_count")? - kept)
    }
}
