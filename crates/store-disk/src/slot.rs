//! Where the answer to one step is left, and where its caller waits for it.
//!
//! To wake a caller on another thread is a system call, and a group has dozens of callers on few threads. So all answers
//! are left first; then one caller of each thread is woken, and wakes the others of its thread, which costs nothing there.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

use store::{Error, Result};

/// The writer's end.
pub(crate) struct Slot<T> {
    shared: Arc<Shared<T>>,
    /// Where the caller runs.
    thread: ThreadId,
}

/// The caller's end.
pub(crate) struct Waiting<T>(Arc<Shared<T>>);

/// A caller that is to be woken.
pub(crate) struct Wake {
    thread: ThreadId,
    waker: Waker,
    relay: Arc<dyn Relay>,
}

/// A caller that can wake others when it is woken.
trait Relay: Send + Sync {
    /// Have it wake these; they are handed back when it will not be woken any more.
    fn hand(&self, others: Vec<Waker>) -> std::result::Result<(), Vec<Waker>>;
}

struct Shared<T>(Mutex<State<T>>);

struct State<T> {
    stage: Stage<T>,
    waker: Option<Waker>,
    others: Vec<Waker>,
}

enum Stage<T> {
    /// The writer has not come to it.
    Waiting,
    /// The writer is at it.
    Begun,
    Answered(Result<T>),
    /// The answer was taken, or nobody wants it.
    Over,
}

impl<T: Send + 'static> Slot<T> {
    pub(crate) fn new() -> (Self, Waiting<T>) {
        let state = State { stage: Stage::Waiting, waker: None, others: Vec::new() };
        let shared = Arc::new(Shared(Mutex::new(state)));
        (Self { shared: Arc::clone(&shared), thread: thread::current().id() }, Waiting(shared))
    }

    /// The writer comes to it; false when the caller has left.
    pub(crate) fn begin(&self) -> bool {
        let mut state = self.shared.hold();
        let waiting = matches!(state.stage, Stage::Waiting);
        if waiting {
            state.stage = Stage::Begun;
        }
        waiting
    }

    /// Leave the answer. Who is to be woken for it, if somebody sleeps.
    pub(crate) fn fill(self, answer: Result<T>) -> Option<Wake> {
        let mut state = self.shared.hold();
        if !matches!(state.stage, Stage::Over) {
            state.stage = Stage::Answered(answer);
        }
        let waker = state.waker.take();
        drop(state);
        let relay: Arc<dyn Relay> = Arc::clone(&self.shared) as _;
        waker.map(|waker| Wake { thread: self.thread, waker, relay })
    }
}

/// A step that was dropped was not answered: the writer broke down.
impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        let mut state = self.shared.hold();
        if matches!(state.stage, Stage::Waiting | Stage::Begun) {
            state.stage = Stage::Answered(Err(Error::UnknownOutcome { why: "the writer broke down".to_owned() }));
            if let Some(waker) = state.waker.take() {
                waker.wake();
            }
        }
    }
}

/// Wake all of them, one of each thread from here.
pub(crate) fn wake(mut wakes: Vec<Wake>) {
    while let Some(Wake { thread, waker, relay }) = wakes.pop() {
        let others: Vec<Waker> =
            wakes.extract_if(.., |other| other.thread == thread).map(|other| other.waker).collect();
        if let Err(others) = relay.hand(others) {
            others.into_iter().for_each(Waker::wake);
        }
        waker.wake();
    }
}

impl<T> Shared<T> {
    fn hold(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send> Relay for Shared<T> {
    fn hand(&self, others: Vec<Waker>) -> std::result::Result<(), Vec<Waker>> {
        let mut state = self.hold();
        if matches!(state.stage, Stage::Over) {
            return Err(others);
        }
        state.others = others;
        Ok(())
    }
}

impl<T> Waiting<T> {
    /// Wait for the answer. A step that was not begun within `begin_max` is taken back, and nothing was changed.
    pub(crate) async fn answer(mut self, begin_max: Duration) -> Result<T> {
        match tokio::time::timeout(begin_max, &mut self).await {
            Ok(answer) => answer,
            Err(_) if self.leave() => {
                Err(Error::try_later(format!("the disk is slow: nothing was written for {begin_max:?}")))
            }
            Err(_) => self.await,
        }
    }

    fn leave(&self) -> bool {
        let mut state = self.0.hold();
        let waiting = matches!(state.stage, Stage::Waiting);
        if waiting {
            state.stage = Stage::Over;
        }
        waiting
    }
}

impl<T> Future for Waiting<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let mut state = self.0.hold();
        if !matches!(state.stage, Stage::Answered(_)) {
            state.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        let Stage::Answered(answer) = std::mem::replace(&mut state.stage, Stage::Over) else { return Poll::Pending };
        let others = std::mem::take(&mut state.others);
        drop(state);
        others.into_iter().for_each(Waker::wake);
        Poll::Ready(answer)
    }
}

/// A caller that goes away wakes those it was to wake. What it asked for is done all the same.
impl<T> Drop for Waiting<T> {
    fn drop(&mut self) {
        let mut state = self.0.hold();
        if matches!(state.stage, Stage::Answered(_)) {
            state.stage = Stage::Over;
        }
        state.waker = None;
        let others = std::mem::take(&mut state.others);
        drop(state);
        others.into_iter().for_each(Waker::wake);
    }
}
