//! The memory engine against a model so naive that it is plainly right: one list of messages, looked through for every
//! question. Random steps, the same answers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use jiff::{SignedDuration, Timestamp};
use mail::{Mailbox, MessageId};
use proptest::prelude::*;

use crate::change::Position;
use crate::clock::{Clock, ManualClock};
use crate::conformance::Letter;
use crate::list::{MailboxOrder, MailboxPage, Order, Page, RecentPage};
use crate::memory::Settings;
use crate::memory::kept::{Draft, FOLDER_WEIGHT};
use crate::{Memory, Store};

const NAMES: [&str; 4] = ["ann", "bob", "cat", "dan"];
const BYTES_MAX: u64 = 40_000;
const MESSAGES_MAX: usize = 4;
const RETENTION: i64 = 100;

#[derive(Clone, Debug)]
enum Step {
    Append { to: Vec<usize>, size: usize, expires: Option<i64> },
    Delete { from: usize, place: usize },
    Purge { from: usize, place: usize },
    Pass { seconds: i64 },
    Sweep { budget: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let to = prop::sample::subsequence((0..NAMES.len()).collect::<Vec<_>>(), 1..=NAMES.len());
    let size = prop_oneof![8 => 0..4_000usize, 3 => 4_000..16_000usize, 1 => 36_000..48_000usize];
    let expires = prop::option::weighted(0.3, 1..150i64);
    let append = (to, size, expires).prop_map(|(to, size, expires)| Step::Append { to, size, expires });
    let step = prop_oneof![
        10 => append,
        2 => (0..NAMES.len(), 0..6usize).prop_map(|(from, place)| Step::Delete { from, place }),
        1 => (0..NAMES.len(), 0..6usize).prop_map(|(from, place)| Step::Purge { from, place }),
        2 => (0..60i64).prop_map(|seconds| Step::Pass { seconds }),
        1 => (0..4usize).prop_map(|budget| Step::Sweep { budget }),
    ];
    prop::collection::vec(step, 1..60)
}

/// One copy in the model.
#[derive(Clone, Debug)]
struct Row {
    id: MessageId,
    mailbox: usize,
    /// Which message it is a copy of.
    message: usize,
    size: u64,
    /// Charged once for the message, and for this copy.
    parcel: u64,
    copy: u64,
    until: i64,
}

#[derive(Default)]
struct Model {
    rows: Vec<Row>,
    messages: usize,
}

impl Model {
    fn bytes(&self) -> u64 {
        let mut seen = Vec::new();
        let mut bytes = 0;
        for row in &self.rows {
            bytes += row.copy;
            if !seen.contains(&row.message) {
                seen.push(row.message);
                bytes += row.parcel;
            }
        }
        bytes + FOLDER_WEIGHT * (0..NAMES.len()).filter(|mailbox| !self.of(*mailbox).is_empty()).count() as u64
    }

    fn of(&self, mailbox: usize) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.mailbox == mailbox).collect()
    }

    fn remove(&mut self, id: MessageId) {
        self.rows.retain(|row| row.id != id);
    }

    fn lapse(&mut self, now: i64) {
        self.rows.retain(|row| now < row.until);
    }

    /// As the engine says it does: cap per mailbox as each copy is filed, then the oldest of the largest, never itself.
    fn append(&mut self, rows: Vec<Row>, now: i64) {
        let newcomer = self.messages;
        self.messages += 1;
        for row in rows {
            let mailbox = row.mailbox;
            self.rows.push(Row { message: newcomer, ..row });
            while self.of(mailbox).len() > MESSAGES_MAX {
                let oldest = self.of(mailbox)[0].id;
                self.remove(oldest);
            }
        }
        while self.bytes() > BYTES_MAX {
            self.lapse(now);
            let candidates =
                (0..NAMES.len()).filter(|mailbox| self.of(*mailbox).iter().any(|row| row.message != newcomer));
            let largest = candidates.max_by_key(|mailbox| {
                let rows = self.of(*mailbox);
                let charge: u64 = rows.iter().map(|row| row.parcel + row.copy).sum();
                (charge, std::cmp::Reverse(rows[0].id))
            });
            let Some(largest) = largest else { return };
            let oldest = self.of(largest)[0].id;
            self.remove(oldest);
        }
    }
}

struct Bench {
    memory: Memory,
    clock: Arc<ManualClock>,
    settings: Settings,
    model: Model,
}

impl Bench {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_second(1_800_000_000).unwrap()));
        let settings = Settings {
            bytes_max: BYTES_MAX,
            messages_max: MESSAGES_MAX,
            retention: Some(Duration::from_secs(RETENTION as u64)),
            ..Settings::default()
        };
        let memory = Memory::new(settings.clone(), clock.clone());
        Self { memory, clock, settings, model: Model::default() }
    }

    fn now(&self) -> i64 {
        self.clock.now().as_second()
    }

    fn run(&mut self, step: Step) {
        self.model.lapse(self.now());
        match step {
            Step::Append { to, size, expires } => self.append(&to, size, expires),
            Step::Delete { from, place } => {
                let ids = self.ids(from, place);
                let gone = ready(self.memory.delete(&mailbox(from), &ids, Vec::new()));
                assert_eq!(gone, ids);
                ids.into_iter().for_each(|id| self.model.remove(id));
            }
            Step::Purge { from, place } => {
                let Some(up_to) = self.model.of(from).get(place).map(|row| row.id) else { return };
                let gone = ready(self.memory.purge(&mailbox(from), up_to.into(), Vec::new()));
                assert_eq!(gone as usize, place + 1);
                self.model.rows.retain(|row| row.mailbox != from || row.id > up_to);
            }
            Step::Pass { seconds } => self.clock.advance(SignedDuration::from_secs(seconds)),
            Step::Sweep { budget } => _ = self.memory.sweep(budget),
        }
        self.model.lapse(self.now());
        self.compare();
    }

    fn ids(&self, from: usize, place: usize) -> Vec<MessageId> {
        self.model.of(from).into_iter().skip(place).take(2).map(|row| row.id).collect()
    }

    fn append(&mut self, to: &[usize], size: usize, expires: Option<i64>) {
        let names: Vec<&str> = to.iter().map(|mailbox| NAMES[*mailbox]).collect();
        let mut letter = Letter::new("x", &names).size(size);
        if let Some(seconds) = expires {
            letter = letter.expires(self.clock.now() + SignedDuration::from_secs(seconds));
        }
        let delivery = letter.delivery(self.clock.now());
        let draft = Draft::of(delivery.clone(), &self.settings);
        let answer = self.memory.append(delivery).now_or_never().expect("the memory engine does not wait");
        if draft.weight_alone() > BYTES_MAX {
            return assert!(answer.is_err());
        }
        let until = self.now() + RETENTION.min(expires.unwrap_or(RETENTION));
        let rows =
            answer.expect("it fits").into_iter().zip(to).zip(&draft.copies).map(|((filed, mailbox), (_, kept))| {
                let (parcel, copy) = (kept.parcel.weight, kept.weight);
                Row { id: filed.id, mailbox: *mailbox, message: 0, size: kept.summary.size, parcel, copy, until }
            });
        self.model.append(rows.collect(), self.now());
    }

    fn compare(&self) {
        for mailbox in 0..NAMES.len() {
            self.compare_mailbox(mailbox);
        }
        let expected: Vec<_> = sorted(self.model.rows.iter().map(|row| row.id).collect(), Order::Newest);
        let recent = ready(self.memory.recent(RecentPage { before: None, limit: 100 }));
        assert_eq!(recent.items.iter().map(|item| item.summary.id).collect::<Vec<_>>(), expected);
        assert_eq!(recent.total.unwrap_or(expected.len() as u64), expected.len() as u64);
        self.compare_states();
        self.memory.sweep(usize::MAX);
        assert_eq!(self.memory.bytes(), self.model.bytes());
    }

    fn compare_mailbox(&self, number: usize) {
        let expected: Vec<_> = self.model.of(number).iter().map(|row| row.id).collect();
        for order in [Order::Oldest, Order::Newest] {
            let listing = ready(self.memory.list(&mailbox(number), Page { after: None, limit: 3, order }));
            let page: Vec<_> = sorted(expected.clone(), order).into_iter().take(3).collect();
            assert_eq!(listing.items.iter().map(|summary| summary.id).collect::<Vec<_>>(), page);
            assert_eq!((listing.more, listing.total), (expected.len() > 3, Some(expected.len() as u64)));
            assert!(expected.iter().all(|id| listing.position >= Position::from(*id)));
        }
        for row in &self.model.rows {
            let read = ready(self.memory.read(&mailbox(number), row.id));
            assert_eq!(read.is_some(), row.mailbox == number);
        }
    }

    fn compare_states(&self) {
        let mut expected: Vec<_> = (0..NAMES.len())
            .filter_map(|number| {
                let rows = self.model.of(number);
                let bytes: u64 = rows.iter().map(|row| row.size).sum();
                Some((NAMES[number], rows.len() as u64, bytes, rows.last()?.id))
            })
            .collect();
        self.compare_order(MailboxOrder::default(), &expected);
        expected.sort_by_key(|(.., newest)| std::cmp::Reverse(*newest));
        self.compare_order(MailboxOrder::Newest { before: None }, &expected);
    }

    fn compare_order(&self, order: MailboxOrder<'_>, expected: &[(&str, u64, u64, MessageId)]) {
        let states = ready(self.memory.mailboxes(MailboxPage { prefix: "", order, limit: 10 }));
        let states: Vec<_> =
            states.iter().map(|state| (state.mailbox.as_str(), state.messages, state.bytes, state.newest)).collect();
        assert_eq!(states, expected);
    }
}

fn mailbox(number: usize) -> Mailbox {
    Mailbox::from_canonical(NAMES[number])
}

fn sorted(mut ids: Vec<MessageId>, order: Order) -> Vec<MessageId> {
    ids.sort();
    if order == Order::Newest {
        ids.reverse();
    }
    ids
}

fn ready<T>(future: impl Future<Output = crate::Result<T>>) -> T {
    future.now_or_never().expect("the memory engine does not wait").expect("it answers")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn answers_are_those_of_the_model(steps in steps()) {
        let mut bench = Bench::new();
        for step in steps {
            bench.run(step);
        }
    }
}
