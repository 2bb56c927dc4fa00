//! Bodies and counts that no message leads to. The bodies of messages were looked at with them.

use super::{ALL, Check};

/// Bodies looked at in one moment.
const SLICE: i64 = 1_000;

impl Check<'_> {
    pub(super) fn bodies(&mut self) -> rusqlite::Result<()> {
        self.stage("bodies", None);
        // A copy has an id of its own behind that of the body, but not far: no message has more recipients.
        let lone = "SELECT b.id, EXISTS (SELECT 1 FROM message m WHERE m.id >= b.id AND m.id < b.id + ?3 AND m.body = b.id) \
                    FROM body b WHERE b.id > ?1 ORDER BY b.id LIMIT ?2";
        self.walk(lone, "is a body that belongs to no message, and takes room")?;
        let lone = "SELECT s.body, EXISTS (SELECT 1 FROM body b WHERE b.id = s.body), ?3 FROM shared s \
                    WHERE s.body > ?1 ORDER BY s.body LIMIT ?2";
        self.walk(lone, "is a count of mailboxes that share a body which is not there")
    }

    /// Walk along keys in slices of a moment each; those that nothing leads to are faults.
    fn walk(&mut self, sql: &str, what: &str) -> rusqlite::Result<()> {
        const RECIPIENTS_MAX: i64 = 100_000;
        let mut after = i64::MIN;
        loop {
            let slice: Vec<(i64, bool)> = self
                .connection
                .prepare_cached(sql)?
                .query_map((after, SLICE, RECIPIENTS_MAX), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            let Some((last, _)) = slice.last() else { return Ok(()) };
            after = *last;
            for (id, _) in slice.iter().filter(|(_, led)| !led) {
                self.fault(None, Some(*id), what, ALL);
            }
        }
    }
}
