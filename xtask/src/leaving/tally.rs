//! What was sent held against what arrived.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;

use super::receiver::Arrival;
use super::senders::Sent;
use super::site::Engine;

/// What came of one campaign.
#[derive(Default, Debug)]
pub(super) struct Tally {
    pub(super) acknowledged: usize,
    /// Sent, and nobody knows whether they were taken: the server was killed.
    pub(super) unknown: usize,
    /// Events of acknowledged mail that a receiver answered 200.
    pub(super) arrived: usize,
    pub(super) requests: usize,
    /// Requests for an event that had been answered 200 before.
    pub(super) repeated: usize,
    pub(super) kills: usize,
    /// From the receiver's return to the last event.
    pub(super) drained: Duration,
    /// The longest that anybody waited for a `250`.
    pub(super) slowest: Duration,
    /// Everything that must not be.
    pub(super) faults: Vec<String>,
}

impl Tally {
    pub(super) fn of(sent: &[Sent], arrivals: &[Arrival]) -> Self {
        let mut tally = Self { requests: arrivals.len(), ..Self::default() };
        let taken: HashSet<(&str, &str)> =
            arrivals.iter().filter(|arrival| arrival.taken).map(|arrival| arrival.about()).collect();
        for one in sent {
            tally.acknowledged += one.acknowledged.len();
            tally.unknown += one.unknown.len();
            tally.slowest = tally.slowest.max(one.slowest);
            tally.faults.extend(one.refused.iter().map(|why| format!("mail was refused: {why}")));
            for number in &one.acknowledged {
                match taken.contains(&(one.mailbox.as_str(), number.to_string().as_str())) {
                    true => tally.arrived += 1,
                    false => tally.faults.push(format!("{} {number} never arrived", one.mailbox)),
                }
            }
            tally.check_order(one, arrivals);
        }
        tally.check_ids(arrivals);
        tally.repeated = repeated(arrivals);
        tally
    }

    /// Requests about one mailbox come in the order of its mail: never one about an earlier message behind one about a
    /// later. Messages that nobody was told of are not bound to it.
    fn check_order(&mut self, sent: &Sent, arrivals: &[Arrival]) {
        let acknowledged: HashSet<u32> = sent.acknowledged.iter().copied().collect();
        let mut last = 0;
        for arrival in arrivals.iter().filter(|arrival| arrival.mailbox == sent.mailbox) {
            let Ok(number) = arrival.subject.parse::<u32>() else {
                self.faults.push(format!("nobody sent {:?}", arrival.subject));
                continue;
            };
            if !acknowledged.contains(&number) {
                continue;
            }
            if number < last {
                self.faults.push(format!("{} {number} came behind {last}", sent.mailbox));
            }
            last = last.max(number);
        }
    }

    /// An event has one id, and an id one event.
    fn check_ids(&mut self, arrivals: &[Arrival]) {
        let mut ids: HashMap<(&str, &str), &str> = HashMap::new();
        let mut events: HashMap<&str, (&str, &str)> = HashMap::new();
        for arrival in arrivals {
            let (about, id) = (arrival.about(), arrival.id.as_str());
            if *ids.entry(about).or_insert(id) != id || *events.entry(id).or_insert(about) != about {
                self.faults.push(format!("{about:?} came under another id"));
            }
        }
    }

    /// An error that says what is wrong, if anything is.
    pub(super) fn judged(&self) -> Result<()> {
        let shown: Vec<_> = self.faults.iter().take(10).map(String::as_str).collect();
        ensure!(self.faults.is_empty(), "{} faults: {}", self.faults.len(), shown.join("; "));
        ensure!(self.acknowledged > 0 && self.requests > self.acknowledged, "nothing was tried in vain: {self:?}");
        Ok(())
    }

    pub(super) fn raw(&self) -> String {
        json!({
            "acknowledged": self.acknowledged, "unknown": self.unknown, "arrived": self.arrived, "requests": self.requests,
            "repeated": self.repeated, "kills": self.kills, "drained_s": self.drained.as_secs_f64(),
            "slowest_ms": self.slowest.as_secs_f64() * 1e3, "faults": self.faults.len(),
        })
        .to_string()
    }

    pub(super) fn row(&self, engine: Engine) -> Vec<String> {
        vec![
            engine.name().to_owned(),
            self.kills.to_string(),
            self.acknowledged.to_string(),
            self.arrived.to_string(),
            self.requests.to_string(),
            self.repeated.to_string(),
            format!("{:.1} s", self.drained.as_secs_f64()),
            self.faults.len().to_string(),
        ]
    }
}

impl Arrival {
    /// Mailbox and subject.
    fn about(&self) -> (&str, &str) {
        (&self.mailbox, &self.subject)
    }
}

fn repeated(arrivals: &[Arrival]) -> usize {
    let (mut taken, mut count) = (HashSet::new(), 0);
    for arrival in arrivals {
        count += usize::from(taken.contains(&arrival.about()));
        if arrival.taken {
            taken.insert(arrival.about());
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn arrivals(told: &[(&str, &str, bool)]) -> Vec<Arrival> {
        let one = |(subject, id, taken): &(&str, &str, bool)| Arrival {
            id: (*id).to_owned(),
            mailbox: "ann".to_owned(),
            subject: (*subject).to_owned(),
            taken: *taken,
            at: Instant::now(),
        };
        told.iter().map(one).collect()
    }

    fn faults(told: &[(&str, &str, bool)]) -> Vec<String> {
        let sent = Sent { mailbox: "ann".to_owned(), acknowledged: vec![1, 3], unknown: vec![2], ..Sent::default() };
        Tally::of(&[sent], &arrivals(told)).faults
    }

    #[test]
    fn what_must_not_be_is_found() {
        assert_eq!(faults(&[("1", "a", false), ("1", "a", true), ("3", "c", true), ("2", "b", true)]), [""; 0]);
        assert_eq!(faults(&[("1", "a", true), ("3", "c", false)]), ["ann 3 never arrived"]);
        assert_eq!(faults(&[("3", "c", true), ("1", "a", true)]), ["ann 1 came behind 3"]);
        assert_eq!(faults(&[("1", "a", false), ("1", "b", true), ("3", "c", true)]).len(), 1, "another id");
        assert_eq!(faults(&[("1", "a", true), ("3", "a", true)]).len(), 1, "the same id for another event");
        assert_eq!(repeated(&arrivals(&[("1", "a", false), ("1", "a", true), ("1", "a", true)])), 1);
    }
}
