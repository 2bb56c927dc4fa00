//! The REST side of the campaign: list, source, delete and purge, each answer written down as a fact.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::load::http::Connection;

use super::doors::Door;
use super::history::{Clock, Look, OPEN, Outcome, Print, Removal, Row, Scope, Span, Target};
use super::letter::{self, Author};

/// A client of REST on a connection that is kept as long as it lasts.
pub(super) struct Rest<'a> {
    pub(super) door: Door,
    clock: &'a Clock,
    author: Author,
    connection: Option<Connection>,
}

impl<'a> Rest<'a> {
    pub(super) fn new(door: Door, clock: &'a Clock, author: Author) -> Self {
        Self { door, clock, author, connection: None }
    }

    /// The messages of a mailbox.
    pub(super) fn list(&mut self, mailbox: &str) -> Result<Look> {
        let (span, status, body) = self.ask("GET", &format!("/api/v1/mailbox/{mailbox}"))?;
        if status != 200 {
            bail!("the list of {mailbox} was answered {status}: {}", String::from_utf8_lossy(&body));
        }
        let list: Vec<Value> = serde_json::from_slice(&body).with_context(|| format!("the list of {mailbox}"))?;
        let rows = list.iter().map(row).collect::<Option<_>>();
        let rows = rows.with_context(|| format!("the list of {mailbox} lacks a field"))?;
        Ok(Look { mailbox: mailbox.into(), scope: Scope::Mailbox, span, door: self.door.number, rows, print: None })
    }

    /// The bytes of a message, held against what was sent.
    pub(super) fn source(&mut self, mailbox: &str, id: &str) -> Result<Look> {
        let (span, status, body) = self.ask("GET", &format!("/api/v1/mailbox/{mailbox}/{id}/source"))?;
        let (rows, print) = match status {
            200 => (vec![Row { id: id.into(), canary: letter::canary(&body), size: body.len() as u64 }], Some(body)),
            404 => (Vec::new(), None),
            _ => bail!("the source of {mailbox}/{id} was answered {status}: {}", String::from_utf8_lossy(&body)),
        };
        let print = print.zip(rows.first()).map(|(body, row)| self.print(row, &body));
        Ok(Look {
            mailbox: mailbox.into(),
            scope: Scope::Message(id.into()),
            span,
            door: self.door.number,
            rows,
            print,
        })
    }

    fn print(&self, row: &Row, body: &[u8]) -> Print {
        match &row.canary {
            Ok(canary) => self.author.letter(*canary).print(self.author, body),
            Err(_) => Print { sum: 0, fault: None },
        }
    }

    /// Delete or purge. None when there was no connection, so that nothing can have been asked.
    pub(super) fn remove(&mut self, mailbox: &str, target: Target, asked: impl FnOnce()) -> Option<Removal> {
        let path = match &target {
            Target::Message(id) => format!("/api/v1/mailbox/{mailbox}/{id}"),
            Target::All => format!("/api/v1/mailbox/{mailbox}"),
        };
        let mut connection = self.connection.take().or_else(|| Connection::open(self.door.http).ok())?;
        let begin = self.clock.tick();
        let sent = connection.send("DELETE", &path);
        asked();
        let answer = sent.and_then(|()| connection.receive());
        let (end, outcome) = match answer {
            Ok((200, _)) => (self.clock.tick(), Outcome::Done),
            Ok((404, _)) => (self.clock.tick(), Outcome::Absent),
            // The problem of this status says itself that it is unknown whether it was done.
            Ok((500, _)) | Err(_) => (OPEN, Outcome::Unknown),
            Ok((status, _)) => (self.clock.tick(), Outcome::Refused(status.to_string())),
        };
        if outcome != Outcome::Unknown {
            self.connection = Some(connection);
        }
        Some(Removal { mailbox: mailbox.into(), target, span: Span { begin, end }, outcome, door: self.door.number })
    }

    fn ask(&mut self, method: &str, path: &str) -> Result<(Span, u16, Vec<u8>)> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(self.door.http)?,
        };
        let begin = self.clock.tick();
        connection.send(method, path)?;
        let (status, body) = connection.receive()?;
        let end = self.clock.tick();
        self.connection = Some(connection);
        Ok((Span { begin, end }, status, body))
    }
}

fn row(entry: &Value) -> Option<Row> {
    let subject = entry["subject"].as_str()?;
    let canary = subject.parse().map_err(|()| subject.to_owned());
    Some(Row { id: entry["id"].as_str()?.into(), canary, size: entry["size"].as_u64()? })
}
