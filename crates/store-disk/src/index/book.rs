//! The file of the index: one row for each message, by its id, with the texts that `mail` gives it; SQLite's FTS5 keeps
//! every three letters of them (`trigram`), so that any part of a text is found, in any script.
//!
//! How far it goes stands in the same transaction as what it holds: it knows every message with an id between `floor` and
//! `head` that was there when it came to it. Nothing here is the truth: power may take its last commits.

use std::fs;
use std::path::Path;
use std::time::Duration;

use mail::query::{COLUMNS, Column, Needle, Texts};
use mail::{Mailbox, MessageId};
use rusqlite::{Connection, OpenFlags};
use store::Scope;
use store::list::Order;
use store::search::Span;

use crate::error::OpenError;
use crate::row::column;

/// The file.
pub(super) const FILE: &str = "search.db";
/// Every file that SQLite keeps for it.
pub(crate) const FILES: [&str; 3] = [FILE, "search.db-wal", "search.db-shm"];
/// Another number is another format, and an index of it is made anew.
const FORMAT: i64 = 1;
/// Fewer letters than this are in no index.
const LETTERS_MIN: usize = 3;
/// More of a text than this is not looked up: what is found is looked at anyway.
const LETTERS_MAX: usize = 64;
/// So many texts are looked up at once.
const NEEDLES_MAX: usize = 8;
/// Messages named at once.
pub(super) const BATCH: usize = 100;
/// Memory for pages, in KiB: of the filler, and of each reader.
const FILLER_CACHE: i64 = 16 << 10;
const READER_CACHE: i64 = 8 << 10;
/// The log of the index is cut back to this.
const LOG_BYTES: i64 = 16 << 20;
const BUSY: Duration = Duration::from_secs(5);
/// Pages that one step of tidying moves.
const MERGE_PAGES: i64 = 256;

const SCHEMA: &str = "
    CREATE TABLE state (
        one      INTEGER PRIMARY KEY CHECK (one = 1),
        epoch    INTEGER NOT NULL, -- of the store that it was made of
        text_max INTEGER NOT NULL, -- with which it was made
        floor    INTEGER NOT NULL,
        head     INTEGER NOT NULL
    ) STRICT;
    -- Messages whose texts were cut: each may hold whatever is looked for.
    CREATE TABLE cut (id INTEGER PRIMARY KEY) STRICT;
    CREATE VIRTUAL TABLE text USING fts5(
        mailbox, subject, author, rcpt, addressee, cc, filename, header, body,
        tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1
    );
    -- Merging is half of the work: it is done by eights instead of fours, and of larger pieces, for some more of them to
    -- look into.
    INSERT INTO text (text, rank) VALUES ('automerge', 8);
    INSERT INTO text (text, rank) VALUES ('crisismerge', 32);
    INSERT INTO text (text, rank) VALUES ('hashsize', 16777216);";

/// What an index is made of and for: one that was made otherwise is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Origin {
    pub(super) epoch: i64,
    pub(super) text_max: usize,
}

/// What the index knows: messages behind `floor`, up to and with `head`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) floor: i64,
    pub(crate) head: i64,
}

/// What is looked up.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    expression: String,
    order: Order,
    after: i64,
    before: i64,
}

/// Some of what may match, in order, and how far the index went at that moment.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) range: Range,
    pub(super) ids: Vec<i64>,
    /// Whether there may be more behind them.
    pub(super) more: bool,
}

/// The file, opened to be written.
pub(super) struct Book {
    connection: Connection,
}

impl Book {
    /// Open the index of a store, or make one; what is no index of this store goes.
    pub(super) fn open(path: &Path, origin: Origin, last: i64) -> rusqlite::Result<Self> {
        match Self::take(path, origin) {
            Ok(book) if book.is_of(origin, last).unwrap_or(false) => Ok(book),
            _ => Self::anew(path, origin),
        }
    }

    /// Throw away what is there, and begin.
    pub(super) fn anew(path: &Path, origin: Origin) -> rusqlite::Result<Self> {
        FILES.iter().for_each(|name| drop(fs::remove_file(path.with_file_name(name))));
        Self::take(path, origin)
    }

    fn take(path: &Path, origin: Origin) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        private(path);
        let mut connection = Connection::open_with_flags(path, flags)?;
        settle(&connection, FILLER_CACHE)?;
        let format: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if format == 0 {
            let making = connection.transaction()?;
            making.execute_batch(SCHEMA)?;
            let first = "INSERT INTO state VALUES (1, ?1, ?2, 0, 0)";
            making.execute(first, (origin.epoch, origin.text_max as i64))?;
            making.pragma_update(None, "user_version", FORMAT)?;
            making.commit()?;
        }
        Ok(Self { connection })
    }

    /// Whether it was made of this store, by this format, and knows no message that the store does not.
    fn is_of(&self, origin: Origin, last: i64) -> rusqlite::Result<bool> {
        let format: i64 = self.connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let sql = "SELECT epoch, text_max, head FROM state";
        let (epoch, text_max, head): (i64, i64, i64) =
            self.connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(format == FORMAT && epoch == origin.epoch && text_max == origin.text_max as i64 && head <= last)
    }

    pub(super) fn range(&self) -> rusqlite::Result<Range> {
        range(&self.connection)
    }

    /// Put messages in, each with its mailbox, and know everything up to `head` from then on.
    pub(super) fn add(
        &mut self,
        messages: &[(MessageId, Mailbox, Texts)],
        text_max: usize,
        head: i64,
    ) -> rusqlite::Result<()> {
        let adding = self.connection.transaction()?;
        {
            let mut put = adding.prepare_cached(
                "INSERT INTO text (rowid, mailbox, subject, author, rcpt, addressee, cc, filename, header, body) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?;
            let mut mark = adding.prepare_cached("INSERT INTO cut VALUES (?1)")?;
            for (id, mailbox, texts) in messages {
                let id = crate::row::number(*id);
                let columns = COLUMNS.map(|column| within(texts.column(column), text_max));
                let [subject, author, rcpt, to, cc, filename, header, body] = columns.map(|(text, _)| text);
                put.execute((id, whole(mailbox), subject, author, rcpt, to, cc, filename, header, body))?;
                if columns.iter().any(|(_, is_cut)| *is_cut) {
                    mark.execute([id])?;
                }
            }
        }
        adding.prepare_cached("UPDATE state SET head = ?1")?.execute([head])?;
        adding.commit()
    }

    /// The ids that it holds behind one, a slice of them.
    pub(super) fn ids(&self, after: i64, limit: usize) -> rusqlite::Result<Vec<i64>> {
        let mut ids =
            self.connection.prepare_cached("SELECT id FROM text_docsize WHERE id > ?1 ORDER BY id LIMIT ?2")?;
        ids.query_map((after, limit as i64), |row| row.get(0))?.collect()
    }

    /// Take messages out.
    pub(super) fn remove(&mut self, ids: &[i64], floor: Option<i64>) -> rusqlite::Result<()> {
        let removing = self.connection.transaction()?;
        for id in ids {
            removing.prepare_cached("DELETE FROM text WHERE rowid = ?1")?.execute([id])?;
            removing.prepare_cached("DELETE FROM cut WHERE id = ?1")?.execute([id])?;
        }
        if let Some(floor) = floor {
            removing.prepare_cached("UPDATE state SET floor = ?1")?.execute([floor])?;
        }
        removing.commit()
    }

    /// Make room of what was taken out, a step at a time.
    pub(super) fn merge(&self) -> rusqlite::Result<()> {
        let sql = "INSERT INTO text (text, rank) VALUES ('merge', ?1)";
        self.connection.prepare_cached(sql)?.execute([-MERGE_PAGES]).map(drop)
    }

    /// Bytes of the pages in use.
    pub(super) fn bytes(&self) -> rusqlite::Result<u64> {
        let number = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let pages = number("page_count")?.saturating_sub(number("freelist_count")?);
        Ok(pages.unsigned_abs() * number("page_size")?.unsigned_abs())
    }

    /// What may match, newest or oldest first, as the index is at one moment.
    pub(super) fn batch(connection: &Connection, asked: &Asked) -> rusqlite::Result<Batch> {
        let range = range(connection)?;
        let (after, before) = (asked.after.max(range.floor), asked.before.min(range.head.saturating_add(1)));
        let way = if asked.order == Order::Newest { "DESC" } else { "ASC" };
        let named = |sql: String, with: &[&dyn rusqlite::ToSql]| -> rusqlite::Result<Vec<i64>> {
            connection.prepare_cached(&sql)?.query_map(with, |row| row.get(0))?.collect()
        };
        let limit = BATCH as i64;
        let sql = format!(
            "SELECT rowid FROM text WHERE text MATCH ?1 AND rowid > ?2 AND rowid < ?3 ORDER BY rowid {way} LIMIT ?4"
        );
        let mut ids = named(sql, &[&asked.expression, &after, &before, &limit])?;
        let sql = format!("SELECT id FROM cut WHERE id > ?1 AND id < ?2 ORDER BY id {way} LIMIT ?3");
        let cut = named(sql, &[&after, &before, &limit])?;
        let more = ids.len() == BATCH || cut.len() == BATCH;
        ids.extend(cut);
        ids.sort_unstable();
        ids.dedup();
        if asked.order == Order::Newest {
            ids.reverse();
        }
        ids.truncate(BATCH);
        Ok(Batch { range, ids, more })
    }
}

impl Asked {
    /// What the index can be asked for, if it can; `None` when all texts are too short for it.
    pub(super) fn of(needles: &[Needle<'_>], span: &Span) -> Option<Self> {
        let mut parts: Vec<String> = needles.iter().filter_map(part).take(NEEDLES_MAX).collect();
        if parts.is_empty() {
            return None;
        }
        if let Scope::Mailbox(mailbox) = &span.scope {
            parts.push(format!("mailbox : {}", quoted(&whole(mailbox))));
        }
        let (order, after, before) = (span.order, column(span.after), column(span.before));
        Some(Self { expression: parts.join(" AND "), order, after, before })
    }

    /// The same, for what is left of a span.
    pub(super) fn within(&self, span: &Span) -> Self {
        Self { after: column(span.after), before: column(span.before), ..self.clone() }
    }
}

/// The texts that are looked up are parts of what must be there: the more is found, and sorted out later.
fn part(needle: &Needle<'_>) -> Option<String> {
    let text: String = needle.text.chars().take(LETTERS_MAX).collect();
    if text.chars().count() < LETTERS_MIN {
        return None;
    }
    let columns: Vec<_> = needle.columns.iter().map(|column| name(*column)).collect();
    Some(format!("{{{}}} : {}", columns.join(" "), quoted(&text)))
}

fn name(column: Column) -> &'static str {
    match column {
        Column::Subject => "subject",
        Column::From => "author",
        Column::Rcpt => "rcpt",
        Column::To => "addressee",
        Column::Cc => "cc",
        Column::Filename => "filename",
        Column::Header => "header",
        Column::Body | Column::Tag => "body",
    }
}

/// As FTS5 takes a text that means nothing but itself.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// A mailbox's name with marks around it, so that no other name is taken for it.
fn whole(mailbox: &Mailbox) -> String {
    format!("\u{1}{mailbox}\u{2}")
}

/// The beginning of a text, and whether that is not all.
fn within(text: &str, text_max: usize) -> (&str, bool) {
    if text.len() <= text_max {
        return (text, false);
    }
    let end = (0..=text_max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    (&text[..end], true)
}

fn range(connection: &Connection) -> rusqlite::Result<Range> {
    let mut state = connection.prepare_cached("SELECT floor, head FROM state")?;
    state.query_row([], |row| Ok(Range { floor: row.get(0)?, head: row.get(1)? }))
}

/// A connection that only looks.
pub(super) fn connect_reader(path: &Path) -> Result<Connection, OpenError> {
    let failed = |source| OpenError::database(path, source);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    settle(&connection, READER_CACHE).map_err(failed)?;
    connection.pragma_update(None, "query_only", true).map_err(failed)?;
    Ok(connection)
}

fn settle(connection: &Connection, cache: i64) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Whole after a power cut, if not up to date: what is missing is read from the mail again.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    connection.pragma_update(None, "cache_size", -cache)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)
}

/// SQLite gives its other files the mode of this one.
fn private(path: &Path) {
    // When it cannot be made, opening it says so.
    drop(crate::directory::private().open(path));
}
