//! A call: asked of one server after the other until one answers, within a time.
//!
//! Every request of this crate may be asked twice: reading changes nothing, deleting and opening an inbox repeat safely, and a
//! delivery carries a key. So a lost connection, a 503 and a 429 are repeated, on another node if there is one. A server that
//! was never there is told at once; one that was there and went away is waited for.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::error::Error;
use crate::http::{Answer, Ask, Lost, exchange};
use crate::problem::Problem;
use crate::server::{Server, Token};

/// The first pause between two rounds over all servers; it doubles.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// A pause that a server asks for is no longer than this.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);

/// The nodes of a service, and which one is asked next.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) all: Vec<Server>,
    current: AtomicUsize,
    /// Whether one has ever answered.
    reached: AtomicBool,
}

/// How long to go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// No new attempt begins after this.
    pub(crate) until: Instant,
    /// So long a server may hold one request, within the time left.
    pub(crate) held_max: Duration,
    /// For one answer, beyond that.
    pub(crate) answer: Duration,
}

/// Why an attempt is to be repeated.
enum Again {
    Lost(Lost),
    /// 502, 503, 504 or 429.
    Busy(Answer),
}

impl Servers {
    pub(crate) fn new(all: Vec<Server>) -> Self {
        Self { all, current: AtomicUsize::new(0), reached: AtomicBool::new(false) }
    }

    /// The one to ask now, and its number.
    pub(crate) fn current(&self) -> (usize, &Server) {
        let number = self.current.load(Ordering::Relaxed);
        (number, &self.all[number % self.all.len()])
    }

    /// The one of this number failed. Only one of those who saw it fail moves on.
    pub(crate) fn failed(&self, number: usize) {
        let next = number.wrapping_add(1);
        let _ = self.current.compare_exchange(number, next, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// One has answered.
    pub(crate) fn answered(&self) {
        self.reached.store(true, Ordering::Relaxed);
    }

    /// How long to wait before the next attempt; none when that makes no sense.
    pub(crate) fn pause(&self, tries: usize, asked_for: Option<Duration>) -> Option<Duration> {
        let (rounds, place) = (tries / self.all.len(), tries % self.all.len());
        if place != 0 {
            return Some(Duration::ZERO);
        }
        if !self.reached.load(Ordering::Relaxed) {
            return None;
        }
        let doubled = PAUSE.saturating_mul(1 << rounds.saturating_sub(1).min(10)).min(PAUSE_MAX);
        Some(asked_for.map_or(doubled, |time| time.clamp(PAUSE, RETRY_AFTER_MAX)))
    }

    /// Ask until there is an answer; what to ask is made anew from the time left.
    pub(crate) async fn call(
        &self,
        token: Option<&Token>,
        limit: Limit,
        mut ask: impl FnMut(Duration) -> Ask,
    ) -> Result<Answer, Error> {
        let mut tries = 0;
        loop {
            let left = limit.until.saturating_duration_since(Instant::now());
            let again = match self.attempt(token, &ask(left), left.min(limit.held_max) + limit.answer).await {
                Ok(answer) => return Ok(answer),
                Err(again) => again,
            };
            tries += 1;
            let pause = self.pause(tries, again.asked_for());
            match pause.filter(|pause| Instant::now() + *pause < limit.until) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return again.given_up(),
            }
        }
    }

    async fn attempt(&self, token: Option<&Token>, ask: &Ask, time: Duration) -> Result<Answer, Again> {
        let (number, server) = self.current();
        let answer = match tokio::time::timeout(time, exchange(server, token, ask)).await {
            Ok(answer) => answer,
            Err(_) => Err(Lost { server: server.url(), why: format!("no answer within {}", crate::text::span(time)) }),
        };
        match answer {
            Ok(answer) => {
                self.answered();
                match answer.status {
                    429 => Err(Again::Busy(answer)),
                    502..=504 => {
                        self.failed(number);
                        Err(Again::Busy(answer))
                    }
                    _ => Ok(answer),
                }
            }
            Err(lost) => {
                self.failed(number);
                Err(Again::Lost(lost))
            }
        }
    }
}

impl Again {
    fn asked_for(&self) -> Option<Duration> {
        match self {
            Self::Busy(answer) => answer.retry_after,
            Self::Lost(_) => None,
        }
    }

    /// No time is left: the refusal is the answer after all.
    fn given_up(self) -> Result<Answer, Error> {
        match self {
            Self::Busy(answer) => Ok(answer),
            Self::Lost(Lost { server, why }) => Err(Error::Unreachable { server, why }),
        }
    }
}

impl Answer {
    /// The answer if it says yes, else the problem.
    pub(crate) fn good(self) -> Result<Self, Error> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        Err(match Problem::read(self.status, &self.body) {
            Some(problem) => Error::Problem(Box::new(problem)),
            None => self.strange(&format!("status {} without a word why", self.status)),
        })
    }

    /// The body of a good answer as JSON.
    pub(crate) fn json(self) -> Result<Value, Error> {
        let answer = self.good()?;
        serde_json::from_slice(&answer.body).map_err(|error| answer.strange(&error.to_string()))
    }

    pub(crate) fn strange(&self, why: &str) -> Error {
        Error::Strange { server: self.server.clone(), why: why.to_owned() }
    }
}
