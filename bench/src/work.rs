//! How much a load generator does, how fast and over how many connections: the part that is the same for all protocols.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures_util::future::join_all;
use tokio::time::sleep_until;

use crate::Asked;
use crate::cpu::cpu;
use crate::figures::{Figures, line};

/// How much, how fast, over how many connections.
#[derive(Debug)]
pub struct Work {
    connections: usize,
    messages: usize,
    time: Option<Duration>,
    /// One connection begins a message so often; without it, as soon as the last one is done.
    every: Option<Duration>,
    json: bool,
    claimed: AtomicUsize,
}

impl Work {
    /// `--connections N [--messages M] [--seconds S] [--rate R] [--json]`.
    pub fn asked(asked: &mut Asked) -> Result<Self> {
        let connections = asked.value("--connections")?.unwrap_or(1);
        let (messages, seconds) = (asked.value("--messages")?, asked.value::<f64>("--seconds")?);
        ensure!(messages.is_some() || seconds.is_some(), "say how much: --messages or --seconds");
        ensure!(connections > 0, "--connections is one or more");
        let rate: Option<f64> = asked.value("--rate")?;
        let every = rate.map(|rate| Duration::from_secs_f64(connections as f64 / rate));
        let time = seconds.map(Duration::from_secs_f64);
        let json = asked.flag("--json");
        let messages = messages.unwrap_or(usize::MAX);
        Ok(Self { connections, messages, time, every, json, claimed: AtomicUsize::new(0) })
    }

    /// Open every connection, then let each do one after the other; the line that tells of it. A connection that fails
    /// is opened anew, and the failure is told.
    pub async fn run<S>(
        &self,
        open: impl AsyncFn(usize) -> Result<S>,
        one: impl AsyncFn(&mut S, usize) -> Result<usize>,
    ) -> Result<String> {
        let opened = join_all((0..self.connections).map(|number| open(number))).await;
        let sessions = opened.into_iter().collect::<Result<Vec<_>>>()?;
        let (begin, used) = (Instant::now(), cpu()?);
        let clients = sessions.into_iter().enumerate();
        let all = join_all(clients.map(|(number, session)| self.client(number, session, begin, &open, &one))).await;
        let mut figures = Figures::default();
        all.into_iter().for_each(|one| figures.add(one));
        let told = figures.told(begin.elapsed(), cpu()? - used);
        Ok(if self.json { told.to_string() } else { line(&told) })
    }

    async fn client<S>(
        &self,
        number: usize,
        mut session: S,
        begin: Instant,
        open: &impl AsyncFn(usize) -> Result<S>,
        one: &impl AsyncFn(&mut S, usize) -> Result<usize>,
    ) -> Figures {
        let mut figures = Figures::default();
        let mut count = 0;
        loop {
            // With a rate it is timed from when it was due: a server that is late is late for all that wait behind it.
            let from = self.due(number, count).map_or_else(Instant::now, |due| begin + due);
            let Some(claimed) = self.claim(from - begin) else { return figures };
            if self.every.is_some() {
                sleep_until(from.into()).await;
            }
            count += 1;
            let done = one(&mut session, claimed).await;
            let Err(error) = done.map(|bytes| figures.done(from.elapsed(), bytes)) else { continue };
            figures.errors.push(format!("{error:#}"));
            match open(number).await {
                Ok(fresh) => session = fresh,
                Err(error) => {
                    figures.errors.push(format!("opening anew: {error:#}"));
                    return figures;
                }
            }
        }
    }

    /// When a connection's message is due, from the beginning on; those of the others lie evenly between.
    fn due(&self, connection: usize, count: u32) -> Option<Duration> {
        let every = self.every?;
        Some(every * count + every.mul_f64(connection as f64 / self.connections as f64))
    }

    /// The number of a message that begins so long after the beginning, unless that is too late or one too many.
    fn claim(&self, at: Duration) -> Option<usize> {
        if self.time.is_some_and(|time| at >= time) {
            return None;
        }
        Some(self.claimed.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < self.messages)
    }
}
