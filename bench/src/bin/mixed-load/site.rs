//! What all clients share: the doors of the server, when it is over, and what is told at the end.

use std::time::{Duration, Instant};

use anyhow::Result;
use postkeep_bench::chance::Chance;
use postkeep_bench::{Asked, Door, Mode, Tally, tls};
use serde_json::Value;
use tokio::time::sleep;

/// The server, and what was seen of it.
pub(crate) struct Site {
    /// Three ways in: plain, STARTTLS, TLS.
    pub(crate) smtp: Vec<Door>,
    /// Three ways out: plain, STLS, TLS.
    pub(crate) pop3: Vec<Door>,
    /// Two more: plain, TLS.
    pub(crate) http: Vec<Door>,
    end: Instant,
    seed: u64,
    tally: Tally,
}

impl Site {
    pub(crate) fn asked(asked: &mut Asked) -> Result<Self> {
        let tls = tls::client(None)?;
        let mut door =
            |name: &str, mode| Ok::<_, anyhow::Error>(Door { to: asked.must(name)?, mode, tls: tls.clone() });
        let (smtp, pop3) = (door("--smtp", Mode::Plain)?, door("--pop3", Mode::Plain)?);
        let smtp = vec![smtp.spoken(Mode::Upgrade), smtp, door("--smtps", Mode::Tls)?];
        let pop3 = vec![pop3.spoken(Mode::Upgrade), pop3, door("--pop3s", Mode::Tls)?];
        let http = vec![door("--http", Mode::Plain)?, door("--https", Mode::Tls)?];
        let end = Instant::now() + Duration::from_secs_f64(asked.must("--seconds")?);
        let seed = asked.value("--seed")?.unwrap_or(1);
        Ok(Self { smtp, pop3, http, end, seed, tally: Tally::default() })
    }

    /// Chance of its own for each client.
    pub(crate) fn chance(&self, kind: u64, number: usize) -> Chance {
        Chance::new(self.seed, kind << 32 | number as u64)
    }

    pub(crate) fn over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Wait so long, or until it is over.
    pub(crate) async fn pause(&self, time: Duration) {
        sleep(time.min(self.end.saturating_duration_since(Instant::now()))).await;
    }

    /// Something was done.
    pub(crate) fn count(&self, what: &'static str) {
        self.tally.count(what);
    }

    /// Something went wrong that must not.
    pub(crate) fn failed(&self, what: impl Into<String>) {
        self.tally.failed(what);
    }

    /// What was done and what went wrong.
    pub(crate) fn told(&self) -> Value {
        self.tally.told()
    }
}
