//! No orphans, ever: after any history of appends, deletes, purges, cap, age and crashes, lists are those of a model so
//! naive that it is plainly right, and the tables hold exactly what they need to, looked at beside the engine.

use std::time::Duration;

use jiff::SignedDuration;
use mail::MessageId;
use proptest::prelude::*;
use store::conformance::Letter;
use store::{Clock, Store};
use tokio::runtime::{Builder, Runtime};

use super::bench::{Bench, assert_whole, copy, mailbox, quick_place, subjects, until};
use crate::Disk;

const NAMES: [&str; 4] = ["ann", "bob", "cat", "dan"];
const MESSAGES_MAX: usize = 4;
const RETENTION: i64 = 100;

#[derive(Clone, Debug)]
enum Step {
    Append { to: Vec<usize>, size: usize, expires: Option<i64>, aged: i64 },
    Delete { from: usize, place: usize },
    Purge { from: usize, place: usize },
    Pass { seconds: i64 },
    Crash,
    Restart,
    Look,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let to = prop::sample::subsequence((0..NAMES.len()).collect::<Vec<_>>(), 1..=NAMES.len());
    let size = prop_oneof![4 => 0..2_000usize, 1 => 8_000..40_000usize];
    let expires = prop::option::weighted(0.3, 1..150i64);
    // Mail that is brought in from elsewhere may be old, or too old, when it comes.
    let aged = prop_oneof![6 => Just(0), 1 => 1..120i64];
    let append =
        (to, size, expires, aged).prop_map(|(to, size, expires, aged)| Step::Append { to, size, expires, aged });
    let step = prop_oneof![
        12 => append,
        3 => (0..NAMES.len(), 0..4usize).prop_map(|(from, place)| Step::Delete { from, place }),
        2 => (0..NAMES.len(), 0..4usize).prop_map(|(from, place)| Step::Purge { from, place }),
        3 => (0..60i64).prop_map(|seconds| Step::Pass { seconds }),
        1 => Just(Step::Crash),
        1 => Just(Step::Restart),
        1 => Just(Step::Look),
    ];
    prop::collection::vec(step, 1..50)
}

/// One copy in the model.
#[derive(Clone, Debug)]
struct Row {
    id: MessageId,
    mailbox: usize,
    subject: String,
    until: i64,
}

struct History {
    bench: Bench,
    runtime: Runtime,
    disk: Option<Disk>,
    rows: Vec<Row>,
    sent: usize,
}

impl History {
    fn new() -> Self {
        let bench = Bench::new(|settings| {
            settings.messages_max = MESSAGES_MAX;
            settings.retention = Some(Duration::from_secs(RETENTION.unsigned_abs()));
        });
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let disk = Some(bench.open());
        Self { bench, runtime, disk, rows: Vec::new(), sent: 0 }
    }

    fn now(&self) -> i64 {
        self.bench.clock.now().as_second()
    }

    fn disk(&self) -> &Disk {
        self.disk.as_ref().unwrap()
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Append { to, size, expires, aged } => self.append(&to, size, expires, aged),
            Step::Delete { from, place } => {
                let Some(id) = self.ids(from).get(place).copied() else { return };
                let (name, ids) = (mailbox(NAMES[from]), [id]);
                let gone = self.disk().delete(&name, &ids, Vec::new());
                assert_eq!(self.runtime.block_on(gone).unwrap(), ids);
                self.rows.retain(|row| row.id != id);
            }
            Step::Purge { from, place } => {
                let Some(up_to) = self.ids(from).get(place).copied() else { return };
                let name = mailbox(NAMES[from]);
                let gone = self.disk().purge(&name, up_to.into(), Vec::new());
                assert_eq!(self.runtime.block_on(gone).unwrap() as usize, place + 1);
                self.rows.retain(|row| row.mailbox != from || row.id > up_to);
            }
            Step::Pass { seconds } => self.bench.pass(seconds),
            Step::Crash => self.disk = self.disk.take().map(|disk| self.bench.reopen_after_crash(disk)),
            Step::Restart => {
                drop(self.disk.take());
                self.disk = Some(self.bench.open());
            }
            Step::Look => self.look(),
        }
        let now = self.now();
        self.rows.retain(|row| now < row.until);
    }

    fn ids(&self, mailbox: usize) -> Vec<MessageId> {
        self.rows.iter().filter(|row| row.mailbox == mailbox).map(|row| row.id).collect()
    }

    fn append(&mut self, to: &[usize], size: usize, expires: Option<i64>, aged: i64) {
        self.sent += 1;
        let (subject, now) = (self.sent.to_string(), self.bench.clock.now());
        let names: Vec<&str> = to.iter().map(|mailbox| NAMES[*mailbox]).collect();
        let mut letter = Letter::new(&subject, &names).size(size).received_at(now - SignedDuration::from_secs(aged));
        if let Some(seconds) = expires {
            letter = letter.expires(now + SignedDuration::from_secs(seconds));
        }
        let filed = self.runtime.block_on(self.bench.send(self.disk(), letter));
        let until = (self.now() - aged + RETENTION).min(expires.map_or(i64::MAX, |seconds| self.now() + seconds));
        for (id, mailbox) in filed.into_iter().zip(to) {
            self.rows.push(Row { id, mailbox: *mailbox, subject: subject.clone(), until });
            let now = self.now();
            self.rows.retain(|row| now < row.until);
            if let [oldest, .., _] = self.ids(*mailbox)[..]
                && self.ids(*mailbox).len() > MESSAGES_MAX
            {
                self.rows.retain(|row| row.id != oldest);
            }
        }
    }

    /// The lists are the model's; the tables are whole, of the store at work and of what a crash would leave.
    fn look(&self) {
        for (number, name) in NAMES.iter().enumerate() {
            let expected: Vec<_> =
                self.rows.iter().filter(|row| row.mailbox == number).map(|row| row.subject.clone()).collect();
            assert_eq!(self.runtime.block_on(subjects(self.disk(), name)), expected, "{name}");
        }
        let left = quick_place();
        copy(self.bench.place.path(), left.path());
        assert_whole(&left.path().join("postkeep.db"));
    }

    /// Once everything that is due has gone, nothing is there but what is listed.
    fn end(&self) {
        self.look();
        until("what has lapsed is gone", || {
            self.bench.number("SELECT count(*) FROM message") == self.rows.len() as i64
        });
        self.disk().close();
        assert_whole(&self.bench.database());
        let bodies: std::collections::HashSet<_> = self.rows.iter().map(|row| &row.subject).collect();
        assert_eq!(self.bench.number("SELECT count(*) FROM body"), bodies.len() as i64);
        let mailboxes: std::collections::HashSet<_> = self.rows.iter().map(|row| row.mailbox).collect();
        assert_eq!(self.bench.number("SELECT count(*) FROM mailbox"), mailboxes.len() as i64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn f01_no_history_leaves_an_orphan(steps in steps()) {
        let mut history = History::new();
        for step in steps {
            history.run(step);
        }
        history.end();
    }
}
