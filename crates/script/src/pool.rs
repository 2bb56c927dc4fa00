//! The threads that scripts run on: a bounded number of them, each with a VM of its own, and a bounded queue before them.
//!
//! As many work at once as half of the cores. One that waits for the network, or has been at work for long, gives its seat
//! to another, so that a script that waits or loops holds up no mail but its own. What is told afterwards comes behind
//! what is asked before, and never takes more than half of the threads.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Instant;

use mailroom::hooks::Moment;
use tokio::sync::oneshot;

use crate::complaints::Complaints;
use crate::counters::COUNTERS;
use crate::desk::{Desk, Sink, Web};
use crate::event::{Event, Said};
use crate::failure::Failure;
use crate::leash::Leash;
use crate::notes::Notes;
use crate::probe::Probe;
use crate::program::{Program, bit};
use crate::settings::Settings;
use crate::vm::Vm;

/// One event, and who waits for what becomes of it.
pub(crate) struct Job {
    pub(crate) event: Event,
    /// Its time runs from when it was handed in.
    pub(crate) until: Instant,
    pub(crate) answer: Option<oneshot::Sender<Result<Said, Failure>>>,
}

pub(crate) struct Pool {
    state: Mutex<State>,
    bell: Condvar,
    /// The moments that the program wants, a bit for each: asked for every mail.
    wanted: AtomicU8,
    seats: usize,
    settings: Arc<Settings>,
    web: Web,
    notes: Arc<Notes>,
    complaints: Arc<Complaints>,
    me: Weak<Self>,
    pub(crate) probe: Probe,
}

struct State {
    program: Arc<Program>,
    before: VecDeque<Job>,
    after: VecDeque<Job>,
    threads: usize,
    /// Threads with nothing to do.
    idle: usize,
    /// Threads that were called and have not come yet.
    called: usize,
    /// Threads that hold a seat.
    seated: usize,
    /// Threads that are at work on what is told afterwards.
    telling: usize,
    closed: bool,
}

impl Pool {
    pub(crate) fn new(
        program: Arc<Program>,
        settings: Arc<Settings>,
        web: Web,
        complaints: Arc<Complaints>,
    ) -> Arc<Self> {
        let state = State {
            program,
            before: VecDeque::new(),
            after: VecDeque::new(),
            threads: 0,
            idle: 0,
            called: 0,
            seated: 0,
            telling: 0,
            closed: false,
        };
        Arc::new_cyclic(|me| Self {
            wanted: AtomicU8::new(state.program.wanted()),
            state: Mutex::new(state),
            bell: Condvar::new(),
            seats: seats().min(settings.workers),
            notes: Arc::new(Notes::new(settings.notes_max)),
            settings,
            web,
            complaints,
            me: me.clone(),
            probe: Probe::new(),
        })
    }

    pub(crate) fn wants(&self, moment: Moment) -> bool {
        self.wanted.load(Relaxed) & bit(moment) != 0
    }

    pub(crate) fn replace(&self, program: Arc<Program>) {
        let mut state = self.state();
        self.wanted.store(program.wanted(), Relaxed);
        state.program = program;
    }

    /// Whether nobody is at work.
    #[cfg(test)]
    pub(crate) fn is_quiet(&self) -> bool {
        let state = self.state();
        state.idle == state.threads
    }

    /// No more work. What runs, runs to its end, which nobody waits for.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.before.clear();
        state.after.clear();
        self.bell.notify_all();
    }

    /// Hand in an event.
    pub(crate) fn submit(&self, job: Job) -> Result<(), Failure> {
        let mut state = self.state();
        let queue = if job.event.is_over() { &mut state.after } else { &mut state.before };
        if queue.len() >= self.settings.queue_max {
            return Err(Failure::Full);
        }
        queue.push_back(job);
        self.call(state);
        Ok(())
    }

    /// See that somebody comes, where there is a free seat.
    fn call(&self, mut state: MutexGuard<'_, State>) {
        if state.seated >= self.seats || state.closed {
            return;
        }
        if state.idle > 0 {
            state.idle -= 1;
            state.called += 1;
            state.seated += 1;
            // Whoever wakes up wants to look at once.
            drop(state);
            self.bell.notify_one();
        } else if state.threads < self.settings.workers.max(1) {
            let Some(me) = self.me.upgrade() else { return };
            let name = format!("script {}", state.threads + 1);
            if thread::Builder::new().name(name).spawn(move || me.work()).is_ok() {
                state.threads += 1;
                state.seated += 1;
            }
        }
    }

    /// Somebody with a seat is going to take long: another may sit down.
    fn stand_up(&self) {
        let mut state = self.state();
        state.seated -= 1;
        if !state.before.is_empty() || !state.after.is_empty() {
            self.call(state);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of a thread.
    fn work(self: Arc<Self>) {
        let mut worker = Worker::new(&self);
        let mut done = Done::default();
        while let Some((job, program)) = self.next(&done) {
            let telling = job.event.is_over();
            self.probe.measure(|| worker.run(&self, job, &program));
            done = Done { telling, stood_up: worker.desk.leash.end() };
        }
    }

    /// The next job for somebody with a seat; it waits for one, without a seat. None: there will be none.
    fn next(&self, done: &Done) -> Option<(Job, Arc<Program>)> {
        let mut state = self.state();
        state.telling -= usize::from(done.telling);
        state.seated += usize::from(done.stood_up);
        loop {
            if state.closed {
                return None;
            }
            if let Some(job) = self.take(&mut state) {
                return Some((job, Arc::clone(&state.program)));
            }
            state.seated -= 1;
            state.idle += 1;
            while state.called == 0 && !state.closed {
                state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.called = state.called.saturating_sub(1);
        }
    }

    fn take(&self, state: &mut State) -> Option<Job> {
        // Those who stood up and came back may be too many now.
        if state.seated > self.seats {
            return None;
        }
        if let Some(job) = state.before.pop_front() {
            return Some(job);
        }
        if state.telling >= self.settings.workers.div_ceil(2) {
            return None;
        }
        let job = state.after.pop_front()?;
        state.telling += 1;
        Some(job)
    }
}

/// How many work at once: the connections need the other half of the cores. One that works on without a pause is also
/// the cheaper one, as nobody has to be woken for each mail.
fn seats() -> usize {
    thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2))
}

/// What a thread has just done.
#[derive(Default)]
struct Done {
    /// What is told afterwards.
    telling: bool,
    /// It took long, and gave its seat away.
    stood_up: bool,
}

/// What a thread has of its own.
struct Worker {
    desk: Arc<Desk>,
    vm: Option<Vm>,
}

impl Worker {
    fn new(pool: &Arc<Pool>) -> Self {
        let seat = Arc::downgrade(pool);
        let leash = Leash::new(move || {
            if let Some(pool) = seat.upgrade() {
                pool.stand_up();
            }
        });
        let desk = Desk::new(leash, Arc::clone(&pool.notes), pool.web.clone(), Sink::Log, Arc::clone(&pool.settings));
        Self { desk, vm: None }
    }

    fn run(&mut self, pool: &Pool, job: Job, program: &Arc<Program>) {
        let Job { event, until, answer } = job;
        let said = match answer.as_ref().is_some_and(oneshot::Sender::is_closed) {
            // Whoever asked has gone.
            true => return,
            false if Instant::now() >= until => Err(Failure::NoWorker(pool.settings.deadline)),
            false => {
                catch_unwind(AssertUnwindSafe(|| self.said(&event, until, program))).unwrap_or(Err(Failure::Broken))
            }
        };
        // A VM whose script had to be stopped is not used again.
        if said.as_ref().is_err_and(|failure| !failure.is_harmless()) {
            self.vm = None;
        }
        match (answer, said) {
            (Some(answer), said) => {
                if said.is_ok() {
                    COUNTERS.done.increment(1);
                }
                let _ = answer.send(said);
            }
            (None, Ok(_)) => COUNTERS.done.increment(1),
            (None, Err(failure)) => {
                COUNTERS.failed.increment(1);
                pool.complaints.say(|left_out| tracing::error!(left_out, "script failed: {failure}"));
            }
        }
    }

    fn said(&mut self, event: &Event, until: Instant, program: &Arc<Program>) -> Result<Said, Failure> {
        let vm = match self.vm.take() {
            Some(vm) if Arc::ptr_eq(&vm.program, program) => vm,
            _ => Vm::new(program, &self.desk).map_err(|error| Failure::of("script", &error))?,
        };
        let vm = self.vm.insert(vm);
        let said = vm.run(event, until, &mut |_| ());
        vm.sweep();
        said
    }
}
