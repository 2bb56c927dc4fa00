//! The jobs, written in the same transaction as the mail that carries them.
//!
//! Of a lane only the oldest can be taken, so the others are marked as standing behind it, and the next is let forward when
//! that one goes. No question looks at more jobs than it is answered with.

use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use mail::{Mailbox, MessageId};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row};
use store::outbox::{Handback, Job, JobId, admit};
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

/// Whoever had jobs in hand is gone with its process, and this one need not wait until their leases end. A lease that came
/// through it holds, as one that has lapsed does, until somebody takes the job.
pub(crate) fn let_go(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("UPDATE job SET ready_at = 0 WHERE leased = 1", []).map(drop)
}

fn weight(payload: usize, messages: usize) -> u64 {
    JOB_WEIGHT + payload as u64 + MESSAGE_WEIGHT * messages as u64
}

/// Jobs that there is room for.
#[derive(Default)]
pub(super) struct Admitted<'j> {
    jobs: Vec<&'j NewJob>,
    left_out: u64,
}

impl Desk<'_> {
    /// Those that there is room for when they name up to so many messages; refused when one finds none that must.
    pub(super) fn admit_jobs<'j>(&self, jobs: &'j [NewJob], messages: usize) -> store::Result<Admitted<'j>> {
        if jobs.is_empty() {
            return Ok(Admitted::default());
        }
        let room = self.settings.jobs_bytes_max.saturating_sub(self.books.jobs_bytes);
        let fits = admit(jobs, room, |job| weight(job.payload.len(), messages)).ok_or_else(|| self.full_of_jobs())?;
        let left_out = fits.iter().filter(|fits| !**fits).count() as u64;
        let jobs = jobs.iter().zip(fits).filter(|(_, fits)| *fits).map(|(job, _)| job).collect();
        Ok(Admitted { jobs, left_out })
    }

    fn full_of_jobs(&self) -> Error {
        let max = self.settings.jobs_bytes_max;
        Error::Full { what: format!("jobs wait that take the {max} bytes that store.disk.jobs_bytes_max allows") }
    }

    /// Add jobs that carry the news of these messages.
    pub(super) fn add_jobs(&mut self, admitted: &Admitted<'_>, messages: &[Filed]) -> rusqlite::Result<()> {
        self.left_out += admitted.left_out;
        if admitted.jobs.is_empty() {
            return Ok(());
        }
        let named: String =
            messages.iter().map(|filed| format!("{}\t{}\n", filed.id.number(), filed.mailbox)).collect();
        for job in &admitted.jobs {
            self.add_job(job, &named)?;
        }
        Ok(())
    }

    fn add_job(&mut self, job: &NewJob, messages: &str) -> rusqlite::Result<JobId> {
        self.books.last_job += 1;
        let id = self.books.last_job;
        let sql = "INSERT INTO job (id, kind, lane, ready_at, leased, takings, messages, payload, behind) \
                   VALUES (?1, ?2, ?3, ?4, 0, 0, ?5, ?6, \
                   ?3 IS NOT NULL AND EXISTS (SELECT 1 FROM job WHERE kind = ?2 AND lane = ?3))";
        let ready_at = job.not_before.map_or(0, micros);
        self.statement(sql)?.execute((id, &job.kind, &job.lane, ready_at, messages, &job.payload[..]))?;
        self.books.jobs_bytes += weight(job.payload.len(), messages.lines().count());
        Ok(JobId(id.unsigned_abs()))
    }

    /// Add jobs that nothing carries, all or none.
    pub(crate) fn submit_jobs(&mut self, jobs: &[NewJob]) -> Result<Vec<JobId>, Fault> {
        let more: u64 = jobs.iter().map(|job| weight(job.payload.len(), 0)).sum();
        self.check_room_for_jobs(more)?;
        Ok(jobs.iter().map(|job| self.add_job(job, "")).collect::<rusqlite::Result<_>>()?)
    }

    fn check_room_for_jobs(&self, more: u64) -> store::Result<()> {
        let fits = self.books.jobs_bytes + more <= self.settings.jobs_bytes_max;
        if fits { Ok(()) } else { Err(self.full_of_jobs()) }
    }

    /// Take jobs of a kind under a lease: those that have waited longest.
    pub(crate) fn take_jobs(&mut self, kind: &str, limit: usize, lease: Duration) -> Result<Vec<Job>, Fault> {
        let lease = SignedDuration::try_from(lease).unwrap_or(SignedDuration::MAX);
        let until = micros(self.now.checked_add(lease).unwrap_or(Timestamp::MAX));
        let sql = "SELECT id, takings, messages, payload, lane FROM job \
                   WHERE kind = ?1 AND behind = 0 AND ready_at <= ?2 ORDER BY ready_at, id LIMIT ?3";
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
        let Some(gone) = self.remove_job(lease)? else { return Ok(Handback::Late) };
        let sql = "INSERT INTO dead_job (id, kind, lane, payload, messages, attempts, reason, died_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let (id, attempts, died_at) = (lease.job.0 as i64, lease.taking as i64, micros(self.now));
        let Gone { kind, lane, payload, messages } = gone;
        self.statement(sql)?.execute((id, kind, lane, payload, messages, attempts, reason, died_at))?;
        let sql =
            "DELETE FROM dead_job WHERE place <= (SELECT place FROM dead_job ORDER BY place DESC LIMIT 1 OFFSET ?1)";
        self.statement(sql)?.execute([i64::try_from(self.settings.dead_jobs_max).unwrap_or(i64::MAX)])?;
        Ok(Handback::Taken)
    }

    /// A dead job waits again, at the end of its lane.
    pub(crate) fn revive_job(&mut self, job: JobId) -> Result<Option<JobId>, Fault> {
        let sql = "SELECT kind, lane, payload, messages FROM dead_job WHERE id = ?1";
        let id = i64::try_from(job.0).unwrap_or(0);
        let Some(dead) = self.statement(sql)?.query_row([id], Gone::read).optional()? else { return Ok(None) };
        self.check_room_for_jobs(weight(dead.payload.len(), dead.messages.lines().count()))?;
        self.statement("DELETE FROM dead_job WHERE id = ?1")?.execute([id])?;
        let again = NewJob { lane: dead.lane, ..NewJob::new(dead.kind, dead.payload) };
        Ok(Some(self.add_job(&again, &dead.messages)?))
    }

    /// Take a job away that this lease still holds. It was the first of its lane: the next is let forward.
    fn remove_job(&mut self, lease: Lease) -> rusqlite::Result<Option<Gone>> {
        let sql =
            "DELETE FROM job WHERE id = ?1 AND takings = ?2 AND leased = 1 RETURNING kind, lane, payload, messages";
        let held = (lease.job.0 as i64, lease.taking as i64);
        let Some(gone) = self.statement(sql)?.query_row(held, Gone::read).optional()? else { return Ok(None) };
        if gone.lane.is_some() {
            let sql = "UPDATE job SET behind = 0 WHERE id = (SELECT min(id) FROM job WHERE kind = ?1 AND lane = ?2)";
            self.statement(sql)?.execute((&gone.kind, &gone.lane))?;
        }
        let weight = weight(gone.payload.len(), gone.messages.lines().count());
        self.books.jobs_bytes = self.books.jobs_bytes.saturating_sub(weight);
        Ok(Some(gone))
    }
}

/// A job that is taken away from where it was.
struct Gone {
    kind: String,
    lane: Option<String>,
    payload: Vec<u8>,
    messages: String,
}

impl Gone {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { kind: row.get(0)?, lane: row.get(1)?, payload: row.get(2)?, messages: row.get(3)? })
    }
}

/// A job as it is taken now.
fn read(row: &Row<'_>, kind: &str) -> rusqlite::Result<Job> {
    let takings: i64 = row.get(1)?;
    let messages: String = row.get(2)?;
    Ok(Job {
        lease: Lease { job: JobId(row.get::<_, i64>(0)?.unsigned_abs()), taking: takings.unsigned_abs() + 1 },
        kind: kind.to_owned(),
        lane: row.get(4)?,
        payload: Bytes::from(row.get::<_, Vec<u8>>(3)?),
        messages: named(&messages)?,
        attempts: u32::try_from(takings).unwrap_or(u32::MAX),
    })
}

/// The messages that a job names, a line each.
pub(crate) fn named(messages: &str) -> rusqlite::Result<Vec<Filed>> {
    let filed = |line: &str| {
        let (id, mailbox) = line.split_once('\t')?;
        Some(Filed { mailbox: Mailbox::from_canonical(mailbox), id: MessageId::new(id.parse().ok()?) })
    };
    let unreadable = || rusqlite::Error::InvalidColumnType(2, "messages".to_owned(), Type::Text);
    messages.lines().map(filed).collect::<Option<_>>().ok_or_else(unreadable)
}
