//! Where connections run: a few threads, each with an event loop of its own. A connection stays in its lane for life.
//!
//! Dialogues are short turns of read, think, write. On one shared scheduler every such turn may wake another thread to
//! steal it, which costs more than the turn itself: measured with small messages, twice the CPU. In lanes nothing moves.
//! The price: whoever thinks long in a lane holds up its neighbours, so long work belongs on the blocking pool.
//!
//! A lane that serves a few connections at once sleeps and wakes less often for each of them than two lanes that share
//! them, so a lane gets a pack of them before the next one is used, and beyond that the least busy one.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// So many tasks share a lane before another one is used.
const PACK: usize = 16;

/// The lanes of a program.
#[derive(Debug)]
pub struct Lanes {
    /// None: everything runs where it is spawned, as in tests.
    lanes: Vec<Lane>,
}

#[derive(Debug)]
struct Lane {
    runtime: Handle,
    busy: Arc<AtomicUsize>,
    /// Dropping it ends the lane.
    _open: oneshot::Sender<()>,
}

/// Counts a task of a lane as long as it runs.
struct Busy(Arc<AtomicUsize>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Lanes {
    /// So many lanes, each a thread.
    pub fn open(count: usize) -> io::Result<Arc<Self>> {
        let lanes = (0..count).map(Lane::open).collect::<io::Result<_>>()?;
        Ok(Arc::new(Self { lanes }))
    }

    /// No lanes of their own: tasks run on the runtime of whoever spawns them.
    pub fn here() -> Arc<Self> {
        Arc::new(Self { lanes: Vec::new() })
    }

    /// Run a task in the first lane with room in its pack, else in the one with the fewest.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let packs = |lane: &&Lane| lane.busy.load(Ordering::Relaxed).max(PACK - 1);
        let Some(lane) = self.lanes.iter().min_by_key(packs) else {
            tokio::spawn(task);
            return;
        };
        lane.busy.fetch_add(1, Ordering::Relaxed);
        let busy = Busy(Arc::clone(&lane.busy));
        lane.runtime.spawn(async move {
            let _busy = busy;
            task.await;
        });
    }
}

impl Lane {
    fn open(number: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (open, closed) = oneshot::channel::<()>();
        thread::Builder::new().name(format!("lane-{number}")).spawn(move || {
            // It ends with an error when the sender is dropped, which is what is waited for.
            let _ = runtime.block_on(closed);
        })?;
        Ok(Self { runtime: handle, busy: Arc::default(), _open: open })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn tasks_spread_over_lanes_and_a_panic_frees_its_place() {
        let lanes = Lanes::open(2).unwrap();
        let (told, heard) = mpsc::channel();
        for _ in 0..2 * PACK + 2 {
            let told = told.clone();
            lanes.spawn(async move {
                told.send(thread::current().name().map(str::to_owned)).unwrap();
                std::future::pending().await
            });
        }
        let names: Vec<_> =
            (0..2 * PACK + 2).map(|_| heard.recv_timeout(Duration::from_secs(10)).unwrap().unwrap()).collect();
        assert_eq!(names.iter().filter(|name| *name == "lane-0").count(), PACK + 1);
        lanes.spawn(async { panic!("on purpose") });
        while lanes.lanes.iter().map(|lane| lane.busy.load(Ordering::Relaxed)).sum::<usize>() > 2 * PACK + 2 {
            thread::yield_now();
        }
    }

    #[test]
    fn a_few_tasks_share_a_lane() {
        let lanes = Lanes::open(2).unwrap();
        for _ in 0..PACK {
            lanes.spawn(std::future::pending());
        }
        assert_eq!(lanes.lanes[0].busy.load(Ordering::Relaxed), PACK);
        lanes.spawn(std::future::pending());
        assert_eq!(lanes.lanes[1].busy.load(Ordering::Relaxed), 1);
    }
}
