//! Networks that are cut: nodes from brokers, and brokers from each other, in one direction or both.
//!
//! A broker that led a stream and is cut off from the others goes on to answer reads for some seconds, until it notices;
//! so under these faults a read by a node on its side may be old, and is judged as such.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use brokers::Plan;

use crate::crash::{Aim, Blow, Clock, Fault, Fleet, Ground, Layout, Reads, Spot, Victims};
use crate::load::chance::Chance;

use super::kills::busy_moment;
use super::monitor;
use super::net::Net;

/// Nodes that can do nothing in a silent network say so within this time.
const RED_MAX: Duration = Duration::from_secs(5);

/// The brokers first, then the nodes.
fn net(layout: &Layout) -> Result<Net> {
    Net::new(layout.servers + layout.nodes)
}

/// Everybody in a place of their own on this network.
fn ground(net: &Net, layout: &Layout, folder: &Path) -> Ground {
    let plan = Plan {
        folder: Some(folder.join("brokers")),
        hosts: Some((0..layout.servers).map(|broker| net.address(broker).to_string()).collect()),
        under: (0..layout.servers).map(|broker| net.under(broker)).collect(),
        ..Plan::of(layout.servers)
    };
    let members = layout.servers..layout.servers + layout.nodes;
    let spots = members.map(|member| Spot { under: net.under(member), host: net.address(member) }).collect();
    Ground { brokers: plan, spots, clients: net.host(), detour: Vec::new() }
}

/// A node is cut off: from all brokers, or from the one that it is connected to.
pub(super) struct App {
    net: Net,
    seed: u64,
    victim: usize,
    from_all: bool,
    lasts: Duration,
}

impl App {
    pub(super) fn new(seed: u64, layout: &Layout) -> Result<Self> {
        Ok(Self { net: net(layout)?, seed, victim: 0, from_all: true, lasts: Duration::ZERO })
    }
}

impl Fault for App {
    fn ground(&mut self, layout: &Layout, folder: &Path) -> Result<Ground> {
        self.net.mend()?;
        Ok(ground(&self.net, layout, folder))
    }

    fn aim(&mut self, round: u32, fleet: &mut Fleet) -> Result<Aim> {
        let mut chance = Chance::new(&[self.seed, round.into(), 0xb3]);
        self.victim = chance.below(fleet.nodes());
        self.from_all = round % 2 == 1;
        self.lasts = Duration::from_secs(6) + chance.time(Duration::from_secs(6));
        Ok(Aim { kind: "a node cut off".into(), moment: busy_moment(&mut chance), victims: Victims::default() })
    }

    fn strike(&mut self, fleet: &mut Fleet, _clock: &Clock, _door: Option<usize>) -> Result<Blow> {
        let member = fleet.brokers.len() + self.victim;
        let own = |broker: &usize| monitor::serves(&fleet.brokers, *broker, self.net.address(member));
        let from: Vec<_> = (0..fleet.brokers.len()).filter(|broker| self.from_all || own(broker)).collect();
        from.iter().try_for_each(|broker| self.net.part(member, *broker))?;
        let red = self.from_all.then(|| (vec![self.victim], RED_MAX));
        Ok(Blow { lasts: self.lasts, red, ..Blow::default() })
    }

    fn mend(&mut self, _fleet: &mut Fleet) -> Result<()> {
        self.net.mend()
    }
}

/// How brokers are parted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Minority,
    Majority,
    Asymmetric,
}

/// Brokers are cut off from each other.
pub(super) struct Brokers {
    net: Net,
    seed: u64,
    how: How,
    round: u32,
    victim: usize,
    lasts: Duration,
}

impl Brokers {
    pub(super) fn minority(seed: u64, layout: &Layout) -> Result<Self> {
        Self::new(seed, layout, How::Minority)
    }

    pub(super) fn majority(seed: u64, layout: &Layout) -> Result<Self> {
        Self::new(seed, layout, How::Majority)
    }

    pub(super) fn asymmetric(seed: u64, layout: &Layout) -> Result<Self> {
        Self::new(seed, layout, How::Asymmetric)
    }

    fn new(seed: u64, layout: &Layout, how: How) -> Result<Self> {
        Ok(Self { net: net(layout)?, seed, how, round: 0, victim: 0, lasts: Duration::ZERO })
    }

    /// One broker from the others; every other time a node is on its side, and cut off from the others as well.
    fn minority_of(&self, fleet: &Fleet) -> Result<Vec<usize>> {
        let count = fleet.brokers.len();
        let with = self.round.is_multiple_of(2).then_some(self.round as usize / 2 % fleet.nodes());
        for other in (0..count).filter(|other| *other != self.victim) {
            self.net.part(self.victim, other)?;
            if let Some(node) = with {
                self.net.part(count + node, other)?;
            }
        }
        Ok(with.into_iter().collect())
    }

    fn majority_of(&self, fleet: &Fleet) -> Result<Vec<usize>> {
        let count = fleet.brokers.len();
        for one in 0..count {
            (one + 1..count).try_for_each(|other| self.net.part(one, other))?;
        }
        Ok((0..fleet.nodes()).collect())
    }

    /// One broker is not heard by the others, or does not hear them.
    fn asymmetric_of(&self, fleet: &Fleet) -> Result<Vec<usize>> {
        for other in (0..fleet.brokers.len()).filter(|other| *other != self.victim) {
            match self.round % 2 {
                0 => self.net.cut(self.victim, other)?,
                _ => self.net.cut(other, self.victim)?,
            }
        }
        Ok(Vec::new())
    }
}

impl Fault for Brokers {
    fn ground(&mut self, layout: &Layout, folder: &Path) -> Result<Ground> {
        self.net.mend()?;
        Ok(ground(&self.net, layout, folder))
    }

    fn aim(&mut self, round: u32, fleet: &mut Fleet) -> Result<Aim> {
        let mut chance = Chance::new(&[self.seed, round.into(), 0xb4]);
        self.round = round;
        // The one that leads a busy shard, more often than not.
        self.victim = match chance.percent(60) {
            true => super::kills::leader(fleet, &mut chance),
            false => chance.below(fleet.brokers.len()),
        };
        self.lasts = Duration::from_secs(7) + chance.time(Duration::from_secs(8));
        Ok(Aim { kind: "brokers parted".into(), moment: busy_moment(&mut chance), victims: Victims::default() })
    }

    fn strike(&mut self, fleet: &mut Fleet, _clock: &Clock, _door: Option<usize>) -> Result<Blow> {
        let nodes = match self.how {
            How::Minority => self.minority_of(fleet)?,
            How::Majority => self.majority_of(fleet)?,
            How::Asymmetric => self.asymmetric_of(fleet)?,
        };
        let red = (!nodes.is_empty()).then_some((nodes, RED_MAX));
        Ok(Blow { lasts: self.lasts, red, ..Blow::default() })
    }

    fn mend(&mut self, _fleet: &mut Fleet) -> Result<()> {
        self.net.mend()
    }

    fn reads(&self) -> Reads {
        Reads::Lagging
    }
}
