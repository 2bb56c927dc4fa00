//! A store with several clients at once, simulated in one thread: each question takes its first tick, its effect and its
//! last tick at moments that chance puts between those of the others. One that keeps its word must be believed, however
//! its clients interleave; one that lies must not.

use std::collections::BTreeSet;

use super::*;
use crate::load::chance::Chance;

/// What the store does wrong when it comes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lie {
    /// The last message that was acknowledged, and is still there, is not.
    Forgets,
    /// The last one to both mailboxes is in the first only.
    Halves,
    /// The last one that was deleted is there again.
    Revives,
}

enum Ask {
    Send(u16, Vec<&'static str>),
    Delete(&'static str, u16),
    Purge(&'static str),
    List(&'static str),
}

/// A question under way.
struct Way {
    begin: Tick,
    ask: Ask,
    /// What it met, once its effect came: the messages that it showed or took.
    met: Option<Vec<u16>>,
}

#[derive(Default)]
struct Simulation {
    story: Story,
    stored: BTreeMap<&'static str, BTreeSet<u16>>,
    listed: BTreeSet<(&'static str, u16)>,
    ways: Vec<Way>,
    sent: u16,
    acknowledged: Vec<(u16, Vec<&'static str>)>,
    deleted: Vec<(&'static str, u16)>,
}

impl Simulation {
    fn run(chance: &mut Chance) -> Self {
        let mut simulation = Self::default();
        for _ in 0..60 + chance.below(100) {
            simulation.story.tick += 1;
            if simulation.ways.len() < 4 && chance.percent(50) {
                simulation.ask(chance);
            } else if !simulation.ways.is_empty() {
                let place = chance.below(simulation.ways.len());
                match simulation.ways[place].met {
                    None => simulation.effect(place),
                    Some(_) => simulation.answer(place),
                }
            }
        }
        simulation.die();
        simulation
    }

    fn ask(&mut self, chance: &mut Chance) {
        let mailbox = [A, B][chance.below(2)];
        let known: Vec<_> = self.listed.iter().filter(|(other, _)| *other == mailbox).collect();
        let ask = match chance.below(10) {
            0..=4 => {
                self.sent += 1;
                Ask::Send(self.sent, if chance.percent(40) { vec![A, B] } else { vec![mailbox] })
            }
            5 | 6 if !known.is_empty() => Ask::Delete(mailbox, known[chance.below(known.len())].1),
            7 => Ask::Purge(mailbox),
            _ => Ask::List(mailbox),
        };
        self.ways.push(Way { begin: self.story.tick, ask, met: None });
    }

    fn effect(&mut self, place: usize) {
        let way = &mut self.ways[place];
        way.met = Some(match &way.ask {
            Ask::Send(number, mailboxes) => {
                for mailbox in mailboxes {
                    self.stored.entry(mailbox).or_default().insert(*number);
                }
                Vec::new()
            }
            Ask::Delete(mailbox, number) => {
                let there = self.stored.entry(mailbox).or_default().remove(number);
                there.then_some(*number).into_iter().collect()
            }
            Ask::Purge(mailbox) => self.stored.remove(mailbox).into_iter().flatten().collect(),
            Ask::List(mailbox) => self.stored.entry(mailbox).or_default().iter().copied().collect(),
        });
    }

    fn answer(&mut self, place: usize) {
        let Way { begin, ask, met } = self.ways.swap_remove(place);
        let (span, met) = (Span { begin, end: self.story.tick }, met.unwrap());
        match &ask {
            Ask::Send(number, mailboxes) => self.acknowledged.push((*number, mailboxes.clone())),
            Ask::Delete(mailbox, number) if !met.is_empty() => self.deleted.push((mailbox, *number)),
            Ask::List(mailbox) => self.listed.extend(met.iter().map(|number| (*mailbox, *number))),
            _ => {}
        }
        let absent = matches!(ask, Ask::Delete(..)) && met.is_empty();
        self.note(&ask, span, if absent { Outcome::Absent } else { Outcome::Done }, &met);
    }

    fn note(&mut self, ask: &Ask, span: Span, outcome: Outcome, met: &[u16]) {
        let (at, history) = (self.story.at, &mut self.story.history);
        match ask {
            Ask::Send(number, mailboxes) => {
                let mailboxes = mailboxes.iter().map(ToString::to_string).collect();
                let canary = canary(*number);
                history.sends.push(Send { canary, mailboxes, at, span, outcome, door: 0, waited: None });
            }
            Ask::Delete(mailbox, number) => {
                let target = Target::Message(row(*number).id);
                history.removals.push(Removal { mailbox: mailbox.to_string(), target, span, outcome, door: 0 });
            }
            Ask::Purge(mailbox) => {
                let target = Target::All;
                history.removals.push(Removal { mailbox: mailbox.to_string(), target, span, outcome, door: 0 });
            }
            Ask::List(mailbox) => {
                let rows = met.iter().map(|number| row(*number)).collect();
                let mailbox = mailbox.to_string();
                history.looks.push(Look { mailbox, scope: Scope::Mailbox, span, door: 0, rows, print: None });
            }
        }
    }

    /// What is under way is never answered, whether or not its effect came.
    fn die(&mut self) {
        for Way { begin, ask, .. } in std::mem::take(&mut self.ways) {
            if !matches!(ask, Ask::List(_)) {
                self.note(&ask, Span { begin, end: OPEN }, Outcome::Unknown, &[]);
            }
        }
        self.story.died();
    }

    /// Which message it lied about, if there was one.
    fn lie(&mut self, lie: Lie) -> Option<u16> {
        let there = |(number, mailboxes): &&(u16, Vec<&str>)| {
            let both = lie != Lie::Halves || mailboxes.len() == 2;
            both && mailboxes.iter().all(|mailbox| self.stored.get(mailbox).is_some_and(|all| all.contains(number)))
        };
        if lie == Lie::Revives {
            let (mailbox, number) = self.deleted.last()?;
            self.stored.entry(mailbox).or_default().insert(*number);
            return Some(*number);
        }
        let (number, mailboxes) = self.acknowledged.iter().rev().find(there).cloned()?;
        let from = if lie == Lie::Halves { &mailboxes[1..] } else { &mailboxes };
        for mailbox in from {
            self.stored.get_mut(mailbox).unwrap().remove(&number);
        }
        Some(number)
    }

    /// Whether a removal that was not over when the message came may be why it is not there.
    fn excused(&self, number: u16) -> bool {
        let history = &self.story.history;
        let send = history.sends.iter().find(|send| send.canary == canary(number)).unwrap();
        history.removals.iter().any(|removal| removal.span.end > send.span.begin)
    }

    fn judge(mut self) -> Vec<Violation> {
        for mailbox in [A, B] {
            let numbers: Vec<_> = self.stored.entry(mailbox).or_default().iter().copied().collect();
            self.story.then(mailbox, &numbers);
        }
        let mut found = self.story.ledger.judge(&self.story.history);
        // Here a message has its id from the moment of the question, so the order is not that of arrival.
        found.retain(|violation| violation.kind != Kind::Order);
        found
    }
}

#[test]
fn a_server_that_keeps_its_word_is_believed() {
    for seed in 0..5000 {
        let found = Simulation::run(&mut Chance::new(&[seed])).judge();
        assert!(found.is_empty(), "seed {seed}: {}", found[0]);
    }
}

#[test]
fn a_server_that_lies_is_found_out() {
    for lie in [Lie::Forgets, Lie::Halves, Lie::Revives] {
        let mut lies = 0;
        for seed in 0..2000 {
            let mut simulation = Simulation::run(&mut Chance::new(&[seed]));
            let Some(number) = simulation.lie(lie) else { continue };
            if lie == Lie::Revives || !simulation.excused(number) {
                lies += 1;
                assert!(!simulation.judge().is_empty(), "seed {seed}: {lie:?} was not seen");
            }
        }
        assert!(lies > 100, "{lie:?} was tried {lies} times only");
    }
}
