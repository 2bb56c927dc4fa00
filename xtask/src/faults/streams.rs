//! A stream that somebody deletes with all the mail in it. What it held is gone by definition, so that only this is judged:
//! nobody crashes, `/readyz` and the log tell, and once all is well again, every other round, mail is kept as always.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::process::Signal;

use crate::crash::{Aim, Author, Blow, Clock, Fault, Fleet, History, Kind, Moment, Victims, Violation, is_ready};
use crate::load::chance::Chance;

/// The log tells within this time.
const RED_MAX: Duration = Duration::from_secs(5);
/// Nodes that do not help themselves within this time are restarted.
const ALONE_MAX: Duration = Duration::from_secs(20);

/// The fault.
pub(super) struct Deleted {
    seed: u64,
    round: u32,
    stream: String,
    /// Whether a log named the stream since.
    told: bool,
}

impl Deleted {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, round: 0, stream: String::new(), told: false }
    }

    fn is_calm(&self) -> bool {
        self.round.is_multiple_of(2)
    }

    fn named(&self, fleet: &Fleet) -> usize {
        let logs = fleet.logs().into_iter().filter_map(|log| fs::read_to_string(log).ok());
        logs.map(|log| log.matches(&self.stream).count()).sum()
    }
}

impl Fault for Deleted {
    fn aim(&mut self, round: u32, fleet: &mut Fleet) -> Result<Aim> {
        let mut chance = Chance::new(&[self.seed, round.into(), 0xb6]);
        self.round = round;
        self.stream = format!("{}-sum-{}", fleet.prefix, chance.below(fleet.layout.shards));
        let kind = if self.is_calm() { "the round after it" } else { "a stream deleted" };
        Ok(Aim { kind: kind.into(), moment: Moment::after(Duration::from_secs(2)), victims: Victims::default() })
    }

    fn strike(&mut self, fleet: &mut Fleet, _clock: &Clock, _door: Option<usize>) -> Result<Blow> {
        if self.is_calm() {
            return Ok(Blow::default());
        }
        let before = self.named(fleet);
        fleet.operator().delete(&self.stream)?;
        let begin = Instant::now();
        while self.named(fleet) == before && begin.elapsed() < RED_MAX {
            sleep(Duration::from_millis(100));
        }
        self.told = self.named(fleet) > before;
        // The nodes may have made it anew before `/readyz` had to tell of it.
        Ok(Blow { lasts: Duration::from_secs(3), ..Blow::default() })
    }

    fn mend(&mut self, fleet: &mut Fleet) -> Result<()> {
        let well = |fleet: &Fleet| fleet.doors.opened().iter().all(|door| is_ready(door.http));
        let begin = Instant::now();
        while !well(fleet) && begin.elapsed() < ALONE_MAX {
            sleep(Duration::from_millis(200));
        }
        if !well(fleet) {
            println!("{} is not made anew by the nodes that run: they are restarted", self.stream);
            for node in 0..fleet.nodes() {
                fleet.end_node(node, Signal::TERM)?;
                fleet.start_node(node)?;
            }
        }
        Ok(())
    }

    fn voids(&self) -> bool {
        !self.is_calm()
    }

    fn also(&self, _author: Author, _history: &History) -> Vec<Violation> {
        // Asked in the round after it, since nothing else is judged in its own.
        let silent = self.is_calm() && !self.told;
        let what = "no log named the stream that was deleted in the round before";
        silent.then(|| Violation::new(Kind::Ready, what)).into_iter().collect()
    }
}
