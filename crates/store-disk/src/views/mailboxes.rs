//! The mailboxes that hold mail, by name or by their newest message.

use std::collections::HashSet;

use jiff::Timestamp;
use mail::{Mailbox, MessageId};
use rusqlite::OptionalExtension;
use store::list::{MailboxOrder, MailboxPage, MailboxState};

use crate::desk::{PLACE_BITS, place_range};
use crate::row::{number, timestamp};

use super::{Folder, LIVE, View};

/// Names read at once.
const NAMES: i64 = 256;

impl View<'_> {
    pub(crate) fn mailboxes(&self, page: &Pages) -> rusqlite::Result<Vec<MailboxState>> {
        match page.order {
            PagesOrder::Name { ref after } => self.by_name(page, after.as_deref()),
            PagesOrder::Newest { before } => self.by_newest(page, before),
        }
    }

    fn by_name(&self, page: &Pages, after: Option<&str>) -> rusqlite::Result<Vec<MailboxState>> {
        let mut found = Vec::new();
        let mut last = after.filter(|after| *after >= page.prefix.as_str()).map(str::to_owned);
        let sql = "SELECT no, name, removed_at FROM mailbox WHERE name >= ?1 AND name IS NOT ?2 ORDER BY name LIMIT ?3";
        loop {
            let mut names: Vec<(Folder, String)> = Vec::new();
            let from = last.as_deref().unwrap_or(&page.prefix);
            let mut statement = self.statement(sql)?;
            let mut rows = statement.query((from, last.as_deref(), NAMES))?;
            while let Some(row) = rows.next()? {
                names.push((Folder { no: row.get(0)?, removed_at: row.get(2)? }, row.get(1)?));
            }
            let full = names.len() as i64 == NAMES;
            for (mailbox, name) in names {
                if found.len() >= page.limit || !name.starts_with(&page.prefix) {
                    return Ok(found);
                }
                found.extend(self.state(mailbox, &name)?);
                last = Some(name);
            }
            if !full {
                return Ok(found);
            }
        }
    }

    /// Down through all messages: a mailbox is met first at its newest one, and only there.
    fn by_newest(&self, page: &Pages, before: Option<i64>) -> rusqlite::Result<Vec<MailboxState>> {
        let mut found = Vec::new();
        let mut met = HashSet::new();
        let sql = "SELECT id, place FROM message WHERE id < ?1 ORDER BY id DESC";
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query([before.unwrap_or(i64::MAX)])?;
        while let Some(row) = rows.next()? {
            if found.len() >= page.limit {
                break;
            }
            let (id, no): (i64, i64) = (row.get(0)?, row.get::<_, i64>(1)? >> PLACE_BITS);
            if met.contains(&no) {
                continue;
            }
            let Some((mailbox, name)) = self.numbered(no)? else { continue };
            let state = self.state(mailbox, &name)?;
            // Its newest may have lapsed: then it is met again further down. Or be newer than this page: then not at all.
            let Some(state) = state.filter(|state| number(state.newest) >= id) else { continue };
            met.insert(no);
            if number(state.newest) == id && name.starts_with(&page.prefix) {
                found.push(state);
            }
        }
        Ok(found)
    }

    /// T086: a damaged index of names makes a mailbox look empty that is not. Some mailboxes behind a number are looked
    /// for by their names, and those that are not found are named in the log; the last number looked at, if more follow.
    pub(crate) fn name_hidden(&self, after: i64) -> rusqlite::Result<Option<i64>> {
        let looked = self.name_some_hidden(after);
        if let Err(error) = &looked {
            let path = self.settings.path.display();
            tracing::error!(%path, %error, "mailboxes cannot all be looked through and may look empty; `postkeep store check` \
                tells what is damaged, and a backup may have it whole");
        }
        looked
    }

    fn name_some_hidden(&self, after: i64) -> rusqlite::Result<Option<i64>> {
        let sql = "SELECT no, name FROM mailbox NOT INDEXED WHERE no > ?1 ORDER BY no LIMIT ?2";
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query((after, NAMES))?;
        let (mut seen, mut last) = (0, after);
        while let Some(row) = rows.next()? {
            let name: String = row.get(1)?;
            (seen, last) = (seen + 1, row.get(0)?);
            let mailbox = Mailbox::from_canonical(&name);
            if self.mailbox(&mailbox)?.is_none_or(|found| found.no != last) {
                tracing::error!(
                    %mailbox,
                    "a mailbox is not found by its name, as the index of names is damaged, and looks empty; `postkeep store \
                     check` tells what else is, and a backup may have it whole"
                );
            }
        }
        Ok((seen == NAMES).then_some(last))
    }

    fn numbered(&self, no: i64) -> rusqlite::Result<Option<(Folder, String)>> {
        let sql = "SELECT removed_at, name FROM mailbox WHERE no = ?1";
        let read = |row: &rusqlite::Row<'_>| Ok((Folder { no, removed_at: row.get(0)? }, row.get(1)?));
        self.statement(sql)?.query_row([no], read).optional()
    }

    /// What a mailbox holds; none when everything in it has lapsed.
    fn state(&self, mailbox: Folder, name: &str) -> rusqlite::Result<Option<MailboxState>> {
        let places = place_range(mailbox.no);
        let sql = format!(
            "SELECT count(*), total(m.size), max(m.id) FROM message m \
             WHERE {LIVE} AND m.place >= ?3 AND m.place < ?4"
        );
        let (born, today) = self.life();
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (messages, bytes, newest): (i64, f64, Option<i64>) =
            self.statement(&sql)?.query_row((born, today, places.start, places.end), read)?;
        let Some(newest) = newest else { return Ok(None) };
        let sql = "SELECT received_at FROM message WHERE id = ?1";
        let newest_at = self.statement(sql)?.query_row([newest], |row| row.get(0))?;
        Ok(Some(MailboxState {
            mailbox: Mailbox::from_canonical(name),
            messages: messages.unsigned_abs(),
            bytes: bytes as u64,
            position: self.position_of(mailbox)?,
            newest: MessageId::new(newest.unsigned_abs()),
            newest_at: timestamp(newest_at).unwrap_or(Timestamp::UNIX_EPOCH),
        }))
    }
}

/// A page of mailboxes that can be sent to another thread.
pub(crate) struct Pages {
    prefix: String,
    order: PagesOrder,
    limit: usize,
}

enum PagesOrder {
    Name { after: Option<String> },
    Newest { before: Option<i64> },
}

impl From<MailboxPage<'_>> for Pages {
    fn from(page: MailboxPage<'_>) -> Self {
        let order = match page.order {
            MailboxOrder::Name { after } => PagesOrder::Name { after: after.map(|name| name.as_str().to_owned()) },
            MailboxOrder::Newest { before } => PagesOrder::Newest { before: before.map(number) },
        };
        Self { prefix: page.prefix.to_owned(), order, limit: page.limit }
    }
}
