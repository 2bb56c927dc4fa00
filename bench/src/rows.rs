//! A bare loop that writes the rows of the disk engine: the least that this many messages cost in SQLite, in
//! transactions of this size. It takes its rows, its tables and the shape of its file from a store that the engine
//! wrote, and knows nothing of mail, of threads or of how a row came to be.
//!
//! `bare-rows FROM TO --messages N --group N [--pragma NAME=VALUE]…`: FROM is the engine's file, TO the one to make. It
//! prints one line of JSON: messages, transactions, bytes stored of a body, seconds, and CPU seconds of this process in the
//! loop.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Statement, Transaction, TransactionBehavior, params_from_iter};

use postkeep_bench::cpu::cpu;

/// So many different rows are held in memory and written over and over: enough for the mixture of packed and raw bodies,
/// few enough to stay close to the processor, as mail that has just come in is.
const ROWS_MAX: i64 = 100;
/// Of `place`: the bits that count within a mailbox.
const PLACE_BITS: u32 = 29;
/// Of an id: it grows by about so many bits with each message, as time goes by.
const ID_BITS: u32 = 16;

/// What the command line asks for.
struct Asked {
    from: PathBuf,
    to: PathBuf,
    messages: i64,
    group: f64,
    pragmas: Vec<(String, String)>,
}

/// The rows of one message, as the engine wrote them.
struct Row {
    message: Vec<Value>,
    body: Vec<Value>,
}

/// Everything taken from the engine's file.
struct Pattern {
    tables: Vec<String>,
    page_size: i64,
    auto_vacuum: i64,
    mailboxes: i64,
    rows: Vec<Row>,
    /// The first id that the engine drew.
    first: i64,
    state: Vec<Value>,
}

impl Pattern {
    /// Bytes of a body as it is stored, on average.
    fn stored(&self) -> usize {
        let bytes = |row: &Row| if let Some(Value::Blob(data)) = row.body.last() { data.len() } else { 0 };
        self.rows.iter().map(bytes).sum::<usize>() / self.rows.len()
    }
}

fn main() -> Result<()> {
    let asked = asked(std::env::args().skip(1))?;
    let pattern = pattern(&asked.from)?;
    let mut to = made(&asked, &pattern)?;
    let (begin, cpu_before) = (Instant::now(), cpu()?);
    let transactions = write(&mut to, &asked, &pattern)?;
    let (time, cpu) = (begin.elapsed().as_secs_f64(), cpu()? - cpu_before);
    let (messages, stored) = (asked.messages, pattern.stored());
    println!(
        r#"{{"messages":{messages},"transactions":{transactions},"stored":{stored},"seconds":{time:.3},"cpu_seconds":{cpu:.2}}}"#
    );
    Ok(())
}

fn asked(mut words: impl Iterator<Item = String>) -> Result<Asked> {
    let usage = "bare-rows FROM TO --messages N --group N [--pragma NAME=VALUE]…";
    let (from, to) = (words.next().context(usage)?.into(), words.next().context(usage)?.into());
    let mut asked = Asked { from, to, messages: 10_000, group: 10.0, pragmas: Vec::new() };
    while let Some(name) = words.next() {
        let value = words.next().with_context(|| format!("{name} needs a value behind it"))?;
        match name.as_str() {
            "--messages" => asked.messages = value.parse()?,
            "--group" => asked.group = value.parse()?,
            "--pragma" => {
                let (name, value) = value.split_once('=').context("a pragma is NAME=VALUE")?;
                asked.pragmas.push((name.into(), value.into()));
            }
            _ => bail!("{name} means nothing here: {usage}"),
        }
    }
    ensure!(asked.group >= 1.0, "a group has one message or more");
    Ok(asked)
}

/// Read some rows of the engine, and how its file is made.
fn pattern(from: &Path) -> Result<Pattern> {
    let from = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .with_context(|| format!("cannot open {}", from.display()))?;
    let number = |sql: &str| from.query_row(sql, [], |row| row.get::<_, i64>(0));
    let mut tables = from.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")?;
    let tables = tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    // From the beginning to the end of the run, evenly.
    let step = (number("SELECT count(*) FROM message")? / ROWS_MAX).max(1);
    let rows = from
        .prepare("SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM message) WHERE n % ?1 = 0")?
        .query_map([step], |row| row.get::<_, i64>(0))?
        .map(|id| {
            let id = id?;
            let message = whole_row(&from, "SELECT * FROM message WHERE id = ?1", id)?;
            let body = whole_row(&from, "SELECT * FROM body WHERE id = (SELECT body FROM message WHERE id = ?1)", id)?;
            Ok(Row { message, body })
        })
        .collect::<Result<Vec<_>>>()?;
    ensure!(!rows.is_empty(), "the store holds no message to take for a pattern");
    Ok(Pattern {
        tables,
        page_size: number("PRAGMA page_size")?,
        auto_vacuum: number("PRAGMA auto_vacuum")?,
        mailboxes: number("SELECT count(*) FROM mailbox")?.max(1),
        rows,
        first: number("SELECT min(id) FROM message")?,
        state: whole_row(&from, "SELECT * FROM state WHERE one = ?1", 1)?,
    })
}

fn whole_row(from: &Connection, sql: &str, key: i64) -> Result<Vec<Value>> {
    let mut statement = from.prepare_cached(sql)?;
    let width = statement.column_count();
    Ok(statement.query_row([key], |row| (0..width).map(|column| row.get(column)).collect())?)
}

/// A new file, made as the engine makes its own: what shapes the file first, then the journal, then the rest.
fn made(asked: &Asked, pattern: &Pattern) -> Result<Connection> {
    if let Some(folder) = asked.to.parent() {
        fs::create_dir_all(folder)?;
    }
    ensure!(!asked.to.exists(), "{} is there already", asked.to.display());
    let to = Connection::open(&asked.to)?;
    to.pragma_update(None, "page_size", pattern.page_size)?;
    to.pragma_update(None, "auto_vacuum", pattern.auto_vacuum)?;
    let shapes = |name: &str| ["page_size", "auto_vacuum"].contains(&name);
    for (name, value) in asked.pragmas.iter().filter(|(name, _)| shapes(name)) {
        to.pragma_update(None, name, value)?;
    }
    to.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    to.pragma_update(None, "synchronous", "FULL")?;
    for (name, value) in asked.pragmas.iter().filter(|(name, _)| !shapes(name)) {
        // Some pragmas answer with their new value, others with nothing.
        to.execute_batch(&format!("PRAGMA {name} = {value}"))?;
    }
    for table in &pattern.tables {
        to.execute_batch(table)?;
    }
    let marks = vec!["?"; pattern.state.len()].join(", ");
    to.execute(&format!("INSERT INTO state VALUES ({marks})"), params_from_iter(&pattern.state))?;
    Ok(to)
}

/// Write the messages; how many transactions it took. A group that is no whole number is met on average.
fn write(to: &mut Connection, asked: &Asked, pattern: &Pattern) -> Result<u64> {
    let (mut written, mut transactions) = (0, 0_u64);
    while written < asked.messages {
        transactions += 1;
        let end = ((transactions as f64 * asked.group).round() as i64).min(asked.messages);
        let transaction = to.transaction_with_behavior(TransactionBehavior::Immediate)?;
        write_group(&transaction, pattern, written..end)?;
        transaction.commit()?;
        written = end;
    }
    Ok(transactions)
}

fn write_group(transaction: &Transaction<'_>, pattern: &Pattern, numbers: std::ops::Range<i64>) -> Result<()> {
    let mut mailbox = transaction.prepare_cached("INSERT INTO mailbox VALUES (?1, ?2, 0)")?;
    let marks = |count: usize| vec!["?"; count].join(", ");
    let (wide, deep) = (pattern.rows[0].message.len(), pattern.rows[0].body.len());
    let mut message = transaction.prepare_cached(&format!("INSERT INTO message VALUES ({})", marks(wide)))?;
    let mut body = transaction.prepare_cached(&format!("INSERT INTO body VALUES ({})", marks(deep)))?;
    let last = numbers.end;
    for number in numbers {
        if number < pattern.mailboxes {
            mailbox.execute((number + 1, format!("{number}box")))?;
        }
        write_message(&mut message, &mut body, pattern, number)?;
    }
    let mut state = transaction.prepare_cached("UPDATE state SET last_position = ?1, seen_at = ?2")?;
    state.execute((pattern.first + (last << ID_BITS), clock(last)))?;
    Ok(())
}

/// One message: the pattern's values, but a place, an id and a time of its own.
fn write_message(message: &mut Statement<'_>, body: &mut Statement<'_>, pattern: &Pattern, number: i64) -> Result<()> {
    let row = &pattern.rows[number as usize % pattern.rows.len()];
    let id = pattern.first + (number << ID_BITS);
    let place = (number % pattern.mailboxes + 1) << PLACE_BITS | (number / pattern.mailboxes);
    for (column, value) in row.body.iter().enumerate() {
        match column {
            0 => body.raw_bind_parameter(1, id)?,
            _ => body.raw_bind_parameter(column + 1, value)?,
        }
    }
    body.raw_execute()?;
    for (column, value) in row.message.iter().enumerate() {
        match (column, value) {
            (0, _) => message.raw_bind_parameter(1, place)?,
            (1 | 2, _) => message.raw_bind_parameter(column + 1, id)?,
            (4, _) => message.raw_bind_parameter(5, clock(number))?,
            // When it lapses: later and later, like the time it came.
            (5, Value::Integer(at)) => message.raw_bind_parameter(6, at + number)?,
            _ => message.raw_bind_parameter(column + 1, value)?,
        }
    }
    message.raw_execute()?;
    Ok(())
}

/// A time in microseconds that grows by 100 with each message.
fn clock(number: i64) -> i64 {
    1_800_000_000_000_000 + number * 100
}
