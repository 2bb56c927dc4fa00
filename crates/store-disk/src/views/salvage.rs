//! Lists from a database with damaged pages. A page that SQLite cannot read ends a walk along it; so the messages are
//! found one by one through the index of ids, and only those on the page are missing.

use std::ops::Range;
use std::sync::Arc;

use mail::{Mailbox, MessageId, Summary};
use rusqlite::OptionalExtension;
use store::list::Order;

use crate::error::is_damage;
use crate::row::{MESSAGE, get};

use super::{LIVE, View};

impl View<'_> {
    /// What can be read of these places. It looks through all ids: slow, and better than nothing.
    pub(super) fn salvage(
        &self,
        mailbox: &Mailbox,
        places: Range<i64>,
        order: Order,
        limit: i64,
    ) -> rusqlite::Result<Vec<Arc<Summary>>> {
        let mut ids: Vec<(i64, i64)> = Vec::new();
        let sql = "SELECT id, place FROM message INDEXED BY message_by_id ORDER BY id";
        let walked = self.each(sql, [], |row| {
            if let (Ok(id), Ok(place)) = (get(row, 0), get(row, 1))
                && places.contains(&place)
            {
                ids.push((id, place));
            }
        });
        if let Err(error) = walked {
            tracing::error!(%mailbox, %error, "the index of messages is damaged as well; only a part of the list is shown");
        }
        if order == Order::Newest {
            ids.reverse();
        }
        let mut found = Vec::new();
        for (id, place) in ids {
            if found.len() as i64 >= limit {
                break;
            }
            found.extend(self.salvage_one(mailbox, id, place)?);
        }
        Ok(found)
    }

    fn salvage_one(&self, mailbox: &Mailbox, id: i64, place: i64) -> rusqlite::Result<Option<Arc<Summary>>> {
        let sql = format!("SELECT {MESSAGE} FROM message m WHERE {LIVE} AND m.place = ?3");
        let (born, today) = self.life();
        let row =
            self.statement(&sql)?.query_row((born, today, place), |row| Ok(self.summary(row, mailbox))).optional();
        match row {
            Ok(summary) => Ok(summary.flatten()),
            Err(error) if is_damage(&error) => {
                self.quarantine.found(mailbox, MessageId::new(id.unsigned_abs()));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
