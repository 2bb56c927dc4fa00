//! Space when mail comes and goes all the time: messages of mixed sizes, kept for seconds instead of hours, until the
//! live set was renewed many times over; then what the directory takes on disk for each live byte. And whether the
//! space is given back when everybody purges.

use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::Measure;
use crate::bench::Report;
use crate::load::chance::Chance;
use crate::load::crowd::{Crowd, Delivered, mailbox};
use crate::load::figures::{Goal, median, megabytes};
use crate::load::folder::Folder;
use crate::load::http::Connection;
use crate::load::letters::{Kind, letter};
use crate::load::server::Server;

/// How long a message lives.
const LIFE: Duration = Duration::from_secs(25);
const TURNS: usize = 25;
const SENDERS: usize = 50;
/// Each of them; together 2,000 messages a second.
const EVERY: Duration = Duration::from_millis(25);
const MAILBOXES: usize = 2_000;
/// The sizes: half of the messages are smaller, few much larger.
const MIDDLE_BYTES: f64 = 8_000.0;
const BYTES_MAX: f64 = 200_000.0;
const LIVE_MIN: f64 = 500e6;
const PURGED_WITHIN: Duration = Duration::from_secs(60);
const COLUMNS: &[&str] = &["what", "figure", "goal"];

/// A look at the disk.
struct Look {
    at: Instant,
    used: u64,
    /// Of it, the write-ahead log.
    journal: u64,
}

pub(super) fn run(measure: &Measure<'_>) -> Result<()> {
    let mut report = Report::new("long turnover", COLUMNS);
    let letters = mixed();
    let life = measure.scaled_time(LIFE, Duration::from_secs(5));
    let turns = measure.scaled(TURNS).max(4);
    let folder = Folder::new("turnover")?;
    let retention = format!("mailbox.retention={}ms", life.as_millis());
    let server = folder.serve(measure.binary, &["mailbox.messages_max=0", &retention])?;
    let smtp = server.address("smtp")?;
    let crowd =
        Crowd { smtp, clients: SENDERS, letters: &letters, mailboxes: 0..MAILBOXES, every: Some(EVERY), seed: 1 };
    let (delivered, looks) = scope(|threads| {
        let load = threads.spawn(|| crowd.deliver_for(life * turns as u32));
        let mut looks = Vec::new();
        while !load.is_finished() {
            sleep(Duration::from_secs(1));
            looks.push(Look { at: Instant::now(), used: folder.used()?, journal: folder.journal() });
        }
        Ok::<_, anyhow::Error>((load.join().expect("a client does not panic")?, looks))
    })?;
    server.stop()?;
    let Space { live, ratios } = told(&mut report, &delivered, &looks, life);
    let (middle, worst) = (median(&ratios), ratios.iter().copied().fold(0.0, f64::max));
    report.row(vec![format!("live bytes, after {turns} turns"), megabytes(live as u64), Goal::None.judged(0.0)]);
    let judged = Goal::AtMost(1.4).judged(middle);
    report.row(vec!["disk used to live bytes, median over the last turn".into(), format!("{middle:.2}"), judged]);
    report.row(vec!["the worst second of that turn".into(), format!("{worst:.2}"), Goal::None.judged(0.0)]);
    purge(measure, &folder, &mut report)?;
    ensure!(live >= LIVE_MIN * measure.scale, "only {} were live: that shows little", megabytes(live as u64));
    measure.done(&report)
}

/// Messages of mixed sizes, all of them in base64, as packed text would make the ratio look better.
fn mixed() -> Vec<Vec<u8>> {
    let mut chance = Chance::new(&[8]);
    let size = |chance: &mut Chance| {
        // The sum of twelve even draws is as good as normal; its exponential is how sizes of mail lie.
        let normal = (0..12).map(|_| chance.share()).sum::<f64>() - 6.0;
        (MIDDLE_BYTES * normal.exp()).min(BYTES_MAX) as usize
    };
    (0..500)
        .map(|_| size(&mut chance))
        .map(|size| letter(Kind::Noise, size, &mut Chance::new(&[size as u64])))
        .collect()
}

/// What is left of the looks.
struct Space {
    /// Live bytes at the end.
    live: f64,
    /// Disk used to live bytes, for each second of the last turn.
    ratios: Vec<f64>,
}

fn told(report: &mut Report, delivered: &[Delivered], looks: &[Look], life: Duration) -> Space {
    let mut sorted = delivered.to_vec();
    sorted.sort_by_key(|message| message.at);
    let live = |at: Instant| -> f64 {
        let first = sorted.partition_point(|message| message.at + life <= at);
        let last = sorted.partition_point(|message| message.at <= at);
        sorted[first..last].iter().map(|message| message.bytes as f64).sum()
    };
    let sent: usize = sorted.iter().map(|message| message.bytes).sum();
    report.raw(format!("{} messages, {} in all, each live for {life:?}", sorted.len(), megabytes(sent as u64)));
    // The last look may lie behind the end of the load.
    let looks = &looks[..looks.len() - 1];
    let end = looks[looks.len() - 1].at;
    for looks in looks.chunks(looks.len().div_ceil(25)) {
        let look = &looks[looks.len() - 1];
        let alive = live(look.at);
        let [used, journal, lives] = [look.used, look.journal, alive as u64].map(megabytes);
        report.raw(format!("{used} on disk ({journal} of it log) for {lives} live: {:.2}", look.used as f64 / alive));
    }
    let last_turn = looks.iter().filter(|look| look.at + life >= end);
    Space { live: live(end), ratios: last_turn.map(|look| look.used as f64 / live(look.at)).collect() }
}

/// Purge all mailboxes of the store, which is opened without any age, and see the space come back.
fn purge(measure: &Measure<'_>, folder: &Folder, report: &mut Report) -> Result<()> {
    let server: Server = folder.serve(measure.binary, &["mailbox.messages_max=0", "mailbox.retention=0"])?;
    let before = folder.used()?;
    let begin = Instant::now();
    let mut connection = Connection::open(server.address("http")?)?;
    for number in 0..MAILBOXES {
        connection.send("DELETE", &format!("/api/v1/mailbox/{}", mailbox(number)))?;
        let (status, _) = connection.receive()?;
        ensure!(status == 200, "a purge was answered with {status}");
    }
    let purged = begin.elapsed();
    while folder.used()? > before / 5 && begin.elapsed() < PURGED_WITHIN {
        sleep(Duration::from_millis(100));
    }
    let (freed, after) = (begin.elapsed(), folder.used()?);
    report.raw(format!("purge of {MAILBOXES} mailboxes: {purged:.1?}; {} on disk before", megabytes(before)));
    let journal = megabytes(folder.journal());
    report.raw(format!("{freed:.1?} after its begin: {} on disk, {journal} of it log", megabytes(after)));
    server.stop()?;
    report.raw(format!("after the server stopped: {} on disk", megabytes(folder.used()?)));
    let share = after as f64 / before as f64;
    let judged = Goal::AtMost(0.2).judged(share);
    report.row(vec![
        format!("left on disk {freed:.1?} after a purge of everything began"),
        format!("{share:.2}"),
        judged,
    ]);
    Ok(())
}
