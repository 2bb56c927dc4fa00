//! The jobs, written in the same transaction as the mail that carries them.

use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use mail::{Mailbox, MessageId};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row};
use store::outbox::{Handback, Job, JobId};
use store::{Error, Filed, Lease, NewJob};

use crate::error::Fault;
use crate::row::micros;

use super::Desk;

/// Charged for each job beside its payload and the messages it names.
const JOB_WEIGHT: u64 = 256;
/// Charged for each message that a job names.
const MESSAGE_WEIGHT: u64 = 96;

/// What all jobs are charged.
pub(super) fn bytes(connection: &Connection) -> rusqlite::Result<u64> {
    // A job names a message on each line.
    let sql = "SELECT total(?1 + length(payload) + ?2 * (length(messages) - length(replace(messages, char(10), '')))) \
               FROM job";
    let sum: f64 = connection.query_row(sql, (JOB_WEIGHT as i64, MESSAGE_WEIGHT as i64), |row| row.get(0))?;
    Ok(sum as u64)
}

fn weight(payload: usize, messages: usize) -> u64 {
    JOB_WEIGHT + payload as u64 + MESSAGE_WEIGHT * messages as u64
}

impl Desk<'_> {
    /// Whether these can be added, naming up to so many messages.
    pub(super) fn check_jobs_room(&self, jobs: &[NewJob], messages: usize) -> store::Result<()> {
        let more: u64 = jobs.iter().map(|job| weight(job.payload.len(), messages)).sum();
        let max = self.settings.jobs_bytes_max;
        if more == 0 || self.books.jobs_bytes + more <= max {
            return Ok(());
        }
        Err(Error::Full { what: format!("jobs wait that take the {max} bytes kept for them") })
    }

    /// Add jobs that carry the news of these messages.
    pub(super) fn add_jobs(&mut self, jobs: &[NewJob], messages: &[Filed]) -> rusqlite::Result<()> {
        if jobs.is_empty() {
            return Ok(());
        }
        let named: String =
            messages.iter().map(|filed| format!("{}\t{}\n", filed.id.number(), filed.mailbox)).collect();
        for job in jobs {
            self.books.last_job += 1;
            let sql = "INSERT INTO job (id, kind, ready_at, leased, takings, messages, payload) \
                       VALUES (?1, ?2, ?3, 0, 0, ?4, ?5)";
            let ready_at = job.not_before.map_or(0, micros);
            self.statement(sql)?.execute((self.books.last_job, &job.kind, ready_at, &named, &job.payload[..]))?;
            self.books.jobs_bytes += weight(job.payload.len(), messages.len());
        }
        Ok(())
    }

    /// Take jobs of a kind under a lease: those that have waited longest.
    pub(crate) fn take_jobs(&mut self, kind: &str, limit: usize, lease: Duration) -> Result<Vec<Job>, Fault> {
        let lease = SignedDuration::try_from(lease).unwrap_or(SignedDuration::MAX);
        let until = micros(self.now.checked_add(lease).unwrap_or(Timestamp::MAX));
        let sql = "SELECT id, takings, messages, payload FROM job WHERE kind = ?1 AND ready_at <= ?2 \
                   ORDER BY ready_at, id LIMIT ?3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let jobs: Vec<Job> = self
            .statement(sql)?
            .query_map((kind, micros(self.now), limit), |row| read(row, kind))?
            .collect::<rusqlite::Result<_>>()?;
        for job in &jobs {
            let sql = "UPDATE job SET ready_at = ?1, leased = 1, takings = ?2 WHERE id = ?3";
            self.statement(sql)?.execute((until, job.lease.taking as i64, job.lease.job.0 as i64))?;
        }
        Ok(jobs)
    }

    /// A job is done.
    pub(crate) fn finish_job(&mut self, lease: Lease) -> Result<Handback, Fault> {
        Ok(self.remove_job(lease)?.map_or(Handback::Late, |_| Handback::Taken))
    }

    /// A job is to be taken again later.
    pub(crate) fn retry_job(&mut self, lease: Lease, not_before: Timestamp) -> Result<Handback, Fault> {
        let sql = "UPDATE job SET ready_at = ?1, leased = 0 WHERE id = ?2 AND takings = ?3 AND leased = 1";
        let held = (micros(not_before), lease.job.0 as i64, lease.taking as i64);
        let moved = self.statement(sql)?.execute(held)?;
        Ok(if moved == 0 { Handback::Late } else { Handback::Taken })
    }

    /// A job will never succeed.
    pub(crate) fn bury_job(&mut self, lease: Lease, reason: &str) -> Result<Handback, Fault> {
        let Some((kind, payload)) = self.remove_job(lease)? else { return Ok(Handback::Late) };
        let sql = "INSERT INTO dead_job (id, kind, payload, reason, died_at) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.statement(sql)?.execute((lease.job.0 as i64, kind, payload, reason, micros(self.now)))?;
        let sql =
            "DELETE FROM dead_job WHERE place <= (SELECT place FROM dead_job ORDER BY place DESC LIMIT 1 OFFSET ?1)";
        self.statement(sql)?.execute([i64::try_from(self.settings.dead_jobs_max).unwrap_or(i64::MAX)])?;
        Ok(Handback::Taken)
    }

    /// Take a job away that this lease still holds.
    fn remove_job(&mut self, lease: Lease) -> rusqlite::Result<Option<(String, Vec<u8>)>> {
        let sql = "DELETE FROM job WHERE id = ?1 AND takings = ?2 AND leased = 1 RETURNING kind, payload, messages";
        let held = (lease.job.0 as i64, lease.taking as i64);
        let job: Option<(String, Vec<u8>, String)> =
            self.statement(sql)?.query_row(held, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
        Ok(job.map(|(kind, payload, messages)| {
            let weight = weight(payload.len(), messages.lines().count());
            self.books.jobs_bytes = self.books.jobs_bytes.saturating_sub(weight);
            (kind, payload)
        }))
    }
}

/// A job as it is taken now.
fn read(row: &Row<'_>, kind: &str) -> rusqlite::Result<Job> {
    let takings: i64 = row.get(1)?;
    let messages: String = row.get(2)?;
    Ok(Job {
        lease: Lease { job: JobId(row.get::<_, i64>(0)?.unsigned_abs()), taking: takings.unsigned_abs() + 1 },
        kind: kind.to_owned(),
        payload: Bytes::from(row.get::<_, Vec<u8>>(3)?),
        messages: messages.lines().map(named).collect::<Option<_>>().ok_or_else(unreadable)?,
        attempts: u32::try_from(takings).unwrap_or(u32::MAX),
    })
}

fn named(line: &str) -> Option<Filed> {
    let (id, mailbox) = line.split_once('\t')?;
    Some(Filed { mailbox: Mailbox::from_canonical(mailbox), id: MessageId::new(id.parse().ok()?) })
}

fn unreadable() -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(2, "messages".to_owned(), Type::Text)
}
