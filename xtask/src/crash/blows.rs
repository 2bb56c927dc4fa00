//! What happens to a cluster in a round of the crash campaign, drawn from the seed: a node or a broker dies, or both, or
//! all nodes; at a step of a client or at any moment; at once or politely; and comes back sooner or later.

use std::fmt;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::Signal;

use crate::load::chance::Chance;

use super::fleet::Fleet;
use super::fuse::{Moment, Step, Victims};
use super::history::Clock;
use super::rig::Aim;
use super::trial::{Blow, Fault};

/// A step comes at the latest now.
const STEP_LIMIT: Duration = Duration::from_millis(1500);
/// The longest that something stays down.
const DOWN_MAX: Duration = Duration::from_secs(3);
/// A node that is asked to end is killed after at most so long.
const GRACE_MAX: Duration = Duration::from_millis(300);

/// The campaign's fault.
pub(super) struct Blows {
    seed: u64,
    drawn: Option<Drawn>,
}

/// What one round brings.
#[derive(Clone, Debug)]
struct Drawn {
    nodes: Vec<usize>,
    brokers: Vec<usize>,
    what: &'static str,
    how: How,
    moment: Moment,
    down: Duration,
    /// A node that comes back is killed on its way, after these times.
    again: Vec<Duration>,
}

/// By which signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    Killed,
    Asked,
    /// And killed before it was done.
    AskedThenKilled,
}

impl Blows {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, drawn: None }
    }

    fn drawn(&self, round: u32, fleet: &Fleet) -> Drawn {
        let mut chance = Chance::new(&[self.seed, round.into(), 0xb10e]);
        let (node, broker) = (chance.below(fleet.nodes()), chance.below(fleet.brokers.len()));
        let leader = |family: &str, shard: usize| {
            let leader = fleet.brokers.leader_of(&format!("{}-{family}-{shard}", fleet.prefix));
            vec![leader.unwrap_or(broker)]
        };
        let (summaries, bodies) = (chance.below(fleet.layout.shards), chance.below(fleet.layout.body_shards));
        let (nodes, brokers, what) = match chance.below(100) {
            0..35 => (vec![node], Vec::new(), "a node"),
            35..45 => ((0..fleet.nodes()).collect(), Vec::new(), "all nodes"),
            45..58 => (Vec::new(), vec![broker], "a broker"),
            58..76 => (Vec::new(), leader("sum", summaries), "the leader of a summary stream"),
            76..86 => (Vec::new(), leader("body", bodies), "the leader of a body stream"),
            _ => (vec![node], vec![broker], "a node and a broker"),
        };
        let how = match chance.below(100) {
            0..75 => How::Killed,
            75..90 => How::Asked,
            _ => How::AskedThenKilled,
        };
        let again = if chance.percent(10) { 1 + chance.below(2) } else { 0 };
        Drawn {
            nodes,
            brokers,
            what,
            how,
            moment: moment(&mut chance),
            down: if chance.percent(30) { Duration::ZERO } else { chance.time(DOWN_MAX) },
            again: (0..again).map(|_| chance.time(Duration::from_millis(500))).collect(),
        }
    }
}

/// When it falls: at a step of some client, or at any time.
fn moment(chance: &mut Chance) -> Moment {
    let delay = if chance.percent(50) { Duration::ZERO } else { chance.time(Duration::from_millis(8)) };
    let (often, removals) = (1 + chance.below(60), 1 + chance.below(12));
    let step = match chance.below(10) {
        0 => Some((Step::Data, often)),
        1..4 => Some((Step::Dot, often)),
        4 | 5 => Some((Step::Accepted, often)),
        6 => Some((Step::Removing, removals)),
        7 => Some((Step::Removed, removals)),
        _ => None,
    };
    let limit = if step.is_some() { STEP_LIMIT } else { chance.time(STEP_LIMIT) };
    Moment { limit, step, delay }
}

impl Fault for Blows {
    fn aim(&mut self, round: u32, fleet: &mut Fleet) -> Result<Aim> {
        let drawn = self.drawn(round, fleet);
        let mut victims = Victims::default();
        if drawn.how == How::Killed {
            victims.all.extend(drawn.brokers.iter().filter_map(|broker| fleet.broker(*broker)));
            match drawn.nodes.as_slice() {
                // One of them: then the one that is at work for the client who lights the fuse.
                [_] => {
                    victims.at_door = (0..fleet.nodes()).filter_map(|node| Some((node, fleet.node(node)?))).collect()
                }
                nodes => victims.all.extend(nodes.iter().filter_map(|node| fleet.node(*node))),
            }
        }
        let aim = Aim { kind: format!("{}: {}", drawn.what, drawn.how), moment: drawn.moment, victims };
        self.drawn = Some(drawn);
        Ok(aim)
    }

    fn strike(&mut self, fleet: &mut Fleet, _clock: &Clock, door: Option<usize>) -> Result<Blow> {
        let drawn = self.drawn.as_mut().context("no round was begun")?;
        if let ([node], Some(door)) = (drawn.nodes.as_mut_slice(), door) {
            *node = door;
        }
        let signal = if drawn.how == How::Asked { Signal::TERM } else { Signal::KILL };
        if drawn.how == How::AskedThenKilled {
            let mut chance = Chance::new(&[self.seed, drawn.down.as_nanos() as u64]);
            for pid in drawn.nodes.iter().filter_map(|node| fleet.node(*node)) {
                // It may have ended by itself, which is found out later.
                let _ = rustix::process::kill_process(pid, Signal::TERM);
            }
            sleep(chance.time(GRACE_MAX));
        }
        for broker in &drawn.brokers {
            if signal == Signal::TERM { fleet.brokers.stop(*broker)? } else { fleet.brokers.kill(*broker)? }
        }
        for node in &drawn.nodes {
            fleet.end_node(*node, signal)?;
        }
        Ok(Blow { lasts: drawn.down, ..Blow::default() })
    }

    fn mend(&mut self, fleet: &mut Fleet) -> Result<()> {
        let drawn = self.drawn.as_ref().context("no round was begun")?;
        for node in &drawn.nodes {
            for after in &drawn.again {
                fleet.kill_starting(*node, *after)?;
            }
        }
        fleet.bring_back()
    }
}

impl fmt::Display for How {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Killed => "SIGKILL",
            Self::Asked => "SIGTERM",
            Self::AskedThenKilled => "SIGTERM, then SIGKILL",
        })
    }
}
