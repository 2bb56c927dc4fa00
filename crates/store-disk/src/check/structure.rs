//! What SQLite says about its own structures; the one row of the state; the mailboxes.

use rusqlite::OptionalExtension;

use crate::desk::place_range;
use crate::error::is_damage;

use super::{ALL, Check};

/// Faults that SQLite tells of each table, or of the whole.
const TOLD_MAX: usize = 1_000;
/// Mailboxes looked at in one moment.
const SLICE: i64 = 1_000;

impl Check<'_> {
    /// SQLite's own check: of everything, or of each table with its indexes but for the bodies.
    pub(super) fn structure(&mut self) -> rusqlite::Result<()> {
        self.stage("pages", None);
        if self.found.whole {
            return self.pragma(&format!("PRAGMA integrity_check({TOLD_MAX})"));
        }
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'body' AND name NOT LIKE 'sqlite_%'";
        let tables: Vec<String> =
            self.connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        for table in tables {
            self.pragma(&format!("PRAGMA integrity_check('{}')", table.replace('\'', "''")))?;
        }
        Ok(())
    }

    fn pragma(&mut self, sql: &str) -> rusqlite::Result<()> {
        let mut told: Vec<String> = Vec::new();
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let walked = loop {
            match rows.next() {
                Ok(Some(row)) => told.extend(row.get::<_, String>(0)),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        drop(rows);
        drop(statement);
        // Several may come in one text.
        for line in told.iter().flat_map(|text| text.lines()).filter(|line| *line != "ok" && !line.starts_with("***")) {
            self.fault(None, None, format!("SQLite says: {line}"), ALL);
        }
        walked
    }

    /// The sequences stand at or behind everything that was drawn from them.
    pub(super) fn state(&mut self) -> rusqlite::Result<()> {
        let sql = "SELECT last_position, (SELECT max(id) FROM message), (SELECT max(position) FROM removal) FROM state";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let state: Option<(i64, Option<i64>, Option<i64>)> = self.connection.query_row(sql, [], read).optional()?;
        let Some((last, message, removal)) = state else {
            self.fault(None, None, "the state is missing: which ids were given is not known", ALL);
            return Ok(());
        };
        self.last = last;
        let latest = message.max(removal).unwrap_or(0);
        if latest > last {
            let what = format!("the last id given is said to be {last}, and there is {latest}: ids may be given twice");
            self.fault(None, None, what, ALL);
            self.last = latest;
        }
        Ok(())
    }

    /// Every mailbox holds mail.
    pub(super) fn mailboxes(&mut self) -> rusqlite::Result<()> {
        let count = self.number("SELECT count(*) FROM mailbox")?;
        self.stage("mailboxes", Some(count.unsigned_abs()));
        let mut after = i64::MIN;
        loop {
            let slice = self.mailbox_slice(after)?;
            let Some((last, ..)) = slice.last() else { return Ok(()) };
            after = *last;
            self.step(slice.len());
            self.found.mailboxes += slice.len() as u64;
            for (_, name, _) in slice.iter().filter(|(_, _, holds)| !holds) {
                self.fault(Some(name), None, "the mailbox is listed and holds no message", ALL);
            }
        }
    }

    /// Some mailboxes: number, name, and whether there is mail.
    fn mailbox_slice(&mut self, after: i64) -> rusqlite::Result<Vec<(i64, String, bool)>> {
        let moment = self.connection.unchecked_transaction()?;
        let mut slice = Vec::new();
        {
            let sql = "SELECT no, name FROM mailbox WHERE no > ?1 ORDER BY no LIMIT ?2";
            let mut statement = moment.prepare_cached(sql)?;
            let mut rows = statement.query((after, SLICE))?;
            while let Some(row) = rows.next()? {
                let (no, name): (i64, String) = (row.get(0)?, row.get(1)?);
                let places = place_range(no);
                let sql = "SELECT EXISTS (SELECT 1 FROM message WHERE place >= ?1 AND place < ?2)";
                let holds = moment.prepare_cached(sql)?.query_row((places.start, places.end), |row| row.get(0));
                let holds = match holds {
                    // Named with the message whose page it is.
                    Err(error) if is_damage(&error) => true,
                    holds => holds?,
                };
                slice.push((no, name, holds));
            }
        }
        moment.finish()?;
        Ok(slice)
    }
}
