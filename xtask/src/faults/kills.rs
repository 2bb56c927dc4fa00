//! Brokers and nodes that end without a word, or stand still.

use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::process::Signal;

use crate::crash::{
    Aim, Author, Blow, Clock, Fault, Fleet, History, Kind, Moment, Outcome, Reads, Step, Victims, Violation,
};
use crate::load::chance::Chance;

/// Nodes that can do nothing after a kill say so within this time.
const RED_MAX: Duration = Duration::from_secs(2);
/// When a node is dead the others serve within this time.
const OTHERS_MAX: Duration = Duration::from_secs(5);

/// A moment at which something is surely under way: right behind somebody's final dot, or amid the content.
pub(super) fn busy_moment(chance: &mut Chance) -> Moment {
    let step = if chance.percent(70) { Step::Dot } else { Step::Data };
    let delay = chance.time(Duration::from_millis(10));
    Moment { limit: Duration::from_secs(2), step: Some((step, 10 + chance.below(40))), delay }
}

/// The leader of a drawn stream of summaries, or any broker while there is none.
pub(super) fn leader(fleet: &Fleet, chance: &mut Chance) -> usize {
    let stream = format!("{}-sum-{}", fleet.prefix, chance.below(fleet.layout.shards));
    fleet.brokers.leader_of(&stream).unwrap_or_else(|| chance.below(fleet.brokers.len()))
}

/// Which brokers die.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Each,
    Leader,
    Majority,
}

/// Brokers are killed.
pub(super) struct Brokers {
    seed: u64,
    which: Which,
    victims: Vec<usize>,
    lasts: Duration,
}

impl Brokers {
    pub(super) fn each(seed: u64) -> Self {
        Self::new(seed, Which::Each)
    }

    pub(super) fn leader(seed: u64) -> Self {
        Self::new(seed, Which::Leader)
    }

    pub(super) fn majority(seed: u64) -> Self {
        Self::new(seed, Which::Majority)
    }

    fn new(seed: u64, which: Which) -> Self {
        Self { seed, which, victims: Vec::new(), lasts: Duration::ZERO }
    }
}

impl Fault for Brokers {
    fn aim(&mut self, round: u32, fleet: &mut Fleet) -> Result<Aim> {
        let mut chance = Chance::new(&[self.seed, round.into(), 0xb0]);
        let (count, turn) = (fleet.brokers.len(), round as usize);
        self.victims = match self.which {
            Which::Each => vec![turn % count],
            Which::Leader => vec![leader(fleet, &mut chance)],
            Which::Majority if turn % 3 == 0 => (0..count).collect(),
            Which::Majority => (0..count).filter(|broker| *broker != turn % count).collect(),
        };
        self.lasts = Duration::from_secs(3) + chance.time(Duration::from_secs(4));
        let all = self.victims.iter().filter_map(|broker| fleet.broker(*broker)).collect();
        let victims = Victims { all, ..Victims::default() };
        Ok(Aim { kind: "brokers killed".into(), moment: busy_moment(&mut chance), victims })
    }

    fn strike(&mut self, fleet: &mut Fleet, _clock: &Clock, _door: Option<usize>) -> Result<Blow> {
        for broker in &self.victims {
            fleet.brokers.kill(*broker)?;
        }
        let all = (0..fleet.nodes()).collect();
        let red = (self.which == Which::Majority).then_some((all, RED_MAX));
        Ok(Blow { lasts: self.lasts, red, ..Blow::default() })
    }
}

/// A node is killed; the others go on.
pub(super) struct Nodes {
    seed: u64,
    victim: usize,
    lasts: Duration,
    struck: Instant,
}

impl Nodes {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, victim: 0, lasts: Duration::ZERO, struck: Instant::now() }
    }
}

impl Fault for Nodes {
    fn aim(&mut self, round: u32, fleet: &mut Fleet) -> Result<Aim> {
        let mut chance = Chance::new(&[self.seed, round.into(), 0xb1]);
        self.victim = round as usize % fleet.nodes();
        self.lasts = Duration::from_secs(2) + chance.time(Duration::from_secs(4));
        let at_door = (0..fleet.nodes()).filter_map(|node| Some((node, fleet.node(node)?))).collect();
        let victims = Victims { at_door, ..Victims::default() };
        Ok(Aim { kind: "a node killed".into(), moment: busy_moment(&mut chance), victims })
    }

    fn strike(&mut self, fleet: &mut Fleet, _clock: &Clock, door: Option<usize>) -> Result<Blow> {
        self.struck = Instant::now();
        self.victim = door.unwrap_or(self.victim);
        fleet.end_node(self.victim, Signal::KILL)?;
        Ok(Blow { lasts: self.lasts, ..Blow::default() })
    }

    fn also(&self, _author: Author, history: &History) -> Vec<Violation> {
        let slow = |waited: Option<Duration>| waited.is_some_and(|waited| waited > OTHERS_MAX);
        let later = history.sends.iter().filter(|send| send.at > self.struck && send.door != self.victim);
        let late = later.filter(|send| slow(send.waited) || send.outcome == Outcome::Unknown);
        late.map(|send| Violation::new(Kind::Failed, format!("the other nodes do not serve in time: {send}"))).collect()
    }
}

/// A broker stands still: its connections are open, and nothing comes.
pub(super) struct Pause {
    seed: u64,
    victim: usize,
    lasts: Duration,
}

impl Pause {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, victim: 0, lasts: Duration::ZERO }
    }
}

impl Fault for Pause {
    fn aim(&mut self, round: u32, fleet: &mut Fleet) -> Result<Aim> {
        let mut chance = Chance::new(&[self.seed, round.into(), 0xb2]);
        self.victim = match round % 2 {
            0 => leader(fleet, &mut chance),
            _ => round as usize / 2 % fleet.brokers.len(),
        };
        self.lasts = Duration::from_secs(5) + chance.time(Duration::from_secs(15));
        Ok(Aim { kind: "a broker paused".into(), moment: busy_moment(&mut chance), victims: Victims::default() })
    }

    fn strike(&mut self, fleet: &mut Fleet, _clock: &Clock, _door: Option<usize>) -> Result<Blow> {
        fleet.brokers.pause(self.victim)?;
        Ok(Blow { lasts: self.lasts, ..Blow::default() })
    }

    fn mend(&mut self, fleet: &mut Fleet) -> Result<()> {
        fleet.brokers.resume(self.victim)
    }

    /// A leader that wakes up does not know at once that there is another one.
    fn reads(&self) -> Reads {
        Reads::Lagging
    }
}
