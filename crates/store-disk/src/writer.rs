//! The one writer: a thread that takes what waits, does it all in one transaction, commits, and only then answers. While
//! it commits, more gathers; so the busier the store, the more messages share one sync.
//!
//! When a transaction of several steps fails, each is tried again alone, so that one that cannot be done fails nobody
//! else. Whether a failed commit left anything behind is never guessed: it is proven, or the outcome is unknown.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};
use store::Error;

use crate::checkpoint::Checkpoints;
use crate::desk::Desk;
use crate::engine::Shared;
use crate::error::{is_io, is_unsynced, undone};
use crate::health::Health;
use crate::inbox::{Inbox, Rejected};
use crate::pack::Press;
use crate::slot::wake;
use crate::step::Step;

/// Steps in one transaction.
const GROUP_MAX: usize = 256;
/// Bytes of new mail in one transaction; a single message may have more.
const GROUP_BYTES_MAX: u64 = 16 << 20;
/// How often the writer looks whether something is to be let go.
const SWEEP_EVERY: Duration = Duration::from_millis(200);
/// Without anything to do for so long, nobody is in the way.
const IDLE_AFTER: Duration = Duration::from_millis(250);
/// Messages let go in one transaction: few while mail comes, more when nobody is there.
const SWEEP_BUSY: usize = 64;
const SWEEP_IDLE: usize = 512;
/// After a slice that took a time, mail has the disk for so many times as long; for as long when old mail has waited
/// a while, so that under any load as much goes as comes.
const SWEEP_REST: u32 = 2;
/// With the feature `lying`: how long a message is acknowledged before it is committed.
const LIE: Duration = Duration::from_millis(20);
/// After a failure.
const SWEEP_LATER: Duration = Duration::from_secs(5);

type Steps = Vec<Box<dyn Step>>;

/// The writer as the others see it.
pub(crate) struct Writer {
    inbox: Arc<Inbox<Box<dyn Step>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Why a transaction did not succeed.
enum Trouble {
    /// Nothing of it is there.
    Undone(rusqlite::Error),
    /// It may be there or not.
    Unknown(rusqlite::Error),
}

impl Writer {
    /// Start the thread; it has read what it must know when this returns.
    pub(crate) fn start(
        connection: Connection,
        shared: Arc<Shared>,
        checkpoints: Checkpoints,
    ) -> rusqlite::Result<Self> {
        let inbox = Arc::new(Inbox::new(shared.settings.queue_max));
        let (ready, begun) = sync_channel(1);
        let own = Arc::clone(&inbox);
        let thread = thread::Builder::new().name("store-writer".to_owned()).spawn(move || {
            let health = Arc::clone(&shared.health);
            let ran = catch_unwind(AssertUnwindSafe(|| run(connection, &own, shared, checkpoints, &ready)));
            if ran.is_err() {
                health.fail("the writer broke down".to_owned());
            }
            own.close();
            // Whoever still waits learns that it is over: a step dropped is an outcome unknown.
            while own.take().is_some() {}
        });
        let thread = thread.map_err(|_| no_thread())?;
        begun.recv().map_err(|_| no_thread())??;
        Ok(Self { inbox, thread: Mutex::new(Some(thread)) })
    }

    /// Hand it a step.
    pub(crate) fn put(&self, step: Box<dyn Step>) -> store::Result<()> {
        self.inbox.put(step).map_err(|rejected| match rejected {
            Rejected::Full(_) => Error::try_later("the disk is slow: store.disk.queue_max writes wait for it"),
            Rejected::Closed(_) => Error::try_later("the store is closed"),
        })
    }

    /// Do what is left, and end.
    pub(crate) fn close(&self) {
        self.inbox.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It catches its own panics.
            let _ = thread.join();
        }
    }
}

fn no_thread() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOMEM),
        Some("cannot start a thread".to_owned()),
    )
}

fn run(
    connection: Connection,
    inbox: &Inbox<Box<dyn Step>>,
    shared: Arc<Shared>,
    checkpoints: Checkpoints,
    ready: &SyncSender<rusqlite::Result<()>>,
) {
    let Shared { settings, clock, sundial, feeds, health, press, left_out, .. } = &*shared;
    let (settings, clock) = (Arc::clone(settings), Arc::clone(clock));
    let (sundial, feeds, left_out) = (Arc::clone(sundial), Arc::clone(feeds), Arc::clone(left_out));
    let desk = Desk::new(&connection, settings, clock, sundial, feeds, left_out);
    let desk = match desk {
        Ok(desk) => desk,
        Err(error) => return drop(ready.send(Err(error))),
    };
    let mut work = Work {
        desk,
        connection: &connection,
        health,
        press,
        checkpoints,
        next_sweep: Instant::now(),
        served: Instant::now(),
        messages: 0,
        transactions: 0,
    };
    let _ = ready.send(Ok(()));
    while let Some(group) = inbox.take_group(GROUP_MAX, work.patience()) {
        work.serve(group);
        work.tend(inbox);
    }
    tracing::debug!(messages = work.messages, transactions = work.transactions, "the store is closed");
    work.checkpoints.finish(&connection);
}

/// The thread at work.
struct Work<'c> {
    desk: Desk<'c>,
    connection: &'c Connection,
    health: &'c Health,
    press: &'c Press,
    checkpoints: Checkpoints,
    next_sweep: Instant,
    /// When there was last something to do.
    served: Instant,
    messages: u64,
    transactions: u64,
}

impl Work<'_> {
    fn patience(&self) -> Duration {
        self.next_sweep.saturating_duration_since(Instant::now()).min(SWEEP_EVERY)
    }

    fn serve(&mut self, mut steps: Steps) {
        if !steps.is_empty() {
            self.served = Instant::now();
            self.press.note_load(steps.len());
        }
        steps.retain(|step| step.begin());
        while !steps.is_empty() {
            let done = self.attempt(&mut steps);
            match done {
                Ok(number) => answer(steps.drain(..number)),
                Err(Trouble::Unknown(error)) => return answer_unknown(steps, &error),
                Err(Trouble::Undone(error)) => {
                    tracing::debug!(%error, steps = steps.len(), "a transaction failed: its steps are tried one by one");
                    steps.drain(..).for_each(|step| self.serve_alone(step));
                }
            }
        }
    }

    fn serve_alone(&mut self, step: Box<dyn Step>) {
        let mut alone = vec![step];
        let failed = match self.attempt(&mut alone) {
            Ok(_) => None,
            Err(Trouble::Undone(error)) => Some(undone(error)),
            Err(Trouble::Unknown(error)) => return answer_unknown(alone, &error),
        };
        let woken = alone.pop().and_then(|step| step.answer(failed));
        wake(woken.into_iter().collect());
    }

    /// Do steps in one transaction, as many as fit; how many are durable now.
    fn attempt(&mut self, steps: &mut Steps) -> Result<usize, Trouble> {
        if self.health.check().is_err() {
            return Err(Trouble::Undone(stopped()));
        }
        let done = match self.write(steps) {
            Ok(done) => done,
            Err(error) => return Err(Trouble::Undone(self.undo(error))),
        };
        if cfg!(feature = "lying") {
            answer(steps.drain(..done));
            thread::sleep(LIE);
            return self.commit().map(|()| 0);
        }
        self.commit()?;
        Ok(done)
    }

    fn write(&mut self, steps: &mut [Box<dyn Step>]) -> rusqlite::Result<usize> {
        self.desk.begin()?;
        let mut done = 0;
        for step in steps {
            step.run(&mut self.desk)?;
            done += 1;
            if self.desk.pending_bytes() > GROUP_BYTES_MAX {
                break;
            }
        }
        self.desk.close_books()?;
        Ok(done)
    }

    fn commit(&mut self) -> Result<(), Trouble> {
        if let Err(error) = self.desk.commit() {
            self.desk.roll_back();
            return Err(self.judge(error));
        }
        self.transactions += 1;
        match self.desk.committed() {
            Ok(messages) => self.messages += messages,
            Err(error) => tracing::warn!(%error, "the size of the database could not be read"),
        }
        self.checkpoints.after_commit(self.connection, self.health);
        Ok(())
    }

    /// A transaction failed before its commit: nothing of it is there. A sync that failed on the way ends all writing.
    fn undo(&mut self, error: rusqlite::Error) -> rusqlite::Error {
        self.desk.roll_back();
        if is_unsynced(&error) {
            self.health.fail(error.to_string());
        }
        error
    }

    /// What a failed commit left behind.
    fn judge(&mut self, error: rusqlite::Error) -> Trouble {
        if is_unsynced(&error) {
            self.health.fail(error.to_string());
            return Trouble::Unknown(error);
        }
        if error.sqlite_error_code() == Some(ErrorCode::DiskFull) || !is_io(&error) {
            return Trouble::Undone(error);
        }
        // A page was not written, or not wholly. The next commit takes its place in the log: once that is durable, nothing
        // of this one can ever come back.
        match self.prove() {
            Ok(()) => Trouble::Undone(error),
            Err(again) => {
                if is_unsynced(&again) {
                    self.health.fail(again.to_string());
                }
                Trouble::Unknown(error)
            }
        }
    }

    /// Commit a transaction that changes nothing.
    fn prove(&mut self) -> rusqlite::Result<()> {
        let proven = self.desk.begin().and_then(|()| self.desk.close_books()).and_then(|()| self.desk.commit());
        if proven.is_err() {
            self.desk.roll_back();
        }
        proven
    }

    /// Let go what is due, a slice at a time, and no more often than leaves the disk to the mail.
    fn tend(&mut self, inbox: &Inbox<Box<dyn Step>>) {
        let begun = Instant::now();
        if begun < self.next_sweep || self.health.check().is_err() {
            return;
        }
        let busy = !inbox.is_empty() || self.served.elapsed() < IDLE_AFTER;
        let rest = match self.sweep(if busy { SWEEP_BUSY } else { SWEEP_IDLE }) {
            Ok(true) if busy && self.desk.is_sweep_overdue() => begun.elapsed(),
            Ok(true) if busy => begun.elapsed() * SWEEP_REST,
            Ok(true) => Duration::ZERO,
            Ok(false) => SWEEP_EVERY,
            Err(error) => {
                tracing::warn!(%error, "old mail could not be let go; it is tried again");
                SWEEP_LATER
            }
        };
        self.next_sweep = Instant::now() + rest;
    }

    /// One slice; whether there was anything to do.
    fn sweep(&mut self, budget: usize) -> rusqlite::Result<bool> {
        if !self.desk.is_sweep_due()? {
            return Ok(false);
        }
        let swept = self.desk.begin().and_then(|()| {
            let any = self.desk.sweep(budget)? > 0 || self.desk.give_back()?;
            self.desk.close_books()?;
            Ok(any)
        });
        let swept = match swept {
            Ok(true) => {
                self.commit().map(|()| true).map_err(|(Trouble::Undone(error) | Trouble::Unknown(error))| error)
            }
            Ok(false) => {
                self.desk.roll_back();
                Ok(false)
            }
            Err(error) => Err(self.undo(error)),
        };
        if swept.is_err() {
            self.desk.look_again();
        }
        swept
    }
}

/// What these said is durable.
fn answer(steps: impl Iterator<Item = Box<dyn Step>>) {
    wake(steps.filter_map(|step| step.answer(None)).collect());
}

fn answer_unknown(steps: Steps, error: &rusqlite::Error) {
    let unknown = |step: Box<dyn Step>| step.answer(Some(Error::UnknownOutcome { why: error.to_string() }));
    wake(steps.into_iter().filter_map(unknown).collect());
}

fn stopped() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY),
        Some("the store has stopped writing".to_owned()),
    )
}
