//! Putting a message in: its body once, a row for each copy, its jobs; and keeping each mailbox within its cap.

use std::sync::Arc;

use mail::MessageId;
use rusqlite::{Connection, Statement, params};
use store::{Change, Filed};

use crate::draft::{Draft, DraftCopy};
use crate::error::Fault;
use crate::row::micros;

use super::{Desk, Micros, NEVER, place_range};

/// Messages that one arrival lets go at most, to keep the cap of its mailbox.
const CAP_STEP: usize = 256;

/// The statements that every message needs, kept at hand.
pub(super) struct Hot<'c> {
    body: Statement<'c>,
    message: Statement<'c>,
}

impl<'c> Hot<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        let body = "INSERT INTO body (id, size, packing, hash, door, utf8, helo, peer, tls, auth_user, recipients, seal, \
                    data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
        let message = "INSERT INTO message (place, id, body, shared, received_at, expires, size, transaction_id, \
                       mail_from, rcpt_to, other_recipients, from_name, from_email, subject, tags, seal) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
        Ok(Self { body: connection.prepare(body)?, message: connection.prepare(message)? })
    }
}

impl Desk<'_> {
    /// Put a message into all its mailboxes, with its jobs.
    pub(crate) fn append(&mut self, draft: &Draft) -> Result<Vec<Filed>, Fault> {
        debug_assert!(!draft.copies.is_empty(), "a delivery has a mailbox");
        if draft.copies.is_empty() {
            return Ok(Vec::new());
        }
        let jobs = self.admit_jobs(&draft.jobs, draft.copies.len())?;
        self.room.take(draft.weight())?;
        let body = self.draw();
        self.write_body(draft, body)?;
        if draft.copies.len() > 1 {
            // Before the copies: one that has lapsed when it comes may go again at once, to keep the cap.
            let sql = "INSERT INTO shared (body, copies) VALUES (?1, ?2)";
            self.statement(sql)?.execute((body, draft.copies.len() as i64))?;
        }
        let mut filed = Vec::with_capacity(draft.copies.len());
        for (number, copy) in draft.copies.iter().enumerate() {
            let id = if number == 0 { body } else { self.draw() };
            self.file(copy, id, body, draft.copies.len() > 1)?;
            filed.push(Filed { mailbox: copy.mailbox.clone(), id: MessageId::new(id.unsigned_abs()) });
        }
        self.add_jobs(&jobs, &filed)?;
        self.appended += 1;
        Ok(filed)
    }

    fn write_body(&mut self, draft: &Draft, id: i64) -> rusqlite::Result<()> {
        let cover = &draft.cover;
        self.hot.body.execute(params![
            id,
            cover.size,
            cover.packing,
            cover.hash,
            cover.door,
            cover.utf8,
            cover.helo,
            cover.peer,
            cover.tls,
            cover.auth_user,
            cover.recipients,
            draft.cover_seal.press([id, 0, 0]),
            &draft.data[..],
        ])?;
        Ok(())
    }

    fn file(&mut self, copy: &DraftCopy, id: i64, body: i64, shared: bool) -> rusqlite::Result<()> {
        let mailbox = &copy.mailbox;
        let no = match self.seats.number(self.connection, mailbox)? {
            Some(no) => no,
            None => self.seats.open(self.connection, mailbox)?,
        };
        let (no, place) = self.next_place(copy, no)?;
        self.write_message(copy, place, id, body, shared)?;
        let expires = copy.summary.expires.map_or(NEVER, micros);
        let lapses = self.age(micros(copy.summary.received_at));
        self.next_deadline = self.next_deadline.min(expires).min(lapses);
        self.note(mailbox, || {
            let summary = mail::Summary { id: MessageId::new(id.unsigned_abs()), ..copy.summary.clone() };
            Change::Delivered { mailbox: mailbox.clone(), summary: Arc::new(summary) }
        });
        self.hold_cap(no)
    }

    /// Where the next message of a mailbox goes. A mailbox that has used up its places moves to a new number.
    fn next_place(&mut self, copy: &DraftCopy, no: i64) -> rusqlite::Result<(i64, i64)> {
        let counted = self.settings.messages_max > 0;
        let last = place_range(no).end - 1;
        let no = if self.seats.seat(self.connection, no, counted)?.next >= last {
            self.renumber(&copy.mailbox, no, 0)?
        } else {
            no
        };
        let seat = self.seats.seat(self.connection, no, counted)?;
        let place = seat.next;
        seat.next += 1;
        if let Some(count) = &mut seat.count {
            *count += 1;
        }
        Ok((no, place))
    }

    fn write_message(
        &mut self,
        copy: &DraftCopy,
        place: i64,
        id: i64,
        body: i64,
        shared: bool,
    ) -> rusqlite::Result<()> {
        let (summary, texts) = (&copy.summary, &copy.texts);
        self.hot.message.execute(params![
            place,
            id,
            body,
            shared,
            micros(summary.received_at),
            summary.expires.map(micros),
            summary.size as i64,
            summary.transaction.number().to_be_bytes(),
            texts.mail_from,
            texts.rcpt_to,
            summary.other_recipients,
            summary.from.name,
            summary.from.email,
            summary.subject,
            texts.tags,
            copy.seal.press([id, body, i64::from(shared)]),
        ])?;
        Ok(())
    }

    /// When a message received then lapses by its age.
    pub(super) fn age(&self, received_at: Micros) -> Micros {
        let age = self.settings.retention.map(|age| Micros::try_from(age.as_micros()).unwrap_or(NEVER));
        age.map_or(NEVER, |age| received_at.saturating_add(age))
    }

    /// Keep a mailbox within its number of messages: what has lapsed goes first, then the oldest.
    fn hold_cap(&mut self, no: i64) -> rusqlite::Result<()> {
        let max = self.settings.messages_max as u64;
        if max == 0 || self.count(no)? <= max {
            return Ok(());
        }
        if self.today >= self.next_deadline {
            self.remove_lapsed_of(no)?;
            self.settle(no)?;
        }
        // A cap that was lowered is reached over several messages: none of them has to wait for all the others to go.
        for _ in 0..CAP_STEP {
            if self.count(no)? <= max || !self.remove_oldest(no)? {
                break;
            }
        }
        Ok(())
    }

    fn count(&mut self, no: i64) -> rusqlite::Result<u64> {
        Ok(self.seats.seat(self.connection, no, true)?.count.unwrap_or(0))
    }
}
