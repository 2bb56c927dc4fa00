//! The campaign: round after round on the same data, the clients work, the server dies, it comes back, everything is
//! read, and the checker judges.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::process::{Pid, Signal};

use crate::load::figures::percentile;
use crate::load::server::Server;

use super::checker::{Kind, Ledger, Violation};
use super::clients::{CLIENTS, Client, Field};
use super::fuse::{Death, End, Fuse};
use super::history::{Clock, History, Look, Scope, Span, Target};
use super::letter::{MAILBOXES, mailbox};
use super::power::{Image, Switch};
use super::report::Totals;
use super::rest::Rest;
use super::rig::{Rig, copy};

/// A start on data of this size must not take longer.
const READY_MAX: Duration = Duration::from_secs(5);
/// Beyond either, mailboxes are purged between two rounds: all that is there is read in each.
const HELD_MAX: usize = 400;
const HELD_BYTES_MAX: u64 = 16_000_000;
/// After so many violated rounds there is nothing to be learnt from further ones.
const VIOLATED_MAX: usize = 5;
/// Of one round so many are printed; the history that is kept has them all.
const TOLD_MAX: usize = 5;
const PROGRESS_EVERY: Duration = Duration::from_secs(20);

/// A campaign under way.
pub(super) struct Campaign {
    rig: Rig,
    seed: u64,
    work: PathBuf,
    /// The file system that loses power, instead of a process that is killed.
    image: Option<Image>,
    clock: Clock,
    ledger: Ledger,
    /// What happened between two rounds; it belongs to the next one.
    between: History,
    pub(super) totals: Totals,
}

/// A round and what is to be said about it.
struct Judged {
    /// The server that came back, if it did.
    back: Option<Server>,
    history: History,
    found: Vec<Violation>,
}

impl Campaign {
    pub(super) fn new(rig: Rig, seed: u64, work: PathBuf, image: Option<Image>) -> Self {
        let (clock, ledger, between, totals) = Default::default();
        Self { rig, seed, work, image, clock, ledger, between, totals }
    }

    /// So many rounds, fewer when `enough` says so after one that broke a promise.
    pub(super) fn run(&mut self, rounds: u32, enough: impl Fn(&Totals) -> bool) -> Result<()> {
        let mut told = Instant::now();
        let mut server = self.rig.start(self.end(1).messages_max)?;
        for round in 1..=rounds {
            let Judged { back, history, found } = self.round(round, server)?;
            server = match back.filter(|_| found.is_empty()) {
                Some(server) => server,
                None => {
                    keep(&self.work, &self.rig.data, (round, self.seed), &history, &found)?;
                    if enough(&self.totals) || self.totals.violated >= VIOLATED_MAX {
                        return Ok(());
                    }
                    self.begin_anew()?;
                    self.rig.start(self.end(round + 1).messages_max)?
                }
            };
            self.make_room(&server)?;
            if told.elapsed() > PROGRESS_EVERY {
                told = Instant::now();
                println!("{}", self.totals.progress());
            }
        }
        Ok(())
    }

    /// The clients work, the server dies and comes back, everything is read, and the checker judges.
    fn round(&mut self, round: u32, server: Server) -> Result<Judged> {
        let (end, next) = (self.end(round), self.end(round + 1));
        let (mut history, mut found) = self.work(round, &end, server)?;
        // The start after it may drop mail by a cap of its own.
        history.messages_max = [end.messages_max, next.messages_max].into_iter().flatten().min();
        let retention = self.rig.retention()?;
        let back = self.restart(&end, next.messages_max).and_then(|(server, slow)| {
            found.extend(slow);
            history.after = self.read_back(&server, &mut found)?;
            history.expired = retention.and_then(|retention| Instant::now().checked_sub(retention));
            Ok(server)
        });
        match &back {
            Ok(_) => found.extend(self.ledger.judge(&history)),
            Err(error) => found.push(Violation::new(Kind::Server, format!("{error:#}"))),
        }
        self.totals.add(end.death, end.again.len(), &history, &found);
        Ok(Judged { back: back.ok(), history, found })
    }

    fn end(&self, round: u32) -> End {
        let mut end = End::drawn(self.seed, round);
        if self.image.is_some() {
            // The moments are as good; what comes after them is another death.
            end = End { death: Death::PowerCut, again: Vec::new(), grace: None, ..end };
        }
        end
    }

    /// The clients work until the server is dead.
    fn work(&mut self, round: u32, end: &End, server: Server) -> Result<(History, Vec<Violation>)> {
        let victim = Pid::from_raw(server.pid() as i32).filter(|_| self.image.is_none());
        let field = Field {
            smtp: server.address("smtp")?,
            http: server.address("http")?,
            clock: &self.clock,
            seed: self.seed,
            round,
            fuse: Fuse::new(end, victim),
            over: AtomicBool::new(false),
        };
        let mut history = std::mem::take(&mut self.between);
        let (told, burnt) = mpsc::channel();
        let image = self.image.as_ref();
        let mut switch = image.map(Image::arm).transpose()?;
        let status = scope(|threads| -> Result<ExitStatus> {
            let clients = CLIENTS.iter().zip(0u16..);
            let clients: Vec<_> = clients
                .map(|((role, turns), number)| {
                    let client = Client { field: &field, number, told: told.clone() };
                    threads.spawn(move || client.work(*role, *turns))
                })
                .collect();
            drop(told);
            // The fuse, the end of the time, or the end of all clients: whichever comes first.
            let _ = burnt.recv_timeout(end.limit);
            field.fuse.disarm();
            let cut = switch.take().map(|switch| power_off(switch, &self.clock)).transpose();
            let status = cut.as_ref().ok().map(|_| die(server, end));
            field.over.store(true, Ordering::Relaxed);
            let died = self.clock.tick();
            for client in clients {
                history.absorb(client.join().expect("a client does not panic"));
            }
            if let Some(cut) = cut? {
                history.cut(cut);
            }
            history.close(died);
            image.map(Image::remount).transpose()?;
            status.expect("it was cut off or is to be killed")
        })?;
        // Over a dead disk it may give up by itself.
        let may_end = self.image.is_some() || (end.grace.is_some() && status.success());
        let asked = may_end || status.signal() == Some(Signal::KILL.as_raw());
        let found = (!asked).then(|| Violation::new(Kind::Server, format!("it ended by itself, with {status}")));
        Ok((history, found.into_iter().collect()))
    }

    /// Start again, killed so often on the way as the round says; a start that takes too long is a violation.
    fn restart(&mut self, end: &End, messages_max: Option<usize>) -> Result<(Server, Option<Violation>)> {
        let usual = match self.totals.recoveries.is_empty() {
            true => Duration::from_millis(20),
            false => percentile(&mut self.totals.recoveries.clone(), 0.5),
        };
        for share in &end.again {
            let starting = self.rig.begin(messages_max)?;
            sleep(usual.mul_f64(*share));
            drop(starting);
        }
        let server = self.rig.start(messages_max)?;
        let time = server.ready_after;
        self.totals.recoveries.push(time);
        let slow = time > READY_MAX;
        Ok((server, slow.then(|| Violation::new(Kind::Server, format!("ready after {time:.1?}, not {READY_MAX:?}")))))
    }

    /// Every mailbox and every message, with nobody else at work.
    fn read_back(&self, server: &Server, found: &mut Vec<Violation>) -> Result<Vec<Look>> {
        read_back(&mut Rest::new(server.address("http")?, &self.clock, self.seed), found)
    }

    /// Purge the largest mailboxes when there is too much to be read in each round.
    fn make_room(&mut self, server: &Server) -> Result<()> {
        let held = self.ledger.held();
        let (mut count, mut bytes) = held.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let mut largest: Vec<_> = held.iter().collect();
        largest.sort_by_key(|(_, (_, bytes))| std::cmp::Reverse(*bytes));
        let mut rest = Rest::new(server.address("http")?, &self.clock, self.seed);
        for (name, (messages, size)) in largest {
            if count <= HELD_MAX && bytes <= HELD_BYTES_MAX {
                break;
            }
            self.between.removals.extend(rest.remove(name, Target::All, || {}));
            (count, bytes) = (count - messages, bytes - size);
        }
        Ok(())
    }

    /// Go on with an empty store, so that one broken promise is not told again and again.
    fn begin_anew(&mut self) -> Result<()> {
        (self.ledger, self.between) = Default::default();
        if self.rig.data.exists() {
            fs::remove_dir_all(&self.rig.data)?;
        }
        Ok(())
    }
}

/// The lists of all mailboxes and the sources of all messages in them. What cannot be read is a violation.
pub(super) fn read_back(rest: &mut Rest<'_>, found: &mut Vec<Violation>) -> Result<Vec<Look>> {
    let mut looks = Vec::new();
    for name in (0..MAILBOXES).map(mailbox) {
        let list = rest.list(&name)?;
        for row in &list.rows {
            match rest.source(&name, &row.id) {
                Ok(look) => looks.push(look),
                Err(error) => found.push(Violation::new(Kind::Unreadable, format!("{error:#}"))),
            }
        }
        looks.push(list);
    }
    Ok(looks)
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

/// Tell what was broken, and keep the data and the history of the round.
pub(super) fn keep(
    work: &Path,
    data: &Path,
    (round, seed): (u32, u64),
    history: &History,
    found: &[Violation],
) -> Result<()> {
    let folder = work.join(format!("round-{round}"));
    fs::create_dir_all(&folder)?;
    if data.exists() {
        copy(data, &folder.join("data"))?;
    }
    fs::write(folder.join("history.txt"), lines(history).join("\n") + "\n")?;
    println!("\nround {round} of seed {seed} breaks {} promises; its data: {}", found.len(), folder.display());
    for violation in found.iter().take(TOLD_MAX) {
        println!("  {violation}");
    }
    if found.len() > TOLD_MAX {
        println!("  … and {} more", found.len() - TOLD_MAX);
    }
    Ok(())
}

/// The whole history, in order.
fn lines(history: &History) -> Vec<String> {
    let mut lines = vec![(history.died, format!("{} the server is dead", history.died))];
    lines.extend(history.sends.iter().map(|send| (send.span.begin, send.to_string())));
    lines.extend(history.removals.iter().map(|removal| (removal.span.begin, removal.to_string())));
    for look in history.looks.iter().chain(&history.after) {
        let mut line = look.to_string();
        if look.scope == Scope::Mailbox {
            for row in &look.rows {
                let canary = row.canary.as_ref().map_or_else(|other| format!("{other:?}"), ToString::to_string);
                line.push_str(&format!(" {}={canary}", row.id));
            }
        }
        lines.push((look.span.begin, line));
    }
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}
