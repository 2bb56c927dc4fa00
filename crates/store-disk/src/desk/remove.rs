//! Taking messages out: by delete, by purge, or because their mailbox is over its cap.

use mail::{Mailbox, MessageId};
use rusqlite::{OptionalExtension, Params, Row};
use store::{Change, Filed, NewJob, Position};

use crate::error::Fault;
use crate::row::{column, number, position};

use super::{Desk, PLACE_BITS, place_range};

/// A mailbox with more messages than this is purged by putting it out of sight; see [`Desk::renumber`].
const PURGE_STEP: i64 = 500;

/// A message row, as far as removing it needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) place: i64,
    body: i64,
    shared: bool,
    live: bool,
}

impl Found {
    /// Its mailbox's number.
    pub(super) fn no(&self) -> i64 {
        self.place >> PLACE_BITS
    }
}

impl Desk<'_> {
    /// Take messages out of a mailbox on request; which were there.
    pub(crate) fn delete(
        &mut self,
        mailbox: &Mailbox,
        ids: &[MessageId],
        jobs: &[NewJob],
    ) -> Result<Vec<MessageId>, Fault> {
        let jobs = self.admit_jobs(jobs, ids.len())?;
        let Some(no) = self.seats.number(self.connection, mailbox)? else { return Ok(Vec::new()) };
        let mut gone = Vec::new();
        for id in ids {
            let found = self.find("WHERE id = ?1", [number(*id)])?;
            let Some(found) = found.first().filter(|found| found.no() == no && found.live) else { continue };
            self.remove(*found)?;
            let at = self.draw();
            self.remember_removal(mailbox, at, Some(number(*id)), None)?;
            self.note(mailbox, || Change::Deleted { mailbox: mailbox.clone(), id: *id, position: position(at) });
            gone.push(*id);
        }
        if gone.is_empty() {
            return Ok(gone);
        }
        self.mark(mailbox, no)?;
        let filed: Vec<_> = gone.iter().map(|id| Filed { mailbox: mailbox.clone(), id: *id }).collect();
        self.add_jobs(&jobs, &filed)?;
        Ok(gone)
    }

    /// Empty a mailbox up to a position, on request; how many messages went.
    pub(crate) fn purge(&mut self, mailbox: &Mailbox, up_to: Position, jobs: &[NewJob]) -> Result<u64, Fault> {
        let jobs = self.admit_jobs(jobs, 0)?;
        let Some(no) = self.seats.number(self.connection, mailbox)? else { return Ok(0) };
        let up_to = column(up_to).min(self.books.last_position);
        let (all, live) = self.count_up_to(no, up_to)?;
        let no = if all > PURGE_STEP {
            self.renumber(mailbox, no, up_to)?
        } else {
            let places = place_range(no);
            for found in
                self.find("WHERE place >= ?1 AND place < ?2 AND +id <= ?3", (places.start, places.end, up_to))?
            {
                self.remove(found)?;
            }
            no
        };
        if live > 0 {
            let at = self.draw();
            self.remember_removal(mailbox, at, None, Some(up_to))?;
            self.note(mailbox, || Change::Purged {
                mailbox: mailbox.clone(),
                up_to: position(up_to),
                position: position(at),
            });
            self.add_jobs(&jobs, &[])?;
        }
        self.mark(mailbox, no)?;
        Ok(live.unsigned_abs())
    }

    /// How many messages a mailbox holds up to a position, and how many of them have not lapsed.
    fn count_up_to(&self, no: i64, up_to: i64) -> rusqlite::Result<(i64, i64)> {
        let places = place_range(no);
        let sql = "SELECT count(*), count(*) FILTER (WHERE received_at > ?4 AND (expires IS NULL OR expires > ?5)) \
                   FROM message WHERE place >= ?1 AND place < ?2 AND +id <= ?3";
        let bounds = (places.start, places.end, up_to, self.lapsed_from(), self.today);
        self.statement(sql)?.query_row(bounds, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Give a mailbox a new number, and take along what came behind a position. What stays behind is out of everybody's
    /// sight at once, and goes bit by bit: a mailbox of a million messages is purged without holding up a delivery.
    pub(super) fn renumber(&mut self, mailbox: &Mailbox, no: i64, up_to: i64) -> rusqlite::Result<i64> {
        let new = self.seats.fresh(self.connection)?;
        let places = place_range(no);
        let sql = "SELECT place FROM message WHERE place >= ?1 AND place < ?2 AND +id > ?3 ORDER BY place";
        let later: Vec<i64> = self
            .statement(sql)?
            .query_map((places.start, places.end, up_to), |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for (from, to) in later.into_iter().zip(place_range(new)) {
            self.statement("UPDATE message SET place = ?1 WHERE place = ?2")?.execute((to, from))?;
        }
        self.statement("UPDATE mailbox SET no = ?1 WHERE no = ?2")?.execute((new, no))?;
        self.statement("INSERT INTO grave (no) VALUES (?1)")?.execute([no])?;
        self.seats.forget_one(mailbox, no);
        Ok(new)
    }

    /// Take the oldest message of a mailbox out; false when there is none.
    pub(super) fn remove_oldest(&mut self, no: i64) -> rusqlite::Result<bool> {
        let places = place_range(no);
        let found = self.find("WHERE place >= ?1 AND place < ?2 ORDER BY place LIMIT 1", (places.start, places.end))?;
        let Some(oldest) = found.first() else { return Ok(false) };
        self.remove(*oldest)?;
        Ok(true)
    }

    /// Take what has lapsed out of a mailbox.
    pub(super) fn remove_lapsed_of(&mut self, no: i64) -> rusqlite::Result<()> {
        let places = place_range(no);
        let sql = "WHERE place >= ?1 AND place < ?2 AND (+received_at <= ?3 OR +expires <= ?4)";
        for found in self.find(sql, (places.start, places.end, self.lapsed_from(), self.today))? {
            self.remove(found)?;
        }
        Ok(())
    }

    /// Message rows by a condition.
    pub(super) fn find(&self, which: &str, bounds: impl Params) -> rusqlite::Result<Vec<Found>> {
        let sql = format!("SELECT place, body, shared, received_at, expires FROM message {which}");
        let read = |row: &Row<'_>| {
            let live = self.is_live(row.get(3)?, row.get(4)?);
            Ok(Found { place: row.get(0)?, body: row.get(1)?, shared: row.get::<_, i64>(2)? != 0, live })
        };
        self.statement(&sql)?.query_map(bounds, read)?.collect()
    }

    /// Take one message out; its body goes with its last copy.
    pub(super) fn remove(&mut self, found: Found) -> rusqlite::Result<()> {
        self.statement("DELETE FROM message WHERE place = ?1")?.execute([found.place])?;
        self.seats.removed(found.no());
        if found.shared {
            let sql = "UPDATE shared SET copies = copies - 1 WHERE body = ?1 RETURNING copies";
            let left: Option<i64> = self.statement(sql)?.query_row([found.body], |row| row.get(0)).optional()?;
            if left.is_some_and(|left| left > 0) {
                return Ok(());
            }
            self.statement("DELETE FROM shared WHERE body = ?1")?.execute([found.body])?;
        }
        self.statement("DELETE FROM body WHERE id = ?1")?.execute([found.body])?;
        Ok(())
    }

    /// Something was removed from a mailbox: remember where it stands, or forget it when nothing is left.
    fn mark(&mut self, mailbox: &Mailbox, no: i64) -> rusqlite::Result<()> {
        if self.is_empty(no)? {
            self.statement("DELETE FROM mailbox WHERE no = ?1")?.execute([no])?;
            self.seats.forget_one(mailbox, no);
            return Ok(());
        }
        let sql = "UPDATE mailbox SET removed_at = ?1 WHERE no = ?2";
        self.statement(sql)?.execute((self.books.last_position, no)).map(drop)
    }

    pub(super) fn is_empty(&self, no: i64) -> rusqlite::Result<bool> {
        let places = place_range(no);
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM message WHERE place >= ?1 AND place < ?2)";
        self.statement(sql)?.query_row((places.start, places.end), |row| row.get(0))
    }

    /// Remember a delete or a purge, and forget the oldest one when there are too many.
    fn remember_removal(
        &mut self,
        mailbox: &Mailbox,
        at: i64,
        message: Option<i64>,
        up_to: Option<i64>,
    ) -> rusqlite::Result<()> {
        let sql = "INSERT INTO removal (position, mailbox, message, up_to) VALUES (?1, ?2, ?3, ?4)";
        self.statement(sql)?.execute((at, mailbox.as_str(), message, up_to))?;
        self.books.removals += 1;
        if self.books.removals > self.settings.changes_max as i64 {
            let sql = "DELETE FROM removal WHERE position = (SELECT min(position) FROM removal) RETURNING position";
            self.books.forgotten = self.statement(sql)?.query_row([], |row| row.get(0))?;
            self.books.removals -= 1;
        }
        Ok(())
    }
}
