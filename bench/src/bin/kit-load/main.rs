//! Tests as people write them, many at once: open an inbox, let mail be sent to it, wait for the code, read the message,
//! delete it, close the inbox. Whatever is not as it must be is a flake, and is counted. One thread.
//!
//! With several nodes every step of a test asks another one, and mail goes in at one of its own.

#![allow(clippy::print_stdout, reason = "what it found is what it is for")]

mod test;

use std::cell::Cell;
use std::time::{Duration, Instant};

use anyhow::Result;
use futures_util::future::join_all;
use postkeep_bench::cpu::cpu;
use postkeep_bench::figures::Figures;
use postkeep_bench::{Asked, Chance, Site, Tally, rest, smtp};
use serde_json::Value;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "kit-load --http ADDR,… --smtp ADDR,… [--tests N] [--parallel N] [--seed N]";

/// The connections of a worker: one to each node, for either way.
struct Worker {
    http: Vec<rest::Client>,
    smtp: Vec<smtp::Client>,
}

struct Plan {
    site: Site,
    tests: usize,
    parallel: usize,
    seed: u64,
    begun: Cell<usize>,
    tally: Tally,
}

fn main() -> Result<()> {
    let mut asked = Asked::from_env(USAGE);
    let plan = Plan {
        site: Site::asked(&mut asked)?,
        tests: asked.value("--tests")?.unwrap_or(10_000),
        parallel: asked.value("--parallel")?.unwrap_or(100),
        seed: asked.value("--seed")?.unwrap_or(1),
        begun: Cell::new(0),
        tally: Tally::default(),
    };
    asked.finish()?;
    let told = tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(plan.run())?;
    println!("{told}");
    Ok(())
}

impl Plan {
    /// Figures of the time from a mail's `250` to its code, and what was counted.
    async fn run(&self) -> Result<Value> {
        let (begin, used) = (Instant::now(), cpu()?);
        let mut figures = Figures::default();
        for times in join_all((0..self.parallel).map(|number| self.worker(number))).await {
            times.into_iter().for_each(|time| figures.done(time, 0));
        }
        let mut told = figures.told(begin.elapsed(), cpu()? - used);
        told["errors"] = self.tally.of("failures").into();
        told["tally"] = self.tally.told();
        Ok(told)
    }

    /// One test after the other, as long as there are any. After a flake the connections are made anew: nobody knows
    /// what is still on its way over them.
    async fn worker(&self, number: usize) -> Vec<Duration> {
        let (mut open, mut times) = (None, Vec::new());
        while self.begun.get() < self.tests {
            let test = self.begun.replace(self.begun.get() + 1);
            match self.one(&mut open, number, test).await {
                Ok(time) => times.push(time),
                Err(error) => {
                    open = None;
                    self.tally.failed(format!("test {test}: {error:#}"));
                }
            }
        }
        times
    }

    async fn one(&self, open: &mut Option<Worker>, number: usize, test: usize) -> Result<Duration> {
        if open.is_none() {
            *open = Some(Worker::open(&self.site, number).await?);
        }
        let worker = open.as_mut().expect("it was opened");
        test::run(worker, Chance::new(self.seed, test as u64), test, &self.tally).await
    }
}

impl Worker {
    async fn open(site: &Site, number: usize) -> Result<Self> {
        // Numbers that fall to one node after the other, from an address that belongs to this worker's neighbourhood.
        let (nodes, first) = (site.nodes(), number * site.nodes());
        let mut worker = Self { http: Vec::new(), smtp: Vec::new() };
        for node in 0..nodes {
            worker.http.push(site.reader(first + node).await?);
            worker.smtp.push(site.sender(first + node).await?);
        }
        Ok(worker)
    }
}
