//! One server, or the nodes of a cluster, as a load of waiters sees them: where to send, where to read, which processes
//! to weigh. Mail goes in at another node than it is read from, where there are several.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::sleep;

use crate::cpu::resident;
use crate::door::source;
use crate::{Asked, Door, rest, smtp};

/// Connections from one address, below the usual limits.
const PER_ADDRESS: usize = 400;
/// Memory that changes by less than this part between two looks has settled.
const STILL: f64 = 0.01;
const LOOK_EVERY: Duration = Duration::from_millis(250);
const LOOKS_MAX: usize = 60;

/// Where to go.
#[derive(Debug)]
pub struct Site {
    http: Vec<Door>,
    smtp: Vec<Door>,
    processes: Vec<u32>,
}

impl Site {
    /// `--http ADDR,… --smtp ADDR,… [--processes PID,…]`.
    pub fn asked(asked: &mut Asked) -> Result<Self> {
        let (http, smtp) = (Door::several(asked, "--http")?, Door::several(asked, "--smtp")?);
        let processes: Option<String> = asked.value("--processes")?;
        let processes = processes.iter().flat_map(|text| text.split(',')).map(str::parse).collect::<Result<_, _>>();
        Ok(Self { http, smtp, processes: processes.context("--processes takes numbers")? })
    }

    /// How many nodes there are to read from.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.http.len()
    }

    /// A connection to read over, to the node that falls to this number.
    pub async fn reader(&self, number: usize) -> Result<rest::Client> {
        let door = &self.http[number % self.http.len()];
        Ok(rest::Client::over(door, door.open_from(source(number, PER_ADDRESS)).await?))
    }

    /// A session to send over, to the node after the one that falls to this number.
    pub async fn sender(&self, number: usize) -> Result<smtp::Client> {
        let door = &self.smtp[(number + 1) % self.smtp.len()];
        smtp::Client::greet(door, door.open_from(source(number, PER_ADDRESS)).await?).await
    }

    /// The address of the node that falls to this number.
    #[must_use]
    pub fn door(&self, number: usize) -> &Door {
        &self.http[number % self.http.len()]
    }

    /// What the processes hold, once that has settled: what clients have just sent is on its way for a moment.
    pub async fn memory(&self) -> Result<u64> {
        let mut last = resident(&self.processes)?;
        for _ in 0..LOOKS_MAX {
            sleep(LOOK_EVERY).await;
            let now = resident(&self.processes)?;
            if now.abs_diff(last) as f64 <= last as f64 * STILL {
                return Ok(now);
            }
            last = now;
        }
        Ok(last)
    }
}
