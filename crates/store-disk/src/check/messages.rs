//! Every message: its row under its seal, its mailbox, its body. They are found one by one through the index of ids, so
//! that a damaged page spoils only what lies on it.

use rusqlite::{Connection, OptionalExtension};

use crate::desk::PLACE_BITS;
use crate::error::is_damage;
use crate::pack;
use crate::row::{self, BODY, Kept, MESSAGE};

use super::{ALL, Check, ONE};

/// Messages, and bytes of bodies, looked at in one moment.
const SLICE: i64 = 256;
const SLICE_BYTES: u64 = 32 << 20;

/// What came of looking at one message.
#[derive(Default)]
struct Seen {
    mailbox: Option<String>,
    /// Faults, each with what to do.
    faults: Vec<(String, &'static str)>,
    /// Bytes of its body, when that was looked at.
    body: Option<u64>,
}

impl Check<'_> {
    pub(super) fn messages(&mut self) -> rusqlite::Result<()> {
        let count = self.number("SELECT count(*) FROM message")?;
        self.stage("messages", Some(count.unsigned_abs()));
        let mut after = i64::MIN;
        loop {
            let slice = self.message_slice(after)?;
            let Some((last, _)) = slice.last() else { return Ok(()) };
            after = *last;
            self.step(slice.len());
            for (id, seen) in slice {
                // What a purge left to be cleared away is looked at, and is nobody's any more.
                if seen.mailbox.is_some() {
                    self.found.messages += 1;
                    self.found.bodies += u64::from(seen.body.is_some());
                    self.found.bytes += seen.body.unwrap_or(0);
                }
                for (what, next) in seen.faults {
                    self.fault(seen.mailbox.as_deref(), Some(id), what, next);
                }
            }
        }
    }

    /// Some messages behind an id, of one moment.
    fn message_slice(&mut self, after: i64) -> rusqlite::Result<Vec<(i64, Seen)>> {
        let moment = self.connection.unchecked_transaction()?;
        let sql =
            "SELECT id, place FROM message INDEXED BY message_by_id WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3";
        let ids: Vec<(i64, i64)> = moment
            .prepare_cached(sql)?
            .query_map((after, self.last, SLICE), |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let mut slice = Vec::new();
        let mut bytes = 0;
        for (id, place) in ids {
            let mut seen = Seen::default();
            match look(&moment, id, place, &mut seen) {
                Err(error) if is_damage(&error) => seen.add("lies on a page that cannot be read", ONE),
                looked => looked?,
            }
            bytes += seen.body.unwrap_or(0);
            slice.push((id, seen));
            if bytes > SLICE_BYTES {
                break;
            }
        }
        moment.finish()?;
        Ok(slice)
    }
}

impl Seen {
    fn add(&mut self, what: impl Into<String>, next: &'static str) {
        self.faults.push((what.into(), next));
    }
}

fn look(connection: &Connection, id: i64, place: i64, seen: &mut Seen) -> rusqlite::Result<()> {
    let no = place >> PLACE_BITS;
    let sql = "SELECT name FROM mailbox WHERE no = ?1";
    seen.mailbox = connection.prepare_cached(sql)?.query_row([no], |row| row.get(0)).optional()?;
    let sql = format!("SELECT {MESSAGE} FROM message m WHERE m.place = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([place])?;
    let Some(row) = rows.next()? else {
        seen.add("is in the index of ids and nowhere else", ALL);
        return Ok(());
    };
    let found: (Option<i64>, Option<i64>, Option<i64>) = (row.get(1).ok(), row.get(2).ok(), row.get(3).ok());
    let (Some(row_id), Some(body), Some(shared)) = found else {
        seen.add("has an entry that cannot be read", ONE);
        return Ok(());
    };
    if row_id != id {
        seen.add("is another one in the table than in the index of ids", ALL);
    }
    let mut size = None;
    match &seen.mailbox {
        Some(name) => match row::message(row, name) {
            Ok(Kept { summary, .. }) => size = i64::try_from(summary.size).ok(),
            Err(row::Spoilt) => seen.add("has an entry that is not what was written", ONE),
        },
        None => homeless(connection, no, seen)?,
    }
    look_at_body(connection, id, body, shared, size, seen)
}

/// Without a mailbox it is what a purge left to be cleared away, or a fault.
fn homeless(connection: &Connection, no: i64, seen: &mut Seen) -> rusqlite::Result<()> {
    let sql = "SELECT EXISTS (SELECT 1 FROM grave WHERE no = ?1)";
    if !connection.prepare_cached(sql)?.query_row([no], |row| row.get(0))? {
        seen.add("belongs to no mailbox", ALL);
    }
    Ok(())
}

/// Look at the body with the first of its copies that is left.
fn look_at_body(
    connection: &Connection,
    id: i64,
    body: i64,
    shared: i64,
    size: Option<i64>,
    seen: &mut Seen,
) -> rusqlite::Result<()> {
    if shared == 0 && body != id {
        seen.add("has another's body, which is said not to be shared", ALL);
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM message WHERE id >= ?1 AND id < ?2 AND body = ?1)";
    if body != id && connection.prepare_cached(sql)?.query_row((body, id), |row| row.get(0))? {
        return Ok(());
    }
    let sql = format!("SELECT {BODY} FROM body b WHERE b.id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([body])?;
    let Some(row) = rows.next()? else {
        seen.add("has lost its body", ONE);
        return Ok(());
    };
    let Ok((cover, data)) = row::body(row, 0) else {
        seen.add("has a body whose entry is not what was written", ONE);
        return Ok(());
    };
    match pack::unpack(cover.packing, data, cover.size, &cover.hash) {
        Ok(raw) => seen.body = Some(raw.len() as u64),
        Err(row::Spoilt) => seen.add("has a body that is not what was written", ONE),
    }
    if size.is_some_and(|size| size != cover.size) {
        seen.add("says another size than its body has", ONE);
    }
    look_at_copies(connection, body, shared, cover.recipients.lines().count(), seen)
}

/// How many mailboxes share a body is counted right: their ids follow each other, and there were no more of them than
/// recipients.
fn look_at_copies(
    connection: &Connection,
    body: i64,
    shared: i64,
    recipients: usize,
    seen: &mut Seen,
) -> rusqlite::Result<()> {
    let sql = "SELECT copies FROM shared WHERE body = ?1";
    let told: Option<i64> = connection.prepare_cached(sql)?.query_row([body], |row| row.get(0)).optional()?;
    let sql = "SELECT count(*) FROM message WHERE id >= ?1 AND id < ?2 AND body = ?1";
    let end = body.saturating_add(i64::try_from(recipients.max(1)).unwrap_or(i64::MAX));
    let there: i64 = connection.prepare_cached(sql)?.query_row((body, end), |row| row.get(0))?;
    let what = match (shared, told) {
        (0, None) => return Ok(()),
        (0, Some(_)) => "is said not to share its body, which is counted as shared".to_owned(),
        (_, Some(told)) if told == there => return Ok(()),
        (_, Some(told)) => format!("shares its body with others: {told} are counted, and {there} are there"),
        (_, None) => "shares its body with others, and how many these are is not known".to_owned(),
    };
    seen.add(what, ALL);
    Ok(())
}
