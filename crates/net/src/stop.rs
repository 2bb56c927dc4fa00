//! The graceful stop: told once to everybody, in two steps. First finish what runs, then end at once.

use std::time::Duration;

use tokio::sync::{mpsc, watch};

/// How far the stop has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// Business as usual.
    Running,
    /// Take nothing new, finish what runs.
    Draining,
    /// End now.
    Ending,
}

/// Tells everybody to stop. Held by the program.
#[derive(Debug)]
pub struct Stopper {
    phase: watch::Sender<Phase>,
    alive: mpsc::Receiver<()>,
}

/// Hears of the stop. Cloned into everything that runs; the stop is complete when the last clone is gone.
#[derive(Clone, Debug)]
pub struct Stop {
    phase: watch::Receiver<Phase>,
    _alive: mpsc::Sender<()>,
}

/// The two ends of a stop.
pub fn channel() -> (Stopper, Stop) {
    let (phase_in, phase_out) = watch::channel(Phase::Running);
    let (alive_in, alive_out) = mpsc::channel(1);
    (Stopper { phase: phase_in, alive: alive_out }, Stop { phase: phase_out, _alive: alive_in })
}

impl Stopper {
    /// Go on to this phase; a phase is never taken back.
    pub fn advance(&self, phase: Phase) {
        self.phase.send_if_modified(|now| {
            let later = phase > *now;
            *now = (*now).max(phase);
            later
        });
    }

    /// Wait until nothing that heard of the stop runs any more.
    pub async fn finished(&mut self) {
        while self.alive.recv().await.is_some() {}
    }

    /// Drain, wait so long, end the rest, and wait so long again. Whether all ended by themselves.
    pub async fn drain(&mut self, grace: Duration, last: Duration) -> bool {
        self.advance(Phase::Draining);
        if tokio::time::timeout(grace, self.finished()).await.is_ok() {
            return true;
        }
        self.advance(Phase::Ending);
        let _ = tokio::time::timeout(last, self.finished()).await;
        false
    }
}

impl Stop {
    /// How far it has come.
    pub fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Wait until this phase, or a later one, is reached. Never returns early, also when the program has forgotten us.
    pub async fn reached(&mut self, phase: Phase) {
        if self.phase.wait_for(|now| *now >= phase).await.is_err() {
            std::future::pending().await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stop_is_complete_when_the_last_listener_is_gone() {
        let (mut stopper, stop) = channel();
        let mut worker = stop.clone();
        let task = tokio::spawn(async move {
            worker.reached(Phase::Draining).await;
            worker.phase()
        });
        drop(stop);
        assert!(stopper.drain(Duration::from_secs(5), Duration::from_secs(5)).await);
        assert_eq!(task.await.unwrap(), Phase::Draining);
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_finish_is_ended() {
        let (mut stopper, mut stop) = channel();
        let task = tokio::spawn(async move { stop.reached(Phase::Ending).await });
        assert!(!stopper.drain(Duration::from_secs(5), Duration::from_secs(5)).await);
        task.await.unwrap();
    }

    #[test]
    fn a_phase_is_never_taken_back() {
        let (stopper, stop) = channel();
        stopper.advance(Phase::Ending);
        stopper.advance(Phase::Draining);
        assert_eq!(stop.phase(), Phase::Ending);
    }
}
