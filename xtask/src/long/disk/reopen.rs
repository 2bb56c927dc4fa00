//! How soon a server is back after it was killed in the middle of its work, with 5 GB stored: exec to the line that
//! says it is ready. Half of the times the system still holds the files in memory, half of the times it does not.

use std::thread::{scope, sleep};
use std::time::Duration;

use anyhow::{Result, ensure};
use rustix::process::Signal;

use super::Measure;
use crate::bench::Report;
use crate::load::crowd::{Crowd, fill};
use crate::load::figures::{Goal, median, megabytes};
use crate::load::folder::Folder;
use crate::load::letters::{Kind, letters};

const MESSAGES: usize = 250_000;
const MESSAGE_BYTES: usize = 20_480;
const MAILBOXES: usize = 10_000;
const SENDERS: usize = 50;
const KILLS: usize = 5;
const LOAD: Duration = Duration::from_secs(3);
const SETTINGS: [&str; 2] = ["mailbox.messages_max=0", "mailbox.retention=0"];
const COLUMNS: &[&str] = &["exec to ready, after a kill", "median", "worst", "goal"];

pub(super) fn run(measure: &Measure<'_>) -> Result<()> {
    let mut report = Report::within("docs/reliability.md", "long reopen", COLUMNS);
    let letters = letters(Kind::Noise, MESSAGE_BYTES, 64);
    let folder = Folder::new("reopen")?;
    let mut server = folder.serve(measure.binary, &SETTINGS)?;
    let plan: Vec<u32> = (0..measure.scaled(MESSAGES)).map(|number| (number % MAILBOXES) as u32).collect();
    fill(server.address("smtp")?, &plan, &letters)?;
    report.raw(format!("stored: {} on disk", megabytes(folder.used()?)));
    let (mut warm, mut cold) = (Vec::new(), Vec::new());
    for kill in 0..2 * KILLS {
        let smtp = server.address("smtp")?;
        let crowd = Crowd {
            smtp,
            clients: SENDERS,
            letters: &letters,
            mailboxes: 0..MAILBOXES,
            every: None,
            seed: kill as u64,
        };
        let lost = scope(|threads| -> Result<bool> {
            let load = threads.spawn(|| crowd.deliver(&|_| false));
            sleep(LOAD);
            server.signal(Signal::KILL)?;
            Ok(load.join().expect("a client does not panic").is_err())
        })?;
        ensure!(lost, "the clients did not notice that the server was killed");
        server.wait()?;
        let journal = folder.journal();
        let (name, times) = if kill % 2 == 0 { ("held in memory", &mut warm) } else { ("cold", &mut cold) };
        if kill % 2 == 1 {
            folder.cool()?;
        }
        server = folder.serve(measure.binary, &SETTINGS)?;
        times.push(server.ready_after.as_secs_f64() * 1e3);
        let ready = server.ready_after;
        report.raw(format!("kill {}, files {name}, log of {}: ready after {ready:.1?}", kill + 1, megabytes(journal)));
    }
    report.raw(format!("at the end: {} on disk", megabytes(folder.used()?)));
    server.stop()?;
    for (name, times) in [("files held in memory", &warm), ("files cold", &cold)] {
        let worst = times.iter().copied().fold(0.0, f64::max);
        let (middle, judged) = (median(times), Goal::AtMost(1000.0).judged(worst));
        report.row(vec![name.into(), format!("{middle:.0} ms"), format!("{worst:.0} ms"), judged]);
    }
    measure.done(&report)
}
