//! What has changed since a position, as far as it is still so and still remembered.

use std::collections::VecDeque;

use mail::{Mailbox, MessageId};
use store::{Change, News, Position, Scope};

use crate::desk::{PLACE_BITS, place_range};
use crate::row::{self, MESSAGE, MESSAGE_WIDTH, column, position};

use super::{LIVE, View};

/// The past of a stream.
pub(crate) struct Past {
    /// What is told of it.
    pub(crate) news: VecDeque<News>,
    /// It reaches up to here.
    pub(crate) up_to: Position,
}

impl View<'_> {
    /// `Lost` alone when what happened is not remembered whole, or is more than may be told anew.
    pub(crate) fn changes_since(&self, scope: &Scope, after: Position) -> rusqlite::Result<Past> {
        let up_to = self.last_position()?;
        let quiet = match scope {
            Scope::Mailbox(mailbox) => match self.mailbox(mailbox)? {
                Some(found) => self.position_of(found)? <= after,
                None => false,
            },
            Scope::All => false,
        };
        let mut news = VecDeque::new();
        if !quiet && after < up_to {
            let max = self.settings.changes_max;
            match self.removals(scope, after)? {
                Some(mut changes) => {
                    self.delivered(scope, after, max.saturating_add(1), &mut changes)?;
                    if changes.len() > max {
                        news.push_back(News::Lost { position: up_to });
                    } else {
                        changes.sort_by_key(Change::position);
                        news.extend(changes.into_iter().map(News::from));
                    }
                }
                None => news.push_back(News::Lost { position: up_to }),
            }
        }
        Ok(Past { news, up_to })
    }

    /// Deletes and purges behind a position; none when they are not remembered whole.
    fn removals(&self, scope: &Scope, after: Position) -> rusqlite::Result<Option<Vec<Change>>> {
        let forgotten: i64 = self.statement("SELECT forgotten FROM state")?.query_row([], |row| row.get(0))?;
        if column(after) < forgotten {
            return Ok(None);
        }
        let only = only(scope);
        let sql = "SELECT position, mailbox, message, up_to FROM removal \
                   WHERE position > ?1 AND (?2 IS NULL OR mailbox = ?2) ORDER BY position";
        let mut changes = Vec::new();
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query((column(after), only))?;
        while let Some(row) = rows.next()? {
            let (at, name): (i64, String) = (row.get(0)?, row.get(1)?);
            let (mailbox, at) = (Mailbox::from_canonical(&name), position(at));
            changes.push(match row.get::<_, Option<i64>>(2)? {
                Some(id) => Change::Deleted { mailbox, id: MessageId::new(id.unsigned_abs()), position: at },
                None => Change::Purged {
                    mailbox,
                    up_to: position(row.get::<_, Option<i64>>(3)?.unwrap_or(0)),
                    position: at,
                },
            });
        }
        Ok(Some(changes))
    }

    /// Messages that came behind a position and are still there, up to a number.
    fn delivered(
        &self,
        scope: &Scope,
        after: Position,
        limit: usize,
        changes: &mut Vec<Change>,
    ) -> rusqlite::Result<()> {
        let (born, today) = self.life();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        if let Scope::Mailbox(mailbox) = scope {
            let Some(found) = self.mailbox(mailbox)? else { return Ok(()) };
            let (from, end) = (self.place_behind(found.no, column(after))?, place_range(found.no).end);
            let sql = format!(
                "SELECT {MESSAGE} FROM message m WHERE {LIVE} AND m.place >= ?3 AND m.place < ?4 ORDER BY m.place LIMIT ?5"
            );
            return self.each(&sql, (born, today, from, end, limit), |row| {
                let summary = self.summary(row, mailbox);
                changes.extend(summary.map(|summary| Change::Delivered { mailbox: mailbox.clone(), summary }));
            });
        }
        let sql = format!(
            "SELECT {MESSAGE}, x.name FROM message m JOIN mailbox x ON x.no = m.place >> {PLACE_BITS} \
             WHERE {LIVE} AND m.id > ?3 ORDER BY m.id LIMIT ?4"
        );
        self.each(&sql, (born, today, column(after), limit), |row| {
            let Ok(name) = row::get::<String>(row, MESSAGE_WIDTH) else { return };
            let mailbox = Mailbox::from_canonical(&name);
            let summary = self.summary(row, &mailbox);
            changes.extend(summary.map(|summary| Change::Delivered { mailbox, summary }));
        })
    }
}

fn only(scope: &Scope) -> Option<&str> {
    match scope {
        Scope::All => None,
        Scope::Mailbox(mailbox) => Some(mailbox.as_str()),
    }
}
