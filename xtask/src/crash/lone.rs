//! One server on a disk: it is killed, or its disk loses power, and it is started again on the data that were left.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal};

use crate::load::figures::percentile;
use crate::load::server::Server;

use super::checker::{Kind, Violation};
use super::doors::{Door, Doors};
use super::fuse::{Death, End, Victims};
use super::history::{Clock, Cut, History, Span};
use super::launch::Launch;
use super::letter::Author;
use super::power::{Image, Switch};
use super::rig::{Aim, Recovered, Rig, Struck};

/// A start on data of this size must not take longer.
const READY_MAX: Duration = Duration::from_secs(5);

/// The server and its disk.
pub(super) struct Lone {
    // Before the image, so that nobody holds it when it is unmounted.
    server: Option<Server>,
    launch: Launch,
    data: PathBuf,
    author: Author,
    /// The file system that loses power, instead of a process that is killed.
    image: Option<Image>,
    switch: Option<Switch>,
    doors: Arc<Doors>,
    /// How the round ends, and the one after it.
    ends: Option<[End; 2]>,
    starts: Vec<Duration>,
}

impl Lone {
    pub(super) fn new(launch: Launch, data: PathBuf, seed: u64, image: Option<Image>) -> Self {
        let (doors, author) = (Arc::default(), Author::new(seed));
        Self { server: None, launch, data, author, image, switch: None, doors, ends: None, starts: Vec::new() }
    }

    /// A server whose data lie in the folder of a campaign.
    pub(super) fn launch(binary: PathBuf, settings: Vec<String>, data: &Path, work: &Path) -> Launch {
        let store = vec!["store.engine=disk".into(), format!("store.disk.path={}", data.display())];
        Launch { binary, store, settings, under: Vec::new(), log: work.join("server.log") }
    }

    fn end(&self, round: u32) -> End {
        let mut end = End::drawn(self.author.seed, round);
        if self.image.is_some() {
            // The moments are as good; what comes after them is another death.
            end = End { death: Death::PowerCut, again: Vec::new(), grace: None, ..end };
        }
        end
    }

    fn opened(&mut self, server: Server) -> Result<()> {
        self.doors.open(Door::of(&server, 0, self.author.from)?);
        self.server = Some(server);
        Ok(())
    }

    fn ends(&self) -> Result<[End; 2]> {
        self.ends.clone().context("no round was begun")
    }

    /// So long a start takes.
    fn usual(&self) -> Duration {
        match self.starts.is_empty() {
            true => Duration::from_millis(20),
            false => percentile(&mut self.starts.clone(), 0.5),
        }
    }
}

impl Rig for Lone {
    fn begin(&mut self, round: u32) -> Result<()> {
        self.server = None;
        if self.data.exists() {
            fs::remove_dir_all(&self.data)?;
        }
        let server = self.launch.start(self.author, self.end(round).messages_max)?;
        self.opened(server)
    }

    fn doors(&self) -> Arc<Doors> {
        Arc::clone(&self.doors)
    }

    fn author(&self) -> Author {
        self.author
    }

    fn aim(&mut self, round: u32) -> Result<Aim> {
        let [end, next] = [self.end(round), self.end(round + 1)];
        self.switch = self.image.as_ref().map(Image::arm).transpose()?;
        let victim = self.server.as_ref().filter(|_| self.image.is_none()).map(Server::pid);
        let all = victim.and_then(|pid| Pid::from_raw(pid as i32)).into_iter().collect();
        let victims = Victims { all, ..Victims::default() };
        let aim = Aim { kind: end.death.to_string(), moment: end.moment, victims };
        self.ends = Some([end, next]);
        Ok(aim)
    }

    fn strike(&mut self, clock: &Clock, _door: Option<usize>) -> Result<Struck> {
        let [end, _] = self.ends()?;
        let cut = self.switch.take().map(|switch| power_off(switch, clock)).transpose()?;
        let server = self.server.take().context("there is no server")?;
        let status = die(server, &end)?;
        let cut = cut.map(|disks| Cut { disks, dark: clock.tick() });
        self.doors.close(0);
        // Over a dead disk it may give up by itself.
        let may_end = self.image.is_some() || (end.grace.is_some() && status.success());
        let asked = may_end || status.signal() == Some(Signal::KILL.as_raw());
        let found = (!asked).then(|| Violation::new(Kind::Server, format!("it ended by itself, with {status}")));
        Ok(Struck { cut, found: found.into_iter().collect() })
    }

    /// Start again, killed so often on the way as the round says; a start that takes too long is a violation.
    fn recover(&mut self) -> Result<Recovered> {
        let [end, next] = self.ends()?;
        self.image.as_ref().map(Image::remount).transpose()?;
        for share in &end.again {
            let starting = self.launch.begin(self.author, next.messages_max)?;
            sleep(self.usual().mul_f64(*share));
            drop(starting);
        }
        let server = self.launch.start(self.author, next.messages_max)?;
        let time = server.ready_after;
        self.starts.push(time);
        self.opened(server)?;
        let slow = (time > READY_MAX).then(|| format!("ready after {time:.1?}, not {READY_MAX:?}"));
        let found = slow.map(|what| Violation::new(Kind::Server, what)).into_iter().collect();
        Ok(Recovered { found, starts: vec![time], starts_killed: end.again.len() })
    }

    fn terms(&self, history: &mut History) -> Result<()> {
        // The start after it may drop mail by a cap of its own.
        history.messages_max = self.ends()?.iter().filter_map(|end| end.messages_max).min();
        let retention = self.launch.retention()?;
        history.expired = retention.and_then(|retention| Instant::now().checked_sub(retention));
        Ok(())
    }

    fn keep(&self, folder: &Path) -> Result<()> {
        if self.data.exists() {
            copy(&self.data, &folder.join("data"))?;
        }
        Ok(())
    }
}

/// Cut the power, and let the server go on for a moment over a dead disk, where it must not say yes to anything.
fn power_off(switch: Switch, clock: &Clock) -> Result<Span> {
    let begin = clock.tick();
    switch.cut()?;
    let end = clock.tick();
    sleep(Duration::from_millis(25));
    Ok(Span { begin, end })
}

/// End the server as the round says, and wait until it is gone.
fn die(server: Server, end: &End) -> Result<ExitStatus> {
    if let Some(grace) = end.grace {
        server.signal(Signal::TERM)?;
        sleep(grace);
    }
    server.signal(Signal::KILL)?;
    server.wait()
}

/// Copy a folder and all below it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target).with_context(|| format!("cannot copy to {}", target.display()))?;
        }
    }
    Ok(())
}
