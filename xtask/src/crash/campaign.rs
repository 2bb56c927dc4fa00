//! The campaign: round after round on the same data, the clients work, something happens to what is under trial, it is
//! whole again, everything is read, and the checker judges.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::scope;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::checker::{Kind, Ledger, Violation};
use super::clients::{Client, Crowd, Field};
use super::doors::Door;
use super::fuse::Fuse;
use super::history::{Clock, History, Look, Outcome, Scope, Target};
use super::letter::{MAILBOXES, mailbox};
use super::report::Totals;
use super::rest::Rest;
use super::rig::{Aim, Recovered, Rig, Struck};

/// Beyond either, mailboxes are purged between two rounds: all that is there is read in each.
const HELD_MAX: usize = 400;
const HELD_BYTES_MAX: u64 = 16_000_000;
/// After so many violated rounds there is nothing to be learnt from further ones.
const VIOLATED_MAX: usize = 5;
/// Of one round so many are printed; the history that is kept has them all.
const TOLD_MAX: usize = 5;
const PROGRESS_EVERY: Duration = Duration::from_secs(20);

/// A campaign under way.
pub(crate) struct Campaign<R> {
    pub(crate) rig: R,
    crowd: Crowd,
    work: PathBuf,
    clock: Clock,
    ledger: Ledger,
    /// What happened between two rounds; it belongs to the next one.
    between: History,
    pub(crate) totals: Totals,
}

/// A round and what is to be said about it.
struct Judged {
    /// Whether it is whole again.
    back: bool,
    history: History,
    found: Vec<Violation>,
}

impl<R: Rig> Campaign<R> {
    pub(super) fn new(rig: R, crowd: Crowd, work: PathBuf) -> Self {
        let (clock, ledger, between, totals) = Default::default();
        Self { rig, crowd, work, clock, ledger, between, totals }
    }

    /// So many rounds, fewer when `enough` says so after one that broke a promise.
    pub(crate) fn run(&mut self, rounds: u32, enough: impl Fn(&Totals) -> bool) -> Result<()> {
        let mut told = Instant::now();
        self.rig.begin(1)?;
        for round in 1..=rounds {
            let Judged { back, history, found } = self.round(round)?;
            if !back || !found.is_empty() {
                let folder = keep(&self.work, (round, self.rig.author().seed), &history, &found)?;
                self.rig.keep(&folder)?;
                if round == rounds || enough(&self.totals) || self.totals.violated >= VIOLATED_MAX {
                    return Ok(());
                }
                // Go on with an empty store, so that one broken promise is not told again and again.
                (self.ledger, self.between) = Default::default();
                self.rig.begin(round + 1)?;
            }
            self.make_room()?;
            if told.elapsed() > PROGRESS_EVERY {
                told = Instant::now();
                println!("{}", self.totals.progress());
            }
        }
        Ok(())
    }

    /// The clients work, the blow falls, everything comes back and is read, and the checker judges.
    fn round(&mut self, round: u32) -> Result<Judged> {
        let aim = self.rig.aim(round)?;
        let kind = aim.kind.clone();
        let (mut history, mut found) = self.work(round, aim)?;
        let mut recovered = Recovered::default();
        let back = self.rig.recover().and_then(|all| {
            recovered = all;
            history.close(self.clock.tick());
            if self.rig.voids() {
                return self.start_over();
            }
            history.after = self.read_back(&mut found)?;
            Ok(())
        });
        found.append(&mut recovered.found);
        match &back {
            Ok(()) if self.rig.voids() => {}
            Ok(()) => {
                self.rig.terms(&mut history)?;
                found.extend(self.ledger.judge(&history));
                found.extend(self.rig.also(&history));
            }
            Err(error) => found.push(Violation::new(Kind::Server, format!("{error:#}"))),
        }
        self.totals.add(&kind, &recovered, &history, &found);
        Ok(Judged { back: back.is_ok(), history, found })
    }

    /// The clients work until the blow has fallen and, where that is so, what it did is over.
    fn work(&mut self, round: u32, aim: Aim) -> Result<(History, Vec<Violation>)> {
        let field = Field {
            doors: self.rig.doors(),
            clock: &self.clock,
            author: self.rig.author(),
            crowd: self.crowd,
            round,
            fuse: Fuse::new(aim.moment, aim.victims),
            over: AtomicBool::new(false),
        };
        let mut history = std::mem::take(&mut self.between);
        let rig = &mut self.rig;
        let (told, burnt) = mpsc::channel();
        let struck = scope(|threads| {
            let clients = field.crowd.roles.iter().zip(0u16..);
            let clients: Vec<_> = clients
                .map(|((role, turns), number)| {
                    let client = Client::new(&field, number, told.clone());
                    threads.spawn(move || client.work(*role, *turns))
                })
                .collect();
            drop(told);
            // The fuse, the end of the time, or the end of all clients: whichever comes first.
            let _ = burnt.recv_timeout(aim.moment.limit);
            let door = field.fuse.disarm();
            let struck = rig.strike(field.clock, door);
            field.over.store(true, Ordering::Relaxed);
            for client in clients {
                history.absorb(client.join().expect("a client does not panic"));
            }
            struck
        });
        let Struck { cut, found } = struck?;
        if let Some(cut) = cut {
            history.cut(cut);
        }
        Ok((history, found))
    }

    /// Every mailbox and every message by every door, with nobody else at work.
    fn read_back(&self, found: &mut Vec<Violation>) -> Result<Vec<Look>> {
        let (clock, author) = (&self.clock, self.rig.author());
        let doors = self.rig.doors().opened();
        scope(|threads| {
            let reader = |door: &Door| {
                let door = *door;
                threads.spawn(move || {
                    let mut found = Vec::new();
                    let looks = read_back(&mut Rest::new(door, clock, author), &mut found);
                    looks.map(|looks| (looks, found)).with_context(|| format!("by door {}", door.number + 1))
                })
            };
            let readers: Vec<_> = doors.iter().map(reader).collect();
            let mut looks = Vec::new();
            for reader in readers {
                let (seen, unread) = reader.join().expect("a reader does not panic")?;
                looks.extend(seen);
                found.extend(unread);
            }
            Ok(looks)
        })
    }

    /// A client with nobody else at work.
    fn rest(&self) -> Result<Rest<'_>> {
        let door = self.rig.doors().opened().into_iter().next().context("no door is open")?;
        Ok(Rest::new(door, &self.clock, self.rig.author()))
    }

    /// Purge the largest mailboxes when there is too much to be read in each round.
    fn make_room(&mut self) -> Result<()> {
        let held = self.ledger.held();
        let (mut count, mut bytes) = held.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let mut largest: Vec<_> = held.iter().collect();
        largest.sort_by_key(|(_, (_, bytes))| std::cmp::Reverse(*bytes));
        let mut rest = self.rest()?;
        let mut removals = Vec::new();
        for (name, (messages, size)) in largest {
            if count <= HELD_MAX && bytes <= HELD_BYTES_MAX {
                break;
            }
            removals.extend(rest.remove(name, Target::All, || {}));
            (count, bytes) = (count - messages, bytes - size);
        }
        self.between.removals.extend(removals);
        Ok(())
    }

    /// Begin from nothing on the same store: purge everything, and forget it.
    fn start_over(&mut self) -> Result<()> {
        let mut rest = self.rest()?;
        for name in (0..MAILBOXES).map(mailbox) {
            let purged = rest.remove(&name, Target::All, || {}).context("there is no connection")?;
            anyhow::ensure!(purged.outcome == Outcome::Done, "{purged}");
        }
        (self.ledger, self.between) = Default::default();
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

/// Tell what was broken, and keep the history of the round in a folder, for what else shows it to be put there.
pub(super) fn keep(work: &Path, (round, seed): (u32, u64), history: &History, found: &[Violation]) -> Result<PathBuf> {
    let folder = work.join(format!("round-{round}"));
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("history.txt"), lines(history).join("\n") + "\n")?;
    println!("\nround {round} of seed {seed} breaks {} promises; its data: {}", found.len(), folder.display());
    for violation in found.iter().take(TOLD_MAX) {
        println!("  {violation}");
    }
    if found.len() > TOLD_MAX {
        println!("  … and {} more", found.len() - TOLD_MAX);
    }
    Ok(folder)
}

/// The whole history, in order.
fn lines(history: &History) -> Vec<String> {
    let mut lines = vec![(history.closed, format!("{} nothing is under way any more", history.closed))];
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
