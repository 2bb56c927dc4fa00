//! F03, T086: whatever happens to the bytes of the files, nothing is handed out that was not put in, and what is not
//! damaged is still there. Flipped bytes, lost and misdirected pages, files cut short; in the database and in the log.

use std::collections::{HashMap, HashSet};
use std::fs;

use mail::{MessageId, Summary};
use store::conformance::Letter;
use store::list::{MailboxOrder, MailboxPage, Order, Page, RecentPage};
use store::{Clock, Delivery, Error, Position, Store, Stored};

use super::bench::{Bench, Log, PATIENCE, copy, mailbox};
use crate::{Disk, pack};

/// A sequence that looks like chance and is the same every time.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

const FILE: &str = "postkeep.db";
const LOG: &str = "postkeep.db-wal";

/// What was put in, by id.
struct Truth {
    names: [String; 4],
    kept: HashMap<MessageId, Written>,
    /// Deleted again.
    gone: HashMap<MessageId, Written>,
}

/// One copy as it was put in.
struct Written {
    mailbox: String,
    delivery: Delivery,
    summary: Summary,
}

/// A store that has a bit of everything: small and long bodies, raw and packed, shared and not, and gaps.
async fn fill(bench: &Bench, disk: &Disk, tag: &str) -> Truth {
    let names = ["ann", "bob", "cat", "dan"].map(|name| format!("{name}-{tag}"));
    let mut kept = HashMap::new();
    for number in 0..24usize {
        bench.pass(1);
        let to: Vec<&str> =
            names.iter().skip(if number % 5 == 0 { 0 } else { number % 4 }).map(|name| &**name).collect();
        let to = if number % 5 == 0 { &to[..] } else { &to[..1] };
        let letter = Letter::new(format!("number {number}"), to).size([0, 900, 9_000, 30_000][number % 4]);
        let mut delivery = letter.delivery(bench.clock.now());
        if number % 8 == 3 {
            delivery.raw = format!("Subject: {number}\r\n\r\n{}", "packs very well\r\n".repeat(1_000)).into();
            assert_eq!(pack::Press::default().press(&delivery.raw).0, pack::ZSTD, "one that is packed is among them");
        }
        let copies = delivery.clone().sort().copies;
        for (filed, (mailbox, summary)) in disk.append(delivery.clone()).await.unwrap().into_iter().zip(copies) {
            let (mailbox, summary) = (mailbox.to_string(), Summary { id: filed.id, ..summary });
            kept.insert(filed.id, Written { mailbox, delivery: delivery.clone(), summary });
        }
    }
    let mut ids: Vec<MessageId> = kept.keys().copied().collect();
    ids.sort();
    let mut gone = HashMap::new();
    for id in ids.into_iter().step_by(7) {
        let written = kept.remove(&id).unwrap();
        assert_eq!(disk.delete(&mailbox(&written.mailbox), &[id], Vec::new()).await.unwrap(), [id]);
        gone.insert(id, written);
    }
    Truth { names, kept, gone }
}

/// What became of damaged stores.
#[derive(Default, Debug)]
struct Tally {
    /// Stores that were not opened.
    unopened: usize,
    /// Messages read whole.
    whole: usize,
    /// Messages that were answered with an error.
    refused: usize,
    /// Messages that were not there, and it was said: in the log, or by a list that failed.
    missed: usize,
    /// Messages that were not there, and nobody said so.
    hidden: Vec<String>,
}

/// A store kept as it was, and the directory where it is damaged anew each time.
struct Patient {
    whole: Bench,
    sick: Bench,
    truth: Truth,
    tally: Tally,
}

/// Whether the engine has put everything in order before the files are damaged, or was stopped before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Closed,
    Crashed,
}

impl Patient {
    async fn new(tag: &str, left: Left) -> Self {
        let (first, whole, mut sick) = (Bench::new(|_| ()), Bench::new(|_| ()), Bench::new(|_| ()));
        sick.clock = first.clock.clone();
        let disk = first.open();
        let truth = fill(&first, &disk, tag).await;
        if left == Left::Closed {
            disk.close();
        }
        copy(first.place.path(), whole.place.path());
        Self { whole, sick, truth, tally: Tally::default() }
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.whole.place.path().join(name)).unwrap()
    }

    /// Put these bytes in the place of a file's, open what is there, read everything, change something, and read
    /// everything again.
    async fn examine(&mut self, name: &str, bytes: &[u8], what: &str) {
        let sick = &self.sick;
        let _ = fs::remove_dir_all(sick.place.path());
        copy(self.whole.place.path(), sick.place.path());
        fs::write(sick.place.path().join(name), bytes).unwrap();
        let log = Log::here();
        let disk = match sick.try_open() {
            Ok(disk) => disk,
            Err(error) => {
                assert!(error.to_string().contains(&*sick.place.path().to_string_lossy()), "{what}: {error}");
                self.tally.unopened += 1;
                return;
            }
        };
        let (truth, tally) = (&self.truth, &mut self.tally);
        let all = async {
            read_all(sick, &disk, truth, what, &log, tally).await;
            change(sick, &disk, truth).await;
            read_all(sick, &disk, truth, what, &log, &mut Tally::default()).await;
        };
        tokio::time::timeout(PATIENCE, all).await.unwrap_or_else(|_| panic!("{what}: it takes for ever"));
    }
}

/// Whatever these answer, they must not make things worse.
async fn change(bench: &Bench, disk: &Disk, truth: &Truth) {
    let [ann, _, cat, dan] = truth.names.each_ref();
    bench.pass(1);
    let _ = bench.try_send(disk, &Letter::new("later", &["eve", ann]).size(20_000)).await;
    let first = truth.kept.keys().min().unwrap();
    let _ = disk.delete(&mailbox(&truth.kept[first].mailbox), &[*first], Vec::new()).await;
    let _ = disk.purge(&mailbox(dan), Position::END, Vec::new()).await;
    let _ = bench.try_send(disk, &Letter::new("later", &["eve", dan, cat]).size(20_000)).await;
}

async fn read_all(bench: &Bench, disk: &Disk, truth: &Truth, what: &str, log: &Log, tally: &mut Tally) {
    let place = &*bench.place.path().to_string_lossy();
    let mut listed = HashSet::new();
    let mut failed = false;
    for name in &truth.names {
        for order in [Order::Oldest, Order::Newest] {
            match disk.list(&mailbox(name), Page { after: None, limit: 1_000, order }).await {
                Ok(listing) => {
                    listing.items.iter().for_each(|summary| truth.check(name, summary, what));
                    listed.extend(listing.items.iter().map(|summary| summary.id));
                }
                Err(error) => failed |= is_honest(&error, what),
            }
        }
    }
    match disk.recent(RecentPage { before: None, limit: 1_000 }).await {
        Ok(recent) => recent.items.iter().for_each(|item| truth.check(item.mailbox.as_str(), &item.summary, what)),
        Err(error) => failed |= is_honest(&error, what),
    }
    let page = MailboxPage { prefix: "", order: MailboxOrder::default(), limit: 100 };
    failed |= disk.mailboxes(page).await.is_err_and(|error| is_honest(&error, what));
    for (id, written) in &truth.kept {
        match disk.read(&mailbox(&written.mailbox), *id).await {
            Ok(Some(stored)) => {
                truth.check_whole(written, &stored, what);
                tally.whole += 1;
            }
            Err(error) => tally.refused += usize::from(is_honest(&error, what)),
            Ok(None) if failed || listed.contains(id) || log.has(&[&written.mailbox]) || log.has(&["ERROR", place]) => {
                tally.missed += 1;
            }
            Ok(None) => tally.hidden.push(format!("{what}: {id} of {}", written.mailbox)),
        }
    }
}

fn is_honest(error: &Error, what: &str) -> bool {
    assert!(matches!(error, Error::TryLater { .. } | Error::Damaged { .. }), "{what}: {error:?}");
    true
}

impl Truth {
    /// Only what was put in, unless it came after the damage. When the end of the log is lost, what was deleted is there
    /// again.
    fn check(&self, name: &str, summary: &Summary, what: &str) {
        let again = self.gone.get(&summary.id).filter(|_| what.contains("-wal"));
        match self.kept.get(&summary.id).or(again) {
            Some(written) => assert_eq!((&*written.mailbox, &written.summary), (name, summary), "{what}"),
            None => assert_eq!(summary.subject, "later", "{what}: {summary:?}"),
        }
    }

    fn check_whole(&self, written: &Written, stored: &Stored, what: &str) {
        self.check(&written.mailbox, &stored.summary, what);
        assert!(stored.raw == written.delivery.raw, "{what}: other bytes");
        assert_eq!(stored.envelope, written.delivery.envelope, "{what}");
    }
}

/// So many bytes of a page are its header and the beginning of what it points to.
const HEAD: usize = 24;
const PAGE: usize = 8192;

/// Damage one byte at each of these places, one after the other.
async fn flip(patient: &mut Patient, file: &str, places: impl Iterator<Item = usize>) {
    let (whole, mut chance) = (patient.bytes(file), Chance(7));
    for at in places.filter(|at| *at < whole.len()) {
        let mut bytes = whole.clone();
        bytes[at] ^= [0xff, 0x01, 0x80, 0x10][chance.below(4)];
        let what = format!("{file} {at}: {:02x} is {:02x}", whole[at], bytes[at]);
        patient.examine(file, &bytes, &what).await;
    }
}

/// Of every page some of its head, where its structure is, and some of the rest.
fn sample(pages: usize, of_head: usize, of_rest: usize) -> Vec<usize> {
    let mut chance = Chance(1);
    let mut places = Vec::new();
    for page in 0..pages {
        places.extend((0..of_head).map(|_| page * PAGE + chance.below(HEAD)));
        places.extend((0..of_rest).map(|_| page * PAGE + chance.below(PAGE)));
    }
    places
}

impl Tally {
    /// Most of it was read, and nothing was hidden.
    fn assert_well(&self, stores: usize) {
        let Self { unopened, whole, refused, missed, hidden } = self;
        println!("{stores} stores: {unopened} unopened; messages: {whole} whole, {refused} refused, {missed} missed");
        assert!(*unopened < stores / 3 && *whole > (refused + missed) * 3, "what is not damaged is readable");
        assert!(refused + missed > 0, "there was damage to be noticed");
        assert_eq!(hidden, &[""; 0], "nothing disappears without a word");
    }
}

#[tokio::test]
async fn f03_t086_a_flipped_byte_hides_nothing_and_is_never_handed_out() {
    let mut patient = Patient::new("flip", Left::Closed).await;
    let places = sample(patient.bytes(FILE).len() / PAGE, 6, 5);
    let stores = places.len();
    flip(&mut patient, FILE, places.into_iter()).await;
    patient.tally.assert_well(stores);
}

/// `cargo test --release -p postkeep-store-disk f03_t086_each_byte -- --ignored`: an hour.
#[tokio::test]
#[ignore = "takes an hour"]
async fn f03_t086_each_byte_flipped() {
    let mut patient = Patient::new("each", Left::Closed).await;
    let stores = patient.bytes(FILE).len();
    flip(&mut patient, FILE, 0..stores).await;
    patient.tally.assert_well(stores);
}

#[tokio::test]
async fn f03_t086_a_page_lost_or_misplaced_takes_no_other_with_it() {
    let mut patient = Patient::new("page", Left::Closed).await;
    let whole = patient.bytes(FILE);
    let pages = whole.len() / PAGE;
    for page in 0..pages {
        let (at, other) = (page * PAGE, (page + 7) % pages * PAGE);
        let mut bytes = whole.clone();
        bytes[at..at + PAGE].fill(0);
        patient.examine(FILE, &bytes, &format!("page {page} is zeros")).await;
        bytes[at..at + PAGE].copy_from_slice(&whole[other..other + PAGE]);
        patient.examine(FILE, &bytes, &format!("page {page} is another")).await;
        bytes[at..at + PAGE].copy_from_slice(&whole[at..at + PAGE]);
        bytes[at + PAGE / 2..at + PAGE].fill(0x2e);
        patient.examine(FILE, &bytes, &format!("page {page} was written by half")).await;
    }
    patient.tally.assert_well(3 * pages);
}

#[tokio::test]
async fn f03_t086_a_database_cut_short_is_refused_or_read_as_far_as_it_goes() {
    let mut patient = Patient::new("short", Left::Closed).await;
    let (whole, mut chance) = (patient.bytes(FILE), Chance(3));
    let cuts = (1..whole.len() / PAGE).flat_map(|page| [page * PAGE, page * PAGE + chance.below(PAGE)]);
    for cut in cuts.chain([1, 15, 16, 99, 100, 511, 512, whole.len() - 1]) {
        patient.examine(FILE, &whole[..cut], &format!("cut to {cut} of {}", whole.len())).await;
    }
    let Tally { unopened, whole, hidden, .. } = patient.tally;
    assert!(unopened > 50, "{unopened} unopened, {whole} whole");
    assert_eq!(hidden, [""; 0], "nothing disappears without a word");
}

/// The log is read up to its first damaged page: what was written before that is there, each message wholly or not at all.
#[tokio::test]
async fn f03_a_damaged_log_ends_where_the_damage_begins() {
    let mut patient = Patient::new("log", Left::Crashed).await;
    let whole = patient.bytes(LOG);
    let mut chance = Chance(5);
    let flips = (0..150).map(|_| chance.below(whole.len()));
    flip(&mut patient, LOG, (0..32).chain(flips.collect::<Vec<_>>())).await;
    for _ in 0..100 {
        let cut = chance.below(whole.len());
        patient.examine(LOG, &whole[..cut], &format!("{LOG} cut to {cut}")).await;
    }
    let Tally { unopened, whole, .. } = patient.tally;
    assert!(unopened == 0 && whole > 1_000, "{unopened} unopened, {whole} whole");
}
