//! A cluster and what happens to it, as a rig: in each round the fault strikes while clients are at work, lasts, is mended,
//! and the clients stay until everybody is well again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use brokers::Cluster;

use super::checker::{Kind, Violation};
use super::doors::Doors;
use super::fleet::{Fleet, Ground, Layout};
use super::history::{Clock, Cut, Entering, History, Reads};
use super::letter::Author;
use super::rig::{Aim, Recovered, Rig, Struck};
use super::watch::{EVERY, Lights, Said, Watch, liars};

/// After the fault is mended, all must be well within this time: an election, a log that is read again, a busy machine.
const WELL_MAX: Duration = Duration::from_secs(60);
/// So long the clients work on when all is well.
const CALM: Duration = Duration::from_millis(500);
/// What a dead node left half done, the others finish within this time.
const SETTLE_MAX: Duration = Duration::from_secs(40);

/// Something that happens to a cluster.
pub(crate) trait Fault {
    /// Where the cluster is to stand, for this fault to be possible.
    fn ground(&mut self, layout: &Layout, folder: &Path) -> Result<Ground> {
        Ok(Ground::loopback(layout, folder))
    }

    /// The brokers run, the nodes do not yet.
    fn built(&mut self, _brokers: &Cluster) -> Result<()> {
        Ok(())
    }

    /// What this round brings.
    fn aim(&mut self, round: u32, fleet: &mut Fleet) -> Result<Aim>;

    /// It happens; by the door of this node a client is at the chosen step, if one is.
    fn strike(&mut self, fleet: &mut Fleet, clock: &Clock, door: Option<usize>) -> Result<Blow>;

    /// It is over: bring back what it took.
    fn mend(&mut self, fleet: &mut Fleet) -> Result<()> {
        fleet.bring_back()
    }

    /// What reads tell while it lasts.
    fn reads(&self) -> Reads {
        Reads::Exact
    }

    /// Whether mail may be gone by definition in this round.
    fn voids(&self) -> bool {
        false
    }

    /// What is broken besides the promises that hold under every fault.
    fn also(&self, _author: Author, _history: &History) -> Vec<Violation> {
        Vec::new()
    }
}

/// How it struck.
#[derive(Default)]
pub(crate) struct Blow {
    /// How long it lasts.
    pub(crate) lasts: Duration,
    /// When the power went, if it did.
    pub(crate) cut: Option<Cut>,
    /// These nodes can do nothing now, and must say so within this time.
    pub(crate) red: Option<(Vec<usize>, Duration)>,
}

/// The rig.
pub(crate) struct Trial<F> {
    // Before the fault, so that it ends before the ground that it stands on.
    fleet: Option<Fleet>,
    pub(crate) fault: F,
    layout: Layout,
    author: Author,
    doors: Arc<Doors>,
    work: PathBuf,
    /// What the nodes said about themselves, round by round.
    pub(crate) lights: Vec<Lights>,
    /// The same of the last round in every word, and when it was struck and mended.
    said: Vec<Said>,
    times: Option<[Instant; 2]>,
    begun: usize,
}

impl<F: Fault> Trial<F> {
    pub(crate) fn new(fault: F, layout: Layout, author: Author, work: PathBuf) -> Self {
        let (doors, lights, said) = Default::default();
        Self { fleet: None, fault, layout, author, doors, work, lights, said, times: None, begun: 0 }
    }

    fn fleet(&mut self) -> Result<(&mut Fleet, &mut F)> {
        Ok((self.fleet.as_mut().context("the cluster does not run")?, &mut self.fault))
    }

    /// The folder of the cluster that runs; each has another.
    fn folder(&self) -> PathBuf {
        self.work.join(format!("cluster-{}", self.begun))
    }

    /// Mend, and wait until all is well. What fails here is a broken promise.
    fn mend(&mut self) -> Result<()> {
        let (fleet, fault) = self.fleet()?;
        fault.mend(fleet)?;
        fleet.wait_well(WELL_MAX)
    }
}

impl<F: Fault> Rig for Trial<F> {
    fn begin(&mut self, _round: u32) -> Result<()> {
        self.fleet = None;
        self.begun += 1;
        let folder = self.folder();
        fs::create_dir_all(&folder)?;
        let ground = self.fault.ground(&self.layout, &folder)?;
        self.author.from = ground.clients;
        let brokers = Cluster::start(ground.brokers.clone())?;
        self.fault.built(&brokers)?;
        let common = (folder.as_path(), Arc::clone(&self.doors), self.author);
        self.fleet = Some(Fleet::start(self.layout.clone(), &ground, brokers, common)?);
        Ok(())
    }

    fn doors(&self) -> Arc<Doors> {
        Arc::clone(&self.doors)
    }

    fn author(&self) -> Author {
        self.author
    }

    fn aim(&mut self, round: u32) -> Result<Aim> {
        let (fleet, fault) = self.fleet()?;
        fault.aim(round, fleet)
    }

    fn strike(&mut self, clock: &Clock, door: Option<usize>) -> Result<Struck> {
        let watch = Watch::begin(&self.doors, self.layout.nodes);
        let struck = Instant::now();
        let (fleet, fault) = self.fleet()?;
        let mut found = Vec::new();
        let mut failed = |error: anyhow::Error| found.push(Violation::new(Kind::Server, format!("{error:#}")));
        let blow = fault.strike(fleet, clock, door).map_err(&mut failed).unwrap_or_default();
        sleep(blow.lasts.saturating_sub(struck.elapsed()));
        let mended = Instant::now();
        self.mend().unwrap_or_else(failed);
        sleep(CALM);
        let said = watch.end();
        let (nodes, within) = blow.red.unwrap_or_default();
        let lights = Lights::of(&said, struck, mended, &nodes);
        self.lights.push(lights);
        (self.said, self.times) = (said, Some([struck, mended]));
        if !nodes.is_empty() && lights.red.is_none_or(|red| red > within + EVERY) {
            let red = lights.red.map_or("never".into(), |red| format!("after {red:.1?}"));
            let names: Vec<_> = nodes.iter().map(|node| (node + 1).to_string()).collect();
            let what = format!("/readyz of nodes {} turned red {red}, not within {within:?}", names.join(", "));
            found.push(Violation::new(Kind::Ready, what));
        }
        Ok(Struck { cut: blow.cut, found })
    }

    fn recover(&mut self) -> Result<Recovered> {
        let (fleet, _) = self.fleet()?;
        let mut found = fleet.ended()?;
        fleet.bring_back()?;
        if let Err(error) = fleet.wait_settled(SETTLE_MAX) {
            found.push(Violation::new(Kind::Half, format!("{error:#}")));
        }
        Ok(Recovered { found, starts: fleet.take_starts(), starts_killed: 0 })
    }

    fn voids(&self) -> bool {
        self.fault.voids()
    }

    fn terms(&self, history: &mut History) -> Result<()> {
        // Where one stream holds all mailboxes, so does one write.
        history.entering = if self.layout.shards > 1 { Entering::OneByOne } else { Entering::AtOnce };
        history.reads = self.fault.reads();
        Ok(())
    }

    fn also(&self, history: &History) -> Vec<Violation> {
        let mut found = self.fault.also(self.author, history);
        if let Some(times) = self.times {
            found.extend(liars(&self.said, times, &history.sends, self.layout.nodes));
        }
        found
    }

    fn keep(&self, folder: &Path) -> Result<()> {
        let nodes = self.fleet.as_ref().map(Fleet::logs).unwrap_or_default();
        // The folder of a broker may be on a disk that goes with the trial.
        let brokers = (1..=self.layout.servers).map(|number| self.folder().join(format!("brokers/n{number}")));
        let brokers = brokers.map(|own| (own.with_added_extension("log"), own.join("nats-server.log")));
        for (name, log) in nodes.into_iter().map(|log| (log.clone(), log)).chain(brokers) {
            // A log that is missing must not hide what was found.
            if let Err(error) = fs::copy(&log, folder.join(name.file_name().unwrap_or_default())) {
                println!("{} cannot be kept: {error}", log.display());
            }
        }
        Ok(())
    }
}
