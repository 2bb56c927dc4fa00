//! Those who follow what is refused, each with a queue of its own: bounded, filled without waiting, read by one.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use super::{Acted, Refusal};

/// What a watcher hears.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Something was refused.
    One(Arc<Refusal>),
    /// A fault on demand did something else.
    Acted(Arc<Acted>),
    /// So much happened that this watcher did not read in time.
    Missed(u64),
}

/// Somebody following what is refused. Dropping it ends that.
pub struct RefusalWatch(Arc<Queue>);

/// All of them.
pub(super) struct Watchers {
    queues: Mutex<Vec<Weak<Queue>>>,
    queue_max: usize,
}

#[derive(Default)]
struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    news: VecDeque<Refused>,
    missed: u64,
    reader: Option<Waker>,
}

impl Watchers {
    pub(super) fn new(queue_max: usize) -> Self {
        Self { queues: Mutex::default(), queue_max: queue_max.max(1) }
    }

    pub(super) fn enter(&self) -> RefusalWatch {
        let queue = Arc::new(Queue::default());
        self.lock().push(Arc::downgrade(&queue));
        RefusalWatch(queue)
    }

    /// Tell everybody, and forget those who went.
    pub(super) fn tell(&self, news: impl FnOnce() -> Refused) {
        let mut queues = self.lock();
        if queues.is_empty() {
            return;
        }
        let news = news();
        queues.retain(|queue| {
            let queue = queue.upgrade();
            queue.inspect(|queue| queue.push(news.clone(), self.queue_max)).is_some()
        });
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// No holder waits or calls out, and a queue's own lock is only ever taken inside this one or alone.
    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Queue>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn push(&self, news: Refused, queue_max: usize) {
        let mut waiting = self.lock();
        if waiting.news.len() >= queue_max {
            waiting.news.pop_front();
            waiting.missed += 1;
        }
        waiting.news.push_back(news);
        let reader = waiting.reader.take();
        drop(waiting);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RefusalWatch {
    /// The next one.
    pub async fn next(&mut self) -> Refused {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// The same, for those who wait for several things at once.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Refused> {
        let mut waiting = self.0.lock();
        if waiting.missed > 0 {
            return Poll::Ready(Refused::Missed(std::mem::take(&mut waiting.missed)));
        }
        if let Some(news) = waiting.news.pop_front() {
            return Poll::Ready(news);
        }
        waiting.reader = Some(context.waker().clone());
        Poll::Pending
    }
}
