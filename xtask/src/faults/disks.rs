//! Disks of brokers: without room, and without power.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use brokers::Cluster;
use rustix::process::geteuid;

use crate::crash::{
    Aim, Author, Blow, Clock, Cut, Fault, Fleet, Ground, History, Image, Kind, Layout, Moment, Span, Switch, Victims,
    Violation,
};
use crate::load::chance::Chance;
use crate::load::http::get;
use crate::shell::{run, which};

use super::kills::busy_moment;

/// Enough for the mail of all rounds.
const IMAGE: u64 = 2 << 30;
const SMALL: &str = "size=400m";
/// A broker that ran out of room may need a restart; it gets this much time to do without.
const ALONE_MAX: Duration = Duration::from_secs(10);

/// Why there can be no small disks here, if there cannot.
pub(super) fn no_small_disks() -> Option<String> {
    (!geteuid().is_root())
        .then(|| "mounting needs root: run it as root, in a machine or a container of your own".into())
}

/// Where the brokers of a cluster have their folders.
fn places(layout: &Layout, folder: &Path) -> Vec<PathBuf> {
    (1..=layout.servers).map(|number| folder.join("brokers").join(format!("n{number}"))).collect()
}

/// A small disk in memory; unmounted when dropped.
struct Small(PathBuf);

impl Small {
    fn new(place: PathBuf) -> Result<Self> {
        fs::create_dir_all(&place)?;
        run(Command::new(program("mount")?).args(["-t", "tmpfs", "-o", SMALL, "tmpfs"]).arg(&place))?;
        Ok(Self(place))
    }

    /// Take all room that is left.
    fn fill(&self) -> Result<()> {
        let mut file = File::options().create(true).append(true).open(self.filler())?;
        for size in [1 << 20, 1 << 12, 1] {
            let piece = vec![0; size];
            while file.write_all(&piece).is_ok() {}
        }
        Ok(())
    }

    fn empty(&self) -> Result<()> {
        if self.filler().exists() {
            fs::remove_file(self.filler())?;
        }
        Ok(())
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let lazily = program("umount").and_then(|program| run(Command::new(program).arg("-l").arg(&self.0)));
        if lazily.is_err() {
            println!("{} is still mounted: `umount` it", self.0.display());
        }
    }
}

/// Brokers without room on their disks.
pub(super) struct Full {
    seed: u64,
    disks: Vec<Small>,
    victims: Vec<usize>,
    lasts: Duration,
    /// Lists that were read while it lasted.
    read: usize,
}

impl Full {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, disks: Vec::new(), victims: Vec::new(), lasts: Duration::ZERO, read: 0 }
    }
}

impl Fault for Full {
    fn ground(&mut self, layout: &Layout, folder: &Path) -> Result<Ground> {
        self.disks.clear();
        self.disks = places(layout, folder).into_iter().map(Small::new).collect::<Result<_>>()?;
        Ok(Ground::loopback(layout, folder))
    }

    fn aim(&mut self, round: u32, fleet: &mut Fleet) -> Result<Aim> {
        let mut chance = Chance::new(&[self.seed, round.into(), 0xb7]);
        let count = fleet.brokers.len();
        self.victims = match round % 2 {
            0 => (0..count).collect(),
            _ => vec![chance.below(count)],
        };
        self.lasts = Duration::from_secs(6) + chance.time(Duration::from_secs(4));
        Ok(Aim { kind: "disks full".into(), moment: busy_moment(&mut chance), victims: Victims::default() })
    }

    fn strike(&mut self, fleet: &mut Fleet, _clock: &Clock, _door: Option<usize>) -> Result<Blow> {
        let begin = Instant::now();
        for victim in &self.victims {
            self.disks[*victim].fill()?;
        }
        self.read = 0;
        while begin.elapsed() < self.lasts {
            let lists = fleet.doors.opened().into_iter().map(|door| get(door.http, "/api/v1/mailbox/box-0"));
            self.read += lists.filter(Result::is_ok).count();
            sleep(Duration::from_millis(200));
        }
        Ok(Blow::default())
    }

    fn mend(&mut self, fleet: &mut Fleet) -> Result<()> {
        self.disks.iter().try_for_each(Small::empty)?;
        fleet.bring_back()?;
        if fleet.wait_well(ALONE_MAX).is_ok() {
            return Ok(());
        }
        println!("brokers that had no room do not recover by themselves: they are restarted");
        for victim in &self.victims {
            if fleet.brokers.pid(*victim).is_some() {
                fleet.brokers.kill(*victim)?;
            }
        }
        fleet.bring_back()
    }

    fn also(&self, _author: Author, _history: &History) -> Vec<Violation> {
        // When no broker has room none may be left to lead, and then nothing is read either.
        let some_had_room = self.victims.len() < self.disks.len();
        let what = "nothing could be read while one broker had no room";
        (self.read == 0 && some_had_room).then(|| Violation::new(Kind::Failed, what)).into_iter().collect()
    }
}

/// All brokers lose their power at once, with whatever they had not synced.
pub(super) struct Power {
    sync: brokers::Sync,
    images: Vec<Image>,
    switches: Vec<Switch>,
    round: u32,
}

impl Power {
    pub(super) fn new(sync: brokers::Sync) -> Self {
        Self { sync, images: Vec::new(), switches: Vec::new(), round: 0 }
    }
}

impl Fault for Power {
    fn ground(&mut self, layout: &Layout, folder: &Path) -> Result<Ground> {
        (self.images, self.switches) = Default::default();
        let image = |place| Image::at(place, IMAGE);
        self.images = places(layout, folder).into_iter().map(image).collect::<Result<_>>()?;
        let mut ground = Ground::loopback(layout, folder);
        ground.brokers.sync = self.sync;
        Ok(ground)
    }

    fn built(&mut self, _brokers: &Cluster) -> Result<()> {
        // The configuration was written as anything is written: it is not what is on trial.
        run(&mut Command::new("sync"))
    }

    fn aim(&mut self, round: u32, _fleet: &mut Fleet) -> Result<Aim> {
        self.round = round;
        self.switches = self.images.iter().map(Image::arm).collect::<Result<_>>()?;
        let mut chance = Chance::new(&[round.into(), 0xb8]);
        let moment = Moment { limit: Duration::from_secs(4), ..busy_moment(&mut chance) };
        Ok(Aim { kind: "power cut".into(), moment, victims: Victims::default() })
    }

    fn strike(&mut self, fleet: &mut Fleet, clock: &Clock, _door: Option<usize>) -> Result<Blow> {
        let brokers = 0..fleet.brokers.len();
        let paused = self.round.is_multiple_of(3).then_some(self.round as usize / 3 % fleet.brokers.len());
        if let Some(broker) = paused {
            fleet.brokers.pause(broker)?;
            sleep(Duration::from_secs(3));
        }
        let begin = clock.tick();
        let switches = std::mem::take(&mut self.switches);
        scope(|threads| {
            let cuts: Vec<_> = switches.into_iter().map(|switch| threads.spawn(|| switch.cut())).collect();
            cuts.into_iter().try_for_each(|cut| cut.join().expect("a cut does not panic"))
        })?;
        let disks = Span { begin, end: clock.tick() };
        sleep(Duration::from_millis(25));
        brokers.clone().try_for_each(|broker| fleet.brokers.kill(broker))?;
        let cut = Some(Cut { disks, dark: clock.tick() });
        self.images.iter().try_for_each(Image::remount)?;
        Ok(Blow { lasts: Duration::from_secs(2), cut, red: None })
    }
}

fn program(name: &str) -> Result<PathBuf> {
    which(name).with_context(|| format!("{name} is missing"))
}
