//! The clients of a round: they send, delete, purge and read as their seed says, all at once, until the server is dead,
//! and write down how each thing ended.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::load::chance::Chance;
use crate::load::smtp;

use super::fuse::{Fuse, Step};
use super::history::{Canary, Clock, History, OPEN, Outcome, Send, Span, Target};
use super::letter::{self, HELO, Letter, MAILBOXES, SENDER};
use super::rest::Rest;

/// Who is there in a round, and how often each acts at most.
pub(super) const CLIENTS: &[(Role, u16)] = &[
    (Role::Sender, 30),
    (Role::Sender, 30),
    (Role::Sender, 30),
    (Role::Sender, 30),
    (Role::Sender, 30),
    (Role::Sender, 30),
    (Role::Deleter, 12),
    (Role::Deleter, 12),
    (Role::Purger, 3),
    (Role::Reader, 15),
    (Role::Reader, 15),
];

/// What a client does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Sender,
    Deleter,
    Purger,
    Reader,
}

/// How a message is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// To its end.
    Whole,
    /// The client goes away in the middle of it.
    Abandoned,
}

/// What all clients of a round share.
pub(super) struct Field<'a> {
    pub(super) smtp: SocketAddr,
    pub(super) http: SocketAddr,
    pub(super) clock: &'a Clock,
    pub(super) seed: u64,
    pub(super) round: u32,
    pub(super) fuse: Fuse,
    /// The server is dead: there is nothing more to ask.
    pub(super) over: AtomicBool,
}

/// One client at work.
pub(super) struct Client<'a> {
    pub(super) field: &'a Field<'a>,
    pub(super) number: u16,
    /// Tells that the fuse burnt; and, when all clients dropped theirs, that they are done.
    pub(super) told: Sender<()>,
}

impl Client<'_> {
    /// Act until all turns are taken or the server is gone.
    pub(super) fn work(self, role: Role, turns: u16) -> History {
        let numbers = [self.field.seed, self.field.round.into(), self.number.into(), 0xc11e];
        let mut chance = Chance::new(&numbers);
        let mut rest = Rest::new(self.field.http, self.field.clock, self.field.seed);
        let mut line = None;
        let mut seen = History::default();
        for turn in 0..turns {
            if self.field.over.load(Ordering::Relaxed) {
                break;
            }
            let mailbox = letter::mailbox(chance.below(MAILBOXES));
            match role {
                Role::Sender => {
                    if chance.percent(25) {
                        line = None; // a fresh connection
                    }
                    let canary = Canary { round: self.field.round, client: self.number, turn };
                    let way = if chance.percent(3) { Way::Abandoned } else { Way::Whole };
                    seen.sends.extend(self.send(&mut line, canary, way));
                }
                Role::Deleter => self.delete(&mut rest, &mailbox, chance.share(), &mut seen),
                Role::Reader => self.read(&mut rest, &mailbox, chance.share(), &mut seen),
                Role::Purger => {
                    // A purge at the beginning of each round would leave little to be lost.
                    sleep(chance.time(Duration::from_millis(200)));
                    self.remove(&mut rest, &mailbox, Target::All, &mut seen);
                }
            }
            if chance.percent(40) {
                sleep(chance.time(Duration::from_millis(4)));
            }
        }
        seen
    }

    fn at(&self, step: Step) {
        self.field.fuse.at(step, &self.told);
    }

    /// One message, on the kept connection or on a new one. None when there was no connection to be had.
    pub(super) fn send(&self, line: &mut Option<smtp::Client>, canary: Canary, way: Way) -> Option<Send> {
        let letter = Letter::drawn(self.field.seed, canary);
        let kept = line.take().or_else(|| smtp::Client::named(HELO, Ipv4Addr::LOCALHOST, self.field.smtp).ok());
        let Some(mut kept) = kept else {
            sleep(Duration::from_millis(1)); // it is dead or dying
            return None;
        };
        let at = Instant::now();
        let mut span = Span { begin: self.field.clock.tick(), end: OPEN };
        let outcome = self.transact(&mut kept, &letter, way);
        if outcome == Outcome::Done {
            *line = Some(kept);
        }
        if outcome != Outcome::Unknown {
            span.end = self.field.clock.tick();
        }
        if outcome == Outcome::Done {
            self.at(Step::Accepted);
        }
        Some(Send { canary, mailboxes: letter.mailboxes(), at, span, outcome })
    }

    fn transact(&self, line: &mut smtp::Client, letter: &Letter, way: Way) -> Outcome {
        let recipients = letter.recipients.iter().map(|address| (format!("RCPT TO:<{address}>"), "250"));
        let mail = (format!("MAIL FROM:<{SENDER}>"), "250");
        for (command, code) in [mail].into_iter().chain(recipients).chain([("DATA".into(), "354")]) {
            match line.ask(&command) {
                Ok(reply) if reply.starts_with(code) => {}
                Ok(reply) => return Outcome::Refused(reply),
                Err(_) => return Outcome::Unasked,
            }
        }
        let content = letter::wire(&letter.content(self.field.seed));
        let (first, second) = content.split_at(content.len() / 2);
        if line.send(first).is_err() {
            return Outcome::Unasked;
        }
        self.at(Step::Data);
        if way == Way::Abandoned || line.send(second).is_err() {
            return Outcome::Unasked;
        }
        self.at(Step::Dot);
        match line.reply() {
            Ok(reply) if reply.starts_with("250") => Outcome::Done,
            Ok(reply) if reply.starts_with(['4', '5']) => Outcome::Refused(reply),
            _ => Outcome::Unknown,
        }
    }

    fn delete(&self, rest: &mut Rest<'_>, mailbox: &str, share: f64, seen: &mut History) {
        if let Some(id) = pick(rest, mailbox, share, seen) {
            self.remove(rest, mailbox, Target::Message(id), seen);
        }
    }

    fn read(&self, rest: &mut Rest<'_>, mailbox: &str, share: f64, seen: &mut History) {
        if let Some(id) = pick(rest, mailbox, share, seen) {
            seen.looks.extend(rest.source(mailbox, &id).ok());
        }
    }

    fn remove(&self, rest: &mut Rest<'_>, mailbox: &str, target: Target, seen: &mut History) {
        let removal = rest.remove(mailbox, target, || self.at(Step::Removing));
        if removal.as_ref().is_some_and(|removal| removal.outcome == Outcome::Done) {
            self.at(Step::Removed);
        }
        seen.removals.extend(removal);
    }
}

/// List a mailbox and choose one of its messages.
fn pick(rest: &mut Rest<'_>, mailbox: &str, share: f64, seen: &mut History) -> Option<String> {
    let look = rest.list(mailbox).ok()?;
    let place = (look.rows.len() as f64 * share) as usize;
    let id = look.rows.get(place).map(|row| row.id.clone());
    seen.looks.push(look);
    id
}
