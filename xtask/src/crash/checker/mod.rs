//! The checker: a history goes in, the promises it breaks come out. It knows no server, no socket and no clock.
//!
//! It judges round after round and carries over what is in the store. At the end of a round nobody is at work and
//! everything was read, so each copy is settled: it is there, or it is gone for good.

mod order;
#[cfg(test)]
mod tests;
mod violation;
mod worlds;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use super::history::{Canary, History, Look, Outcome, Print, Reads, Removal, Row, Scope, Send, Span, Target, Tick};
pub(crate) use violation::{Kind, Violation};
use worlds::{Entry, Facts, explained};

/// What is known of everything that was ever sent.
#[derive(Clone, Default)]
pub(super) struct Ledger {
    /// What may be somewhere.
    messages: BTreeMap<Canary, Message>,
    /// What may never be seen again.
    over: HashMap<Canary, Fate>,
    mailboxes: BTreeMap<String, Ids>,
}

#[derive(Clone)]
struct Message {
    send: Send,
    entry: Entry,
    copies: BTreeMap<String, Copy>,
    /// Of the stored bytes, the same in every mailbox and for ever.
    sum: Option<u64>,
}

/// A message in one mailbox.
#[derive(Clone, Default)]
struct Copy {
    id: Option<String>,
    size: u64,
    facts: Facts,
    /// It was absent when everything was read: it may not come back.
    gone: bool,
}

/// Why a message is over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Refused,
    Gone,
}

/// The ids of one mailbox, of now and ever.
#[derive(Clone, Default)]
struct Ids {
    owners: HashMap<String, Canary>,
    /// The highest that was seen before this round.
    highest: Option<String>,
}

impl Ledger {
    /// Judge one round and settle it.
    pub(super) fn judge(&mut self, history: &History) -> Vec<Violation> {
        let mut found = Vec::new();
        self.register(&history.sends);
        let mut looks: Vec<&Look> = history.looks.iter().chain(&history.after).collect();
        looks.sort_by_key(|look| look.span.end);
        for look in &looks {
            for row in &look.rows {
                found.extend(self.recognise(look, row).err());
            }
            found.extend(self.compare(look));
        }
        history.looks.iter().for_each(|look| self.note_look(look, history.reads));
        history.after.iter().for_each(|look| self.note_look(look, Reads::Exact));
        history.removals.iter().for_each(|removal| self.note_removal(removal, history.reads));
        if let Some(messages_max) = history.messages_max {
            self.note_evictions(messages_max);
        }
        if let Some(expired) = history.expired {
            self.note_expiry(expired);
        }
        found.extend(self.messages.values().filter_map(|message| message.judge(history)));
        found.extend(order::judge(self, &looks));
        self.settle(history);
        found
    }

    /// The messages that are there, by mailbox: how many and how many bytes.
    pub(super) fn held(&self) -> BTreeMap<&str, (usize, u64)> {
        let mut held = BTreeMap::new();
        for (mailbox, copy) in self.messages.values().flat_map(|message| &message.copies) {
            if !copy.gone {
                let (count, bytes) = held.entry(mailbox.as_str()).or_insert((0, 0));
                (*count, *bytes) = (*count + 1, *bytes + copy.size);
            }
        }
        held
    }

    fn register(&mut self, sends: &[Send]) {
        for send in sends {
            let entry = match send.outcome {
                Outcome::Done => Entry::Within(send.span),
                Outcome::Unknown => Entry::Perhaps(send.span),
                _ => Entry::Never,
            };
            let copies = send.mailboxes.iter().map(|mailbox| (mailbox.clone(), Copy::default())).collect();
            self.messages.insert(send.canary, Message { send: send.clone(), entry, copies, sum: None });
        }
    }

    /// What a row shows must be a message that was sent to here, always under the same id.
    fn recognise(&mut self, look: &Look, row: &Row) -> Result<(), Violation> {
        let mailbox = &look.mailbox;
        let place = format!("{mailbox}/{}", row.id);
        let canary = *row.canary.as_ref().map_err(|what| {
            Violation::new(Kind::Ghost, format!("{place} is nothing that was sent: {what:?}; {look}"))
        })?;
        let owner = *self.ids(mailbox).owners.entry(row.id.clone()).or_insert(canary);
        if owner != canary {
            return Err(Violation::new(Kind::Reused, format!("{place} is {canary}, and was {owner}; {look}")));
        }
        match self.over.get(&canary) {
            Some(Fate::Refused) => {
                return Err(Violation::new(Kind::Kept, format!("{place} is {canary}, refused in its round; {look}")));
            }
            Some(Fate::Gone) => {
                return Err(Violation::new(Kind::Back, format!("{place} is {canary}, gone since a round; {look}")));
            }
            None => {}
        }
        let copy = self.messages.get_mut(&canary).and_then(|message| message.copies.get_mut(mailbox));
        let Some(copy) = copy else {
            return Err(Violation::new(Kind::Ghost, format!("{place} is {canary}, not sent to here; {look}")));
        };
        copy.recognise(canary, &place, row, look)
    }

    /// The bytes of a source must be those that were sent, the same in every mailbox and for ever.
    fn compare(&mut self, look: &Look) -> Option<Violation> {
        let (row, Print { sum, fault }) = (look.rows.first()?, look.print.as_ref()?);
        let canary = *row.canary.as_ref().ok()?;
        let message = self.messages.get_mut(&canary)?;
        let place = format!("{}/{} is {canary}", look.mailbox, row.id);
        if let Some(fault) = fault {
            return Some(Violation::new(Kind::Changed, format!("{place}: {fault}; {look}")));
        }
        let changed = *message.sum.get_or_insert(*sum) != *sum;
        changed.then(|| Violation::new(Kind::Changed, format!("{place}: other bytes than before or elsewhere; {look}")))
    }

    fn note_look(&mut self, look: &Look, reads: Reads) {
        let shown = |canary| look.rows.iter().any(|row| row.canary == Ok(canary));
        match &look.scope {
            Scope::Mailbox => {
                let there: HashSet<_> = look.rows.iter().filter_map(|row| row.canary.as_ref().ok()).collect();
                for (canary, copy) in self.copies(&look.mailbox) {
                    copy.facts.see(there.contains(&canary), look.span, reads);
                }
            }
            Scope::Message(id) => {
                if let Some((canary, copy)) = self.owner(&look.mailbox, id) {
                    copy.facts.see(shown(canary), look.span, reads);
                }
            }
        }
    }

    fn note_removal(&mut self, removal: &Removal, reads: Reads) {
        let (span, outcome) = (removal.span, &removal.outcome);
        if reads == Reads::Lagging && *outcome == Outcome::Absent {
            return; // it was not there once, but when?
        }
        match &removal.target {
            Target::All => self.copies(&removal.mailbox).for_each(|(_, copy)| copy.facts.purge(outcome, span)),
            Target::Message(id) => {
                if let Some((_, copy)) = self.owner(&removal.mailbox, id) {
                    copy.facts.delete(outcome, span);
                }
            }
        }
    }

    /// A mailbox with a cap may have dropped a message as soon as so many others can have come behind it.
    fn note_evictions(&mut self, messages_max: usize) {
        let names: Vec<_> = self.mailboxes.keys().cloned().collect();
        for mailbox in names {
            let others: Vec<_> = self.copies(&mailbox).map(|(canary, copy)| (canary, copy.id.clone())).collect();
            let spans: Vec<_> = others.iter().map(|(canary, _)| self.messages[canary].span()).collect();
            for (place, (canary, id)) in others.iter().enumerate() {
                let own = spans[place];
                let later = |other: &usize| match (own, spans[*other]) {
                    (None, None) => others[*other].1 > *id,
                    (Some(_), None) => false,
                    (None, Some(_)) => true,
                    (Some(own), Some(span)) => *other != place && span.end > own.begin,
                };
                let behind = (0..others.len()).filter(later).map(|other| spans[other].map_or(0, |span| span.begin));
                let mut behind: Vec<Tick> = behind.collect();
                behind.sort_unstable();
                if let Some(begin) = messages_max.checked_sub(1).and_then(|last| behind.get(last)) {
                    let message = self.messages.get_mut(canary).expect("it was just seen");
                    let copy = message.copies.get_mut(&mailbox).expect("it was just seen");
                    copy.facts.leaving.push(Span { begin: *begin, end: Tick::MAX });
                }
            }
        }
    }

    /// What was old enough when everything was read may have gone at any time: when exactly is the server's business.
    fn note_expiry(&mut self, expired: Instant) {
        for message in self.messages.values_mut().filter(|message| message.send.at <= expired) {
            for copy in message.copies.values_mut() {
                copy.facts.leaving.push(Span { begin: 0, end: Tick::MAX });
            }
        }
    }

    /// Nobody is at work and everything was read: what is not there is gone for good.
    fn settle(&mut self, history: &History) {
        for look in history.after.iter().filter(|look| look.scope == Scope::Mailbox) {
            let there: HashSet<_> = look.rows.iter().filter_map(|row| row.canary.as_ref().ok()).collect();
            for (canary, copy) in self.copies(&look.mailbox) {
                copy.gone = !there.contains(&canary);
            }
        }
        for look in history.looks.iter().chain(&history.after) {
            let highest = look.rows.iter().map(|row| &row.id).max();
            let ids = self.ids(&look.mailbox);
            ids.highest = ids.highest.take().max(highest.cloned());
        }
        let over = &mut self.over;
        self.messages.retain(|canary, message| {
            let refused = message.entry == Entry::Never;
            message.entry = Entry::Before;
            message.copies.values_mut().for_each(|copy| copy.facts = Facts::default());
            let held = !refused && message.copies.values().any(|copy| !copy.gone);
            if !held {
                over.insert(*canary, if refused { Fate::Refused } else { Fate::Gone });
            }
            held
        });
    }

    fn ids(&mut self, mailbox: &str) -> &mut Ids {
        self.mailboxes.entry(mailbox.into()).or_default()
    }

    /// The copies that may be in this mailbox.
    fn copies(&mut self, mailbox: &str) -> impl Iterator<Item = (Canary, &mut Copy)> {
        let copies = self.messages.iter_mut().map(move |(canary, message)| (*canary, message.copies.get_mut(mailbox)));
        copies.filter_map(|(canary, copy)| Some((canary, copy.filter(|copy| !copy.gone)?)))
    }

    /// The copy that this id stands for.
    fn owner(&mut self, mailbox: &str, id: &str) -> Option<(Canary, &mut Copy)> {
        let canary = *self.mailboxes.get(mailbox)?.owners.get(id)?;
        let copy = self.messages.get_mut(&canary)?.copies.get_mut(mailbox)?;
        (!copy.gone).then_some((canary, copy))
    }
}

impl Copy {
    fn recognise(&mut self, canary: Canary, place: &str, row: &Row, look: &Look) -> Result<(), Violation> {
        if self.gone {
            return Err(Violation::new(Kind::Back, format!("{place} is {canary}, gone since a round; {look}")));
        }
        let id = self.id.get_or_insert_with(|| {
            self.size = row.size;
            row.id.clone()
        });
        if *id != row.id {
            return Err(Violation::new(Kind::Twice, format!("{place} is {canary}, which is {id} too; {look}")));
        }
        if self.size != row.size {
            let what = format!("{place} is {canary}: {} bytes, and {} elsewhere; {look}", row.size, self.size);
            return Err(Violation::new(Kind::Changed, what));
        }
        Ok(())
    }
}

impl Facts {
    fn see(&mut self, there: bool, span: Span, reads: Reads) {
        match (there, reads) {
            (true, Reads::Exact) => self.shown.push(span),
            (false, Reads::Exact) => self.missed.push(span),
            // It was there at some moment up to now; that it was not, says nothing.
            (true, Reads::Lagging) => self.shown.push(Span { begin: 0, ..span }),
            (false, Reads::Lagging) => {}
        }
    }

    fn purge(&mut self, outcome: &Outcome, span: Span) {
        match outcome {
            Outcome::Done => {
                self.missed.push(span);
                self.leaving.push(span);
            }
            Outcome::Unknown => self.leaving.push(span),
            _ => {}
        }
    }

    fn delete(&mut self, outcome: &Outcome, span: Span) {
        match outcome {
            Outcome::Done => self.taken.push(span),
            Outcome::Absent => self.missed.push(span),
            Outcome::Unknown => self.leaving.push(span),
            _ => {}
        }
    }
}

impl Message {
    /// When it came in, if that was in this round.
    fn span(&self) -> Option<Span> {
        match self.entry {
            Entry::Within(span) | Entry::Perhaps(span) => Some(span),
            Entry::Before | Entry::Never => None,
        }
    }

    /// A violation when nothing explains what was seen.
    fn judge(&self, history: &History) -> Option<Violation> {
        let here: Vec<_> = self.copies.iter().filter(|(_, copy)| !copy.gone).collect();
        let facts: Vec<_> = here.iter().map(|(_, copy)| &copy.facts).collect();
        if explained(self.entry, &facts, history.entering) {
            return None;
        }
        let canary = self.send.canary;
        let (kind, what, mailboxes) = self.blame(&here, history);
        let copies: Vec<_> = here
            .iter()
            .filter(|(mailbox, _)| mailboxes.contains(mailbox))
            .map(|(mailbox, copy)| (mailbox.as_str(), copy.id.as_deref()))
            .collect();
        let place: Vec<_> = copies.iter().map(|(mailbox, id)| format!("{mailbox}/{}", id.unwrap_or("?"))).collect();
        let what = format!("{canary}, {}: {what}; {}", self.send.outcome, place.join(" "));
        Some(Violation::about(kind, what, canary, &copies, history))
    }

    /// Which promise it is, and where.
    fn blame<'a>(&self, here: &[(&'a String, &Copy)], history: &History) -> (Kind, &'static str, Vec<&'a String>) {
        if self.entry == Entry::Never {
            return (Kind::Kept, "it is there", here.iter().map(|(mailbox, _)| *mailbox).collect());
        }
        // As if it were certain that it came in: alone in its mailbox, what cannot be explained?
        let entry = match self.entry {
            Entry::Perhaps(span) => Entry::Within(span),
            other => other,
        };
        let alone = here.iter().find(|(_, copy)| {
            let seen = !copy.facts.shown.is_empty() || !matches!(self.entry, Entry::Perhaps(_));
            seen && !explained(entry, &[&copy.facts], history.entering)
        });
        let Some((mailbox, copy)) = alone else {
            let all = here.iter().map(|(mailbox, _)| *mailbox).collect();
            return (Kind::Half, "no single moment explains all of its mailboxes", all);
        };
        let Facts { shown, missed, taken, leaving } = &copy.facts;
        let begins = |spans: &[Span]| spans.iter().map(|span| span.begin).max();
        let seen_after = |taken: &Span| shown.iter().any(|shown| shown.begin > taken.end);
        if taken.iter().any(seen_after) {
            (Kind::Back, "it was deleted, and was seen again", vec![mailbox])
        } else if begins(shown) <= begins(missed).max(begins(taken)) {
            (Kind::Lost, "it is not there, and nothing can have removed it", vec![mailbox])
        } else if taken.is_empty() && leaving.is_empty() && shown.iter().map(|span| span.begin).min() > begins(missed) {
            (Kind::Late, "it was not there when it should have been, and came later", vec![mailbox])
        } else {
            (Kind::Back, "it was not there any more, and was seen again", vec![mailbox])
        }
    }
}
