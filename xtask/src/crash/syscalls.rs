//! Death at every system call that changes a file: strace kills the server at the first of them, then at the second, and
//! so on to the last, over the same short piece of work. What a random moment meets once in a thousand rounds is met here
//! for certain.
//!
//! strace counts per thread, so where several write, the busiest would die for all: therefore each file is walked along on
//! its own.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;

use crate::load::server::Server;
use crate::shell::which;

use super::campaign::{keep, read_back};
use super::checker::{Kind, Ledger, Violation};
use super::clients::{BRIEF, Client, Field, Way};
use super::doors::{Door, Doors};
use super::fuse::{Death, Fuse, Moment, Victims};
use super::history::{Canary, Clock, History, Look, Outcome, Target};
use super::launch::Launch;
use super::letter::Author;
use super::lone::{Lone, copy};
use super::report::Totals;
use super::rest::Rest;
use super::rig::Recovered;
use super::{Options, Work, clean};

/// What changes a file, or makes a change last.
const CALLS: &[&str] = &["write", "pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "rename"];
/// A walk that comes so far without an end has met something that never ends.
const POINTS_MAX: u32 = 10_000;
/// Up to here every call is a point; beyond it some are passed over, the more the further it goes.
const EVERY_POINT: u32 = 200;
/// Letters of the work, and the largest of them.
const LETTERS: usize = 6;
const SIZE_MAX: usize = 20_000;
/// So much is in the files that a crash left. It is a little less than the disk engine lets its log grow to before it
/// brings it into the database, so that this happens during the work.
const LEFT_BYTES: u64 = 16_600_000;
/// After so many violated points there is nothing to be learnt from further ones.
const VIOLATED_MAX: usize = 5;

/// Where the server starts from.
#[derive(Clone, Copy)]
enum Scene {
    /// Nothing: it makes its files.
    Empty,
    /// What a killed one left, with work that is in the log only: it recovers.
    Crashed,
}

/// The walk under way.
struct Walk {
    launch: Launch,
    data: PathBuf,
    author: Author,
    clock: Clock,
    work: PathBuf,
    round: u32,
    totals: Totals,
    /// The data of the scene `Crashed`, and what is known of it.
    crashed: PathBuf,
    ledger: Ledger,
}

/// `cargo xtask crash --syscalls`.
pub(super) fn run(binary: PathBuf, options: &Options) -> Result<()> {
    if let Err(why) = usable() {
        println!("skipped: {why:#}");
        return Ok(());
    }
    let work = Work::new()?;
    let data = work.folder.join("data");
    let mut walk = Walk {
        launch: Lone::launch(binary, options.settings.clone(), &data, &work.folder),
        data,
        author: Author::new(options.seed),
        clock: Clock::default(),
        work: work.folder.clone(),
        round: 0,
        totals: Totals::default(),
        crashed: work.folder.join("crashed"),
        ledger: Ledger::default(),
    };
    println!("death at every system call that changes a file, seed {}", options.seed);
    walk.crash()?;
    println!("{:<12} {:<16} {:<10} {:>6} {:>6}", "begins with", "file", "call", "calls", "kills");
    for (scene, file) in walk.paths()? {
        for call in CALLS {
            walk.along(scene, file.as_deref(), call)?;
        }
    }
    clean(work, &walk.totals)
}

/// Words that start a server whose syncs do nothing and say that all is well.
pub(super) fn faked_syncs() -> Result<Vec<String>> {
    usable()?;
    Ok(strace(&["trace=fdatasync,fsync", "inject=fdatasync,fsync:retval=0"]))
}

/// Whether strace is here and may trace.
fn usable() -> Result<()> {
    which("strace").context("strace is missing: install the Debian package strace")?;
    let words = strace(&["trace=fsync"]);
    let mut trial = Command::new(&words[0]);
    trial.args(&words[1..]).arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    ensure!(trial.status()?.success(), "strace may not trace here: allow ptrace (kernel.yama.ptrace_scope, seccomp)");
    Ok(())
}

/// With `-D` the server stays our own child, and strace ends with it.
fn strace(expressions: &[&str]) -> Vec<String> {
    let mut words: Vec<String> = ["strace", "-D", "-f", "-qq", "-o", "/dev/null"].map(String::from).into();
    for expression in expressions {
        words.extend(["-e".into(), (*expression).into()]);
    }
    words
}

impl Walk {
    /// Make the scene `Crashed`: the same work again and again, killed behind the last 250.
    fn crash(&mut self) -> Result<()> {
        let server = self.launch.start(self.author, None)?;
        let mut history = History::default();
        while history.sends.is_empty() || (1..LEFT_BYTES).contains(&size(&self.data)?) {
            self.round += 1;
            let field = self.field(&server)?;
            history.absorb(script(&field));
            ensure!(history.sends.iter().all(|send| send.outcome == Outcome::Done), "not all mail was taken");
        }
        server.signal(Signal::KILL)?;
        server.wait()?;
        history.close(self.clock.tick());
        if self.data.exists() {
            copy(&self.data, &self.crashed)?;
        }
        let server = self.launch.start(self.author, None)?;
        let mut found = Vec::new();
        history.after = self.read_back(&server, &mut found)?;
        found.extend(self.ledger.judge(&history));
        drop(server);
        match found.first() {
            None => Ok(()),
            Some(violation) => bail!("even without strace a promise is broken: {violation}"),
        }
    }

    /// Where to begin and which file to follow; none for all of them together.
    fn paths(&self) -> Result<Vec<(Scene, Option<String>)>> {
        let mut paths = vec![(Scene::Empty, None)];
        if self.crashed.exists() {
            let mut names: Vec<_> = fs::read_dir(&self.crashed)?
                .map(|file| Ok(file?.file_name().to_string_lossy().into_owned()))
                .collect::<Result<_>>()?;
            names.sort();
            paths.extend(names.into_iter().map(|name| (Scene::Crashed, Some(name))));
        }
        Ok(paths)
    }

    /// Kill at the first call, the second, the third, until one run comes to its end.
    fn along(&mut self, scene: Scene, file: Option<&str>, call: &str) -> Result<()> {
        let (mut point, mut kills) = (1, 0);
        while self.totals.violated < VIOLATED_MAX {
            ensure!(point <= POINTS_MAX, "{call}: no end after {POINTS_MAX} calls");
            self.round += 1;
            if !self.at(scene, file, call, point)? {
                break;
            }
            kills += 1;
            point += 1 + point.saturating_sub(EVERY_POINT) / 20;
        }
        if kills > 0 {
            let begin = if matches!(scene, Scene::Empty) { "nothing" } else { "a crash" };
            println!("{begin:<12} {:<16} {call:<10} {:>6} {kills:>6}", file.unwrap_or("all"), point - 1);
        }
        Ok(())
    }

    /// One run. Whether it was killed.
    fn at(&mut self, scene: Scene, file: Option<&str>, call: &str, point: u32) -> Result<bool> {
        if self.data.exists() {
            fs::remove_dir_all(&self.data)?;
        }
        let mut ledger = Ledger::default();
        if matches!(scene, Scene::Crashed) && self.crashed.exists() {
            copy(&self.crashed, &self.data)?;
            ledger = self.ledger.clone();
        }
        let (mut history, status) = self.work_under(file, call, point)?;
        let killed = status.signal() == Some(Signal::KILL.as_raw());
        let mut found = Vec::new();
        if !killed && !status.success() {
            found.push(Violation::new(Kind::Server, format!("it ended by itself, with {status}")));
        }
        let mut recovered = Recovered::default();
        match self.launch.start(self.author, None) {
            Err(error) => found.push(Violation::new(Kind::Server, format!("{error:#}"))),
            Ok(server) => {
                recovered.starts.push(server.ready_after);
                history.after = self.read_back(&server, &mut found)?;
                found.extend(ledger.judge(&history));
            }
        }
        if killed {
            self.totals.add(&Death::AtASyscall.to_string(), &recovered, &history, &found);
        }
        if !found.is_empty() {
            println!("killed at {call} number {point} of {}:", file.unwrap_or("all files"));
            let folder = keep(&self.work, (self.round, self.author.seed), &history, &found)?;
            copy(&self.data, &folder.join("data"))?;
        }
        Ok(killed)
    }

    /// Start under strace and do the work, as far as it goes; then the end that a user would bring about.
    fn work_under(&self, file: Option<&str>, call: &str, point: u32) -> Result<(History, ExitStatus)> {
        let mut launch = self.launch.clone();
        // A set that is optional (`?`) may lack on some processors: arm64 has no unlink and no rename.
        let set = format!("?{call},?{call}at");
        let set = if ["unlink", "rename"].contains(&call) { set.as_str() } else { call };
        launch.under = strace(&[&format!("trace={set}"), &format!("inject={set}:signal=KILL:when={point}")]);
        if let Some(file) = file {
            launch.under.extend(["-P".into(), self.data.join(file).display().to_string()]);
        }
        let mut history = History::default();
        let starting = launch.begin(self.author, None)?;
        let status = match starting.ready_or_dead()? {
            Err(status) => status,
            Ok(server) => {
                let field = self.field(&server)?;
                history.absorb(script(&field));
                // Killed already, it takes the signal and nothing happens.
                server.signal(Signal::TERM)?;
                server.wait()?
            }
        };
        history.close(self.clock.tick());
        Ok((history, status))
    }

    fn field<'a>(&'a self, server: &Server) -> Result<Field<'a>> {
        let doors = Doors::default();
        doors.open(self.door(server)?);
        Ok(Field {
            doors: Arc::new(doors),
            clock: &self.clock,
            author: self.author,
            crowd: BRIEF,
            round: self.round,
            fuse: Fuse::new(Moment::after(Duration::ZERO), Victims::default()),
            over: AtomicBool::new(false),
        })
    }

    fn door(&self, server: &Server) -> Result<Door> {
        Door::of(server, 0, self.author.from)
    }

    fn read_back(&self, server: &Server, found: &mut Vec<Violation>) -> Result<Vec<Look>> {
        read_back(&mut Rest::new(self.door(server)?, &self.clock, self.author), found)
    }
}

/// The short piece of work, one thing after the other: messages, a delete, a purge, messages. It ends where the server
/// does not answer any more.
fn script(field: &Field<'_>) -> History {
    let (told, _) = mpsc::channel();
    let mut client = Client::new(field, 0, told);
    let Some(door) = field.doors.opened().into_iter().next() else { return History::default() };
    let mut rest = Rest::new(door, field.clock, field.author);
    let mut line = None;
    let mut seen = History::default();
    for (count, canary) in small(field).into_iter().enumerate() {
        let Some(send) = client.send(&mut line, canary, Way::Whole) else { break };
        let (done, mailbox) = (send.outcome == Outcome::Done, send.mailboxes[0].clone());
        seen.sends.push(send);
        if !done {
            break;
        }
        let target = match count {
            1 => newest(&mut rest, &mailbox, &mut seen),
            3 => Some(Target::All),
            _ => continue,
        };
        let Some(target) = target else { break };
        seen.removals.extend(rest.remove(&mailbox, target, || {}));
    }
    seen
}

/// The newest message of a mailbox, to be deleted.
fn newest(rest: &mut Rest<'_>, mailbox: &str, seen: &mut History) -> Option<Target> {
    let look = rest.list(mailbox).ok()?;
    let id = look.rows.last().map(|row| row.id.clone());
    seen.looks.push(look);
    id.map(Target::Message)
}

/// Bytes of all files in a folder; none when there is no folder.
fn size(folder: &Path) -> Result<u64> {
    let Ok(files) = fs::read_dir(folder) else { return Ok(0) };
    files.map(|file| Ok(file?.metadata()?.len())).sum()
}

/// The first letters of this round that are small enough, and without a flaw.
fn small(field: &Field<'_>) -> Vec<Canary> {
    let canaries = (0..u16::MAX).map(|turn| Canary { round: field.round, client: 0, turn });
    let fits = |canary: &Canary| {
        let letter = field.author.letter(*canary);
        letter.size <= SIZE_MAX && letter.flaw.is_none()
    };
    canaries.filter(fits).take(LETTERS).collect()
}
