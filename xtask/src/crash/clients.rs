//! The clients of a round: they send, delete, purge and read as their seed says, all at once and each by any door, until
//! the round is over, and write down how each thing ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::load::chance::Chance;
use crate::load::smtp;

use super::doors::Doors;
use super::fuse::{Fuse, Step};
use super::history::{Canary, Clock, History, OPEN, Outcome, Send, Span, Target};
use super::letter::{self, Author, HELO, Letter, MAILBOXES, SENDER};
use super::rest::Rest;

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

/// Who is there in a round, and how they go about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowd {
    /// What each does, and how often at most.
    pub(super) roles: &'static [(Role, u16)],
    /// Some make a pause between two things, of up to so long: until the blow, and after it.
    pub(super) pauses: [Duration; 2],
    /// A purger waits for up to so long: one at the beginning of each round would leave little to be lost.
    pub(super) purge_pause: Duration,
    /// Nobody opened: that long until the next try.
    pub(super) rebuffed: Duration,
}

/// A crowd for one server that will be dead within a second.
pub(super) const BRIEF: Crowd = Crowd {
    roles: &[
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
    ],
    pauses: [Duration::from_millis(4); 2],
    purge_pause: Duration::from_millis(200),
    rebuffed: Duration::from_millis(1),
};

/// A crowd that stays for as long as a cluster needs to get over what happened to it.
pub(super) const STEADY: Crowd = Crowd {
    roles: &[
        (Role::Sender, u16::MAX),
        (Role::Sender, u16::MAX),
        (Role::Sender, u16::MAX),
        (Role::Sender, u16::MAX),
        (Role::Sender, u16::MAX),
        (Role::Sender, u16::MAX),
        (Role::Deleter, u16::MAX),
        (Role::Deleter, u16::MAX),
        (Role::Purger, u16::MAX),
        (Role::Reader, u16::MAX),
        (Role::Reader, u16::MAX),
    ],
    pauses: [Duration::from_millis(20), Duration::from_millis(400)],
    purge_pause: Duration::from_secs(4),
    rebuffed: Duration::from_millis(25),
};

/// What all clients of a round share.
pub(super) struct Field<'a> {
    pub(super) doors: Arc<Doors>,
    pub(super) clock: &'a Clock,
    pub(super) author: Author,
    pub(super) crowd: Crowd,
    pub(super) round: u32,
    pub(super) fuse: Fuse,
    /// There is nothing more to ask.
    pub(super) over: AtomicBool,
}

/// A connection by one of the doors.
pub(super) struct Line {
    door: usize,
    client: smtp::Client,
}

/// One client at work.
pub(super) struct Client<'a> {
    field: &'a Field<'a>,
    number: u16,
    /// Tells that the fuse burnt; and, when all clients dropped theirs, that they are done.
    told: Sender<()>,
    /// Which door it takes.
    doors: Chance,
}

impl<'a> Client<'a> {
    pub(super) fn new(field: &'a Field<'a>, number: u16, told: Sender<()>) -> Self {
        let doors = Chance::new(&[field.author.seed, field.round.into(), number.into(), 0xd004]);
        Self { field, number, told, doors }
    }

    /// Act until all turns are taken or the round is over.
    pub(super) fn work(mut self, role: Role, turns: u16) -> History {
        let Field { round, author, crowd, .. } = *self.field;
        let mut chance = Chance::new(&[author.seed, round.into(), self.number.into(), 0xc11e]);
        let mut rest = None;
        let mut line = None;
        let mut seen = History::default();
        for turn in 0..turns {
            if self.field.over.load(Ordering::Relaxed) {
                break;
            }
            let mailbox = letter::mailbox(chance.below(MAILBOXES));
            if role == Role::Sender {
                if chance.percent(25) {
                    line = None; // a fresh connection
                }
                let canary = Canary { round, client: self.number, turn };
                let way = if chance.percent(3) { Way::Abandoned } else { Way::Whole };
                seen.sends.extend(self.send(&mut line, canary, way));
            } else if role == Role::Purger {
                self.pause(chance.time(crowd.purge_pause));
                self.remove(&mut rest, &mailbox, Target::All, &mut seen);
            } else {
                self.pick(role, &mut rest, &mailbox, chance.share(), &mut seen);
            }
            if chance.percent(40) {
                let [before, after] = crowd.pauses;
                sleep(chance.time(if self.field.fuse.is_out() { after } else { before }));
            }
        }
        seen
    }

    fn at(&self, step: Step, door: usize) {
        self.field.fuse.at(step, door, &self.told);
    }

    /// Sleep, but not beyond the end of the round.
    fn pause(&self, time: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < time && !self.field.over.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(20).min(time.saturating_sub(begin.elapsed())));
        }
    }

    /// A client of REST by any door; the one that it had, when it is the same door.
    fn rest<'b>(&mut self, rest: &'b mut Option<Rest<'a>>) -> Option<&'b mut Rest<'a>> {
        let door = self.field.doors.shuffled(&mut self.doors).into_iter().next()?;
        if rest.as_ref().is_none_or(|rest| rest.door != door) {
            *rest = Some(Rest::new(door, self.field.clock, self.field.author));
        }
        rest.as_mut()
    }

    /// A line by any door that opens.
    fn line(&mut self) -> Option<Line> {
        let doors = self.field.doors.shuffled(&mut self.doors);
        doors.into_iter().find_map(|door| {
            let client = smtp::Client::named(HELO, door.from, door.smtp).ok()?;
            Some(Line { door: door.number, client })
        })
    }

    /// One message, on the kept connection or on a new one. None when there was no connection to be had.
    pub(super) fn send(&mut self, line: &mut Option<Line>, canary: Canary, way: Way) -> Option<Send> {
        let letter = self.field.author.letter(canary);
        let Some(mut kept) = line.take().or_else(|| self.line()) else {
            sleep(self.field.crowd.rebuffed); // it is dead or dying
            return None;
        };
        let at = Instant::now();
        let mut span = Span { begin: self.field.clock.tick(), end: OPEN };
        let mut dot = None;
        let outcome = self.transact(&mut kept, &letter, way, &mut dot);
        let (waited, door) = (dot.map(|dot| dot.elapsed()), kept.door);
        if outcome == Outcome::Done {
            *line = Some(kept);
        }
        if outcome != Outcome::Unknown {
            span.end = self.field.clock.tick();
        }
        if outcome == Outcome::Done {
            self.at(Step::Accepted, door);
        }
        Some(Send { canary, mailboxes: letter.mailboxes(), at, span, outcome, door, waited })
    }

    fn transact(&self, line: &mut Line, letter: &Letter, way: Way, dot: &mut Option<Instant>) -> Outcome {
        let Line { client: line, door } = line;
        let recipients = letter.recipients.iter().map(|address| (format!("RCPT TO:<{address}>"), "250"));
        let mail = (format!("MAIL FROM:<{SENDER}>"), "250");
        for (command, code) in [mail].into_iter().chain(recipients).chain([("DATA".into(), "354")]) {
            match line.ask(&command) {
                Ok(reply) if reply.starts_with(code) => {}
                Ok(reply) => return Outcome::Refused(reply),
                Err(_) => return Outcome::Unasked,
            }
        }
        let content = letter::wire(&letter.content(self.field.author.seed));
        let (first, second) = content.split_at(content.len() / 2);
        if line.send(first).is_err() {
            return Outcome::Unasked;
        }
        self.at(Step::Data, *door);
        if way == Way::Abandoned || line.send(second).is_err() {
            return Outcome::Unasked;
        }
        *dot = Some(Instant::now());
        self.at(Step::Dot, *door);
        match line.reply() {
            Ok(reply) if reply.starts_with("250") => Outcome::Done,
            Ok(reply) if reply.starts_with(['4', '5']) => Outcome::Refused(reply),
            _ => Outcome::Unknown,
        }
    }

    /// List a mailbox, choose one of its messages, and delete or read it, perhaps by another door.
    fn pick(&mut self, role: Role, rest: &mut Option<Rest<'a>>, mailbox: &str, share: f64, seen: &mut History) {
        let Some(look) = self.rest(rest).and_then(|rest| rest.list(mailbox).ok()) else {
            return sleep(self.field.crowd.rebuffed);
        };
        let place = (look.rows.len() as f64 * share) as usize;
        let id = look.rows.get(place).map(|row| row.id.clone());
        seen.looks.push(look);
        match id {
            Some(id) if role == Role::Deleter => self.remove(rest, mailbox, Target::Message(id), seen),
            Some(id) => seen.looks.extend(self.rest(rest).and_then(|rest| rest.source(mailbox, &id).ok())),
            None => {}
        }
    }

    fn remove(&mut self, rest: &mut Option<Rest<'a>>, mailbox: &str, target: Target, seen: &mut History) {
        let Some(rest) = self.rest(rest) else { return };
        let door = rest.door.number;
        let removal = rest.remove(mailbox, target, || self.at(Step::Removing, door));
        if removal.as_ref().is_some_and(|removal| removal.outcome == Outcome::Done) {
            self.at(Step::Removed, door);
        }
        seen.removals.extend(removal);
    }
}
