//! What readers see: lists, single messages, mailboxes, records. Nothing that has lapsed is shown, whether it was swept
//! or not; lists touch no body. Each view is one moment of the store.
//!
//! A row that is not what was written is left out and named in the log, and everything else is shown.

mod changes;
mod mailboxes;
pub(crate) mod others;
mod salvage;

use std::sync::Arc;

use mail::{Mailbox, MessageId, Summary};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};
use store::list::{Item, Listing, Order, Page, RecentPage};
use store::{Position, Scope, Stored};

use crate::desk::{Micros, PLACE_BITS, lapsed_from, place_range};
use crate::error::is_damage;
use crate::pack;
use crate::quarantine::Quarantine;
use crate::row::{self, BODY, Kept, MESSAGE, MESSAGE_WIDTH, Spoilt, column, position};
use crate::settings::Settings;

pub(crate) use mailboxes::Pages;
pub(crate) use others::{ENTRY, entry};

/// Looks at one moment of the store.
pub(crate) struct View<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) settings: &'c Settings,
    pub(crate) quarantine: &'c Quarantine,
    /// The time by which mail ages.
    pub(crate) today: Micros,
}

/// A mailbox that holds mail.
#[derive(Clone, Copy, Debug)]
struct Folder {
    no: i64,
    removed_at: i64,
}

/// What became of looking for a message.
pub(crate) enum Look {
    /// It is there.
    Whole(Box<Stored>),
    /// It is there, and is not what was written.
    Damaged,
    /// It is not there.
    Absent,
}

/// What has not lapsed, as a condition on `m`, with the two numbers that [`View::life`] gives. The plus keeps SQLite from
/// walking along the index of ages: a list is walked in its own order.
const LIVE: &str = "+m.received_at > ?1 AND (+m.expires IS NULL OR +m.expires > ?2)";

impl View<'_> {
    pub(crate) fn list(&self, mailbox: &Mailbox, page: Page) -> rusqlite::Result<Listing> {
        let Some(found) = self.mailbox(mailbox)? else {
            return Ok(Listing { position: self.last_position()?, total: Some(0), ..Listing::default() });
        };
        let position = self.position_of(found)?;
        let limit = page.limit.saturating_add(1);
        let mut items = self.summaries(mailbox, found.no, page, limit)?;
        let more = items.len() > page.limit;
        items.truncate(page.limit);
        let total = self.total(found.no, page, items.len(), more)?;
        Ok(Listing { items, position, more, total })
    }

    /// How many messages a mailbox holds: known when the page is all of it, counted when a cap bounds the counting.
    fn total(&self, no: i64, page: Page, shown: usize, more: bool) -> rusqlite::Result<Option<u64>> {
        if page.after.is_none() && !more {
            return Ok(Some(shown as u64));
        }
        if self.settings.messages_max == 0 {
            return Ok(None);
        }
        let places = place_range(no);
        let sql = format!("SELECT count(*) FROM message m WHERE {LIVE} AND m.place >= ?3 AND m.place < ?4");
        let (born, today) = self.life();
        let count: i64 = self.statement(&sql)?.query_row((born, today, places.start, places.end), |row| row.get(0))?;
        Ok(Some(count.unsigned_abs()))
    }

    fn summaries(&self, mailbox: &Mailbox, no: i64, page: Page, limit: usize) -> rusqlite::Result<Vec<Arc<Summary>>> {
        let mut places = place_range(no);
        let way = match page.order {
            Order::Oldest => "ASC",
            Order::Newest => "DESC",
        };
        match (page.after, page.order) {
            (Some(after), Order::Oldest) => places.start = self.place_behind(no, column(after))?,
            (Some(after), Order::Newest) => places.end = self.place_behind(no, column(after).saturating_sub(1))?,
            (None, _) => {}
        }
        let sql = format!(
            "SELECT {MESSAGE} FROM message m WHERE {LIVE} AND m.place >= ?3 AND m.place < ?4 ORDER BY m.place {way} LIMIT ?5"
        );
        let (born, today) = self.life();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = Vec::new();
        let read = |row: &Row<'_>| rows.extend(self.summary(row, mailbox));
        match self.each(&sql, (born, today, places.start, places.end, limit), read) {
            Err(error) if is_damage(&error) => self.salvage(mailbox, places, page.order, limit),
            Err(error) => Err(error),
            Ok(()) => Ok(rows),
        }
    }

    /// The first place of a mailbox whose message has a later id. Ids ascend with places, so it is found by halving.
    fn place_behind(&self, no: i64, id: i64) -> rusqlite::Result<i64> {
        let places = place_range(no);
        let (mut low, mut high) = (places.start, places.end);
        let sql = "SELECT place, id FROM message WHERE place >= ?1 AND place < ?2 ORDER BY place LIMIT 1";
        let mut statement = self.statement(sql)?;
        while low < high {
            let middle = low + (high - low) / 2;
            let next: Option<(i64, i64)> =
                statement.query_row((middle, high), |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            match next {
                Some((place, next)) if next <= id => low = place + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    pub(crate) fn recent(&self, page: RecentPage) -> rusqlite::Result<Listing<Item>> {
        let sql = format!(
            "SELECT {MESSAGE}, x.name FROM message m JOIN mailbox x ON x.no = m.place >> {PLACE_BITS} \
             WHERE {LIVE} AND m.id < ?3 ORDER BY m.id DESC LIMIT ?4"
        );
        let (born, today) = self.life();
        let before = page.before.map_or(i64::MAX, column);
        let limit = i64::try_from(page.limit.saturating_add(1)).unwrap_or(i64::MAX);
        let mut items: Vec<Item> = Vec::new();
        self.each(&sql, (born, today, before, limit), |row| {
            let Ok(name) = row::get::<String>(row, MESSAGE_WIDTH) else { return };
            let mailbox = Mailbox::from_canonical(&name);
            items.extend(self.summary(row, &mailbox).map(|summary| Item { mailbox, summary }));
        })?;
        let more = items.len() > page.limit;
        items.truncate(page.limit);
        Ok(Listing { items, position: self.last_position()?, more, total: None })
    }

    /// These messages, as far as they are there and in scope, in the order named.
    pub(crate) fn items(&self, ids: &[i64], scope: &Scope) -> rusqlite::Result<Vec<Item>> {
        let sql = format!(
            "SELECT {MESSAGE}, x.name FROM message m JOIN mailbox x ON x.no = m.place >> {PLACE_BITS} \
             WHERE {LIVE} AND m.id = ?3"
        );
        let (born, today) = self.life();
        let mut items = Vec::new();
        for id in ids {
            self.each(&sql, (born, today, id), |row| {
                let Ok(name) = row::get::<String>(row, MESSAGE_WIDTH) else { return };
                let mailbox = Mailbox::from_canonical(&name);
                if matches!(scope, Scope::Mailbox(asked) if *asked != mailbox) {
                    return;
                }
                items.extend(self.summary(row, &mailbox).map(|summary| Item { mailbox, summary }));
            })?;
        }
        Ok(items)
    }

    pub(crate) fn position(&self, mailbox: &Mailbox) -> rusqlite::Result<Position> {
        match self.mailbox(mailbox)? {
            Some(found) => self.position_of(found),
            None => self.last_position(),
        }
    }

    /// A mailbox stands at its newest message, lapsed or not, or at what was removed since.
    fn position_of(&self, found: Folder) -> rusqlite::Result<Position> {
        let places = place_range(found.no);
        let sql = "SELECT id FROM message WHERE place >= ?1 AND place < ?2 ORDER BY place DESC LIMIT 1";
        let newest: Option<i64> =
            self.statement(sql)?.query_row((places.start, places.end), |row| row.get(0)).optional()?;
        Ok(position(newest.unwrap_or(0).max(found.removed_at)))
    }

    /// The last position drawn.
    pub(crate) fn last_position(&self) -> rusqlite::Result<Position> {
        let last = self.statement("SELECT last_position FROM state")?.query_row([], |row| row.get(0))?;
        Ok(position(last))
    }

    pub(crate) fn read(&self, mailbox: &Mailbox, id: MessageId) -> rusqlite::Result<Look> {
        let look = match self.find(mailbox, id) {
            Err(error) if is_damage(&error) => Look::Damaged,
            look => look?,
        };
        if matches!(look, Look::Damaged) {
            self.quarantine.found(mailbox, id);
        }
        Ok(look)
    }

    fn find(&self, mailbox: &Mailbox, id: MessageId) -> rusqlite::Result<Look> {
        let Some(found) = self.mailbox(mailbox)? else { return Ok(Look::Absent) };
        let sql = format!("SELECT {MESSAGE} FROM message m WHERE m.id = ?1");
        let mut statement = self.statement(&sql)?;
        let mut rows = statement.query([row::number(id)])?;
        let Some(row) = rows.next()? else { return Ok(Look::Absent) };
        let (born, today) = self.life();
        let place: i64 = row.get(0)?;
        let expires: Option<Micros> = row.get(5)?;
        if place >> PLACE_BITS != found.no || row.get::<_, Micros>(4)? <= born || expires.is_some_and(|at| at <= today)
        {
            return Ok(Look::Absent);
        }
        let kept = row::message(row, mailbox.as_str());
        let whole = match kept {
            Ok(Kept { body, summary }) => self.whole(body, summary)?,
            Err(Spoilt) => None,
        };
        Ok(whole.map_or(Look::Damaged, |stored| Look::Whole(Box::new(stored))))
    }

    /// A message with its body; none when that is not what was written.
    fn whole(&self, body: i64, summary: Summary) -> rusqlite::Result<Option<Stored>> {
        let sql = format!("SELECT {BODY} FROM body b WHERE b.id = ?1");
        let mut statement = self.statement(&sql)?;
        let mut rows = statement.query([body])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let stored = row::body(row, 0).and_then(|(cover, data)| {
            let raw = pack::unpack(cover.packing, data, cover.size, &cover.hash)?;
            let envelope = Arc::new(cover.envelope(&summary)?);
            Ok(Stored { summary: Arc::new(summary), envelope, raw })
        });
        Ok(stored.ok())
    }

    /// A message row of a list; one that is damaged is left out and named in the log.
    fn summary(&self, row: &Row<'_>, mailbox: &Mailbox) -> Option<Arc<Summary>> {
        match row::message(row, mailbox.as_str()) {
            Ok(kept) => Some(Arc::new(kept.summary)),
            Err(Spoilt) => {
                let id: i64 = row::get(row, 1).unwrap_or(0);
                self.quarantine.found(mailbox, MessageId::new(id.unsigned_abs()));
                None
            }
        }
    }

    fn mailbox(&self, mailbox: &Mailbox) -> rusqlite::Result<Option<Folder>> {
        let sql = "SELECT no, removed_at FROM mailbox WHERE name = ?1";
        let read = |row: &Row<'_>| Ok(Folder { no: row.get(0)?, removed_at: row.get(1)? });
        self.statement(sql)?.query_row([mailbox.as_str()], read).optional()
    }

    /// What [`LIVE`] asks for.
    fn life(&self) -> (Micros, Micros) {
        (lapsed_from(self.today, self.settings), self.today)
    }

    fn each(&self, sql: &str, bounds: impl Params, mut with: impl FnMut(&Row<'_>)) -> rusqlite::Result<()> {
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query(bounds)?;
        while let Some(row) = rows.next()? {
            with(row);
        }
        Ok(())
    }

    fn statement(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>> {
        self.connection.prepare_cached(sql)
    }
}
