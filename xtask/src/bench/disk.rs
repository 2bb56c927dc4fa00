//! What durability costs: the same mail from 50 senders to `smtp-sink`, to the memory engine and to the disk engine, and
//! the rows that the disk engine made of it written once more by a bare loop over SQLite, in transactions of the same
//! size. What the disk engine spends beyond the memory engine is held against that loop.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Plan, Report};
use crate::load::figures::{Goal, grouped, median};
use crate::load::folder::{Folder, settle};
use crate::load::letters::{Kind, letters};
use crate::load::process::cpu;
use crate::load::server::Server;
use crate::shell::{built, cargo, output, run as must, which};

const SENDERS: &str = "50";
/// What the engine sets when it opens its file (crates/store-disk/src/schema.rs and checkpoint.rs), besides what the
/// file itself tells.
const PRAGMAS: [&str; 5] = [
    "cache_size=-32768",
    "wal_autocheckpoint=2048",
    "journal_size_limit=67108864",
    "temp_store=MEMORY",
    "cell_size_check=1",
];
/// So much more than the bare loop the engine may cost.
const CPU_GOAL: Goal = Goal::AtMost(1.15);

/// One kind of traffic.
struct Work {
    name: &'static str,
    bytes: usize,
    /// None: what `smtp-source` sends by itself, one letter over and over.
    kind: Option<Kind>,
    /// Messages of one run of `smtp-source`, each to a mailbox of its own.
    batch: usize,
    rate_goal: Goal,
}

const fn work(name: &'static str, bytes: usize, kind: Option<Kind>, batch: usize, rate_goal: Goal) -> Work {
    Work { name, bytes, kind, batch, rate_goal }
}

const WORKS: &[Work] = &[
    work("1 KB, text", 1_024, Some(Kind::Words), 8_000, Goal::AtLeast(0.6)),
    work("1 KB, base64", 1_024, Some(Kind::Noise), 8_000, Goal::AtLeast(0.6)),
    work("1 KB, one letter", 1_024, None, 8_000, Goal::AtLeast(0.6)),
    work("20 KB, text and HTML", 20_480, Some(Kind::Words), 4_000, Goal::AtLeast(0.8)),
    work("20 KB, base64", 20_480, Some(Kind::Noise), 4_000, Goal::AtLeast(0.8)),
    work("20 KB, one letter", 20_480, None, 4_000, Goal::AtLeast(0.8)),
    work("200 KB, text and HTML", 204_800, Some(Kind::Words), 1_000, Goal::None),
    work("200 KB, base64", 204_800, Some(Kind::Noise), 1_000, Goal::None),
    work("200 KB, one letter", 204_800, None, 1_000, Goal::None),
];

const COLUMNS: &[&str] = &[
    "work",
    "smtp-sink, msg/s",
    "memory, msg/s",
    "disk, msg/s",
    "disk to smtp-sink",
    "goal",
    "memory, CPU µs/msg",
    "bare rows, CPU µs/msg",
    "disk, CPU µs/msg",
    "(disk − memory) / bare rows",
    "goal",
    "messages a transaction",
];

/// What the rounds of one side showed.
#[derive(Default)]
struct Figures {
    rates: Vec<f64>,
    cpus: Vec<f64>,
}

impl Figures {
    fn push(&mut self, who: &str, count: usize, time: Duration, cpu: Duration) {
        let (rate, spent) = (count as f64 / time.as_secs_f64(), cpu.as_secs_f64() * 1e6 / count as f64);
        println!("{who}: {count} messages, {rate:.0} msg/s, CPU {spent:.1} µs/msg");
        self.rates.push(rate);
        self.cpus.push(spent);
    }

    fn line(&self) -> String {
        let rates: Vec<_> = self.rates.iter().map(|rate| format!("{rate:.0}")).collect();
        let cpus: Vec<_> = self.cpus.iter().map(|cpu| format!("{cpu:.1}")).collect();
        format!("msg/s {}; CPU µs/msg {}", rates.join(" "), cpus.join(" "))
    }
}

/// The four sides, and the sizes of the transactions.
#[derive(Default)]
struct Sides {
    sink: Figures,
    memory: Figures,
    disk: Figures,
    bare: Figures,
    groups: Vec<f64>,
    /// Bytes of a body as it lies on the disk.
    stored: u64,
}

pub(super) fn run(plan: &Plan) -> Result<()> {
    let source = which("smtp-source").context("smtp-source is missing: install the Debian package postfix")?;
    must(&mut cargo(["build", "--release", "--package", "postkeep-bench", "--bin", "bare-rows"]))?;
    let mut report = Report::new("bench disk", COLUMNS);
    for work in WORKS {
        let bench = Bench::new(plan, &source, work)?;
        let sides = bench.rounds(plan.rounds, plan.time)?;
        bench.file.iter().try_for_each(fs::remove_file)?;
        tell(&mut report, work, &sides);
    }
    plan.done(&report)
}

fn tell(report: &mut Report, work: &Work, sides: &Sides) {
    let named =
        [("smtp-sink", &sides.sink), ("memory", &sides.memory), ("disk", &sides.disk), ("bare rows", &sides.bare)];
    for (side, figures) in named {
        report.raw(format!("{}, {side}: {}", work.name, figures.line()));
    }
    let groups: Vec<_> = sides.groups.iter().map(|group| format!("{group:.1}")).collect();
    let (groups, stored) = (groups.join(" "), sides.stored);
    report.raw(format!("{}, messages a transaction: {groups}; a body is stored as {stored} bytes", work.name));
    let [sink, memory_rate, disk_rate] =
        [&sides.sink, &sides.memory, &sides.disk].map(|figures| median(&figures.rates));
    let [memory, bare, disk] = [&sides.memory, &sides.bare, &sides.disk].map(|figures| median(&figures.cpus));
    let (rate, cost) = (disk_rate / sink, (disk - memory) / bare);
    report.row(vec![
        work.name.into(),
        grouped(sink),
        grouped(memory_rate),
        grouped(disk_rate),
        format!("{rate:.2}"),
        work.rate_goal.judged(rate),
        format!("{memory:.1}"),
        format!("{bare:.1}"),
        format!("{disk:.1}"),
        format!("{cost:.2}"),
        CPU_GOAL.judged(cost),
        format!("{:.1}", median(&sides.groups)),
    ]);
}

/// One work with everything that it needs.
struct Bench<'a> {
    binary: &'a Path,
    source: &'a Path,
    work: &'a Work,
    /// The message to send, where `smtp-source` does not make it.
    file: Option<PathBuf>,
    sink: Server,
    memory: Server,
}

impl<'a> Bench<'a> {
    fn new(plan: &'a Plan, source: &'a Path, work: &'a Work) -> Result<Self> {
        let mut file = None;
        if let Some(kind) = work.kind {
            let path = std::env::temp_dir().join(format!("postkeep-bench-{}.eml", std::process::id()));
            // `smtp-source` writes the ends of the lines itself.
            let letter = String::from_utf8(letters(kind, work.bytes, 1).concat())?.replace("\r\n", "\n");
            fs::write(&path, letter)?;
            file = Some(path);
        }
        let (sink, memory) = (Server::sink()?, Server::postkeep(&plan.binary, &[])?);
        Ok(Self { binary: &plan.binary, source, work, file, sink, memory })
    }

    /// All rounds; who goes first changes from round to round.
    fn rounds(&self, rounds: usize, time: Duration) -> Result<Sides> {
        let mut sides = Sides::default();
        // Warms everybody, and tells how many messages fill the time.
        let batch = self.work.batch;
        let trial = self.send(&self.sink, batch)?.max(self.send(&self.memory, batch)?);
        let trial = trial.max(self.disk(batch, None)?);
        let count = (batch as f64 * time.as_secs_f64() / trial.as_secs_f64()) as usize;
        let count = count.next_multiple_of(batch);
        for round in 0..rounds {
            let mut order = [0, 1, 2];
            order.rotate_left(round % 3);
            let who = |side: &str| format!("{}, round {}: {side}", self.work.name, round + 1);
            for side in order {
                settle()?;
                match side {
                    0 => self.server(&self.sink, count, &who("smtp-sink"), &mut sides.sink)?,
                    1 => self.server(&self.memory, count, &who("memory"), &mut sides.memory)?,
                    _ => _ = self.disk(count, Some((&mut sides, &who(""))))?,
                }
            }
        }
        Ok(sides)
    }

    /// One side that runs all the time.
    fn server(&self, server: &Server, count: usize, who: &str, figures: &mut Figures) -> Result<()> {
        let before = cpu(server.pid())?;
        let time = self.send(server, count)?;
        figures.push(who, count, time, cpu(server.pid())? - before);
        Ok(())
    }

    /// The disk engine in a fresh directory, then the bare loop with its rows and the size of its transactions.
    fn disk(&self, count: usize, sides: Option<(&mut Sides, &str)>) -> Result<Duration> {
        let folder = Folder::new("bench")?;
        let server = folder.serve(self.binary, &["log.level=debug"])?;
        let before = cpu(server.pid())?;
        let time = self.send(&server, count)?;
        let spent = cpu(server.pid())? - before;
        server.stop()?;
        let Some((sides, who)) = sides else { return Ok(time) };
        sides.disk.push(&format!("{who}disk"), count, time, spent);
        let group = group(&folder.said(), count)?;
        sides.groups.push(group);
        settle()?;
        let figures = bare(&folder, count, group)?;
        let number = |name: &str| figures[name].as_f64().with_context(|| format!("bare-rows told no {name}"));
        let time_of = |name: &str| number(name).map(Duration::from_secs_f64);
        sides.bare.push(&format!("{who}bare rows"), count, time_of("seconds")?, time_of("cpu_seconds")?);
        sides.stored = number("stored")? as u64;
        Ok(time)
    }

    /// Send so many messages; how long it took. A reply that is not positive ends `smtp-source` with an error.
    fn send(&self, server: &Server, count: usize) -> Result<Duration> {
        let address = server.address("smtp")?.to_string();
        let begin = Instant::now();
        for _ in 0..count.div_ceil(self.work.batch) {
            let mut command = Command::new(self.source);
            command.args(["-d", "-N", "-s", SENDERS, "-m", &self.work.batch.to_string()]);
            command.args(["-M", "client.test", "-f", "sender@client.test", "-t", "box@client.test"]);
            match &self.file {
                Some(file) => command.arg("-F").arg(file),
                None => command.args(["-l", &self.work.bytes.to_string()]),
            };
            must(command.arg(&address))?;
        }
        Ok(begin.elapsed())
    }
}

/// Messages in one transaction, from what the server says about itself at its end: `messages=… transactions=…`.
fn group(said: &str, count: usize) -> Result<f64> {
    let number = |name: &str| -> Option<f64> {
        let rest = &said[said.rfind(name)? + name.len()..];
        rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
    };
    let (messages, transactions) =
        number("messages=").zip(number("transactions=")).context("the server did not tell its transactions")?;
    ensure!(messages == count as f64, "the server counted {messages} messages of {count}");
    Ok(messages / transactions.max(1.0))
}

/// The bare loop: what it tells about so many messages like those in the folder.
fn bare(folder: &Folder, count: usize, group: f64) -> Result<Value> {
    let to = folder.beside("rows");
    let mut command = Command::new(built()?.join("bare-rows"));
    command.arg(folder.database()).arg(to.join("rows.db"));
    command.args(["--messages", &count.to_string(), "--group", &group.to_string()]);
    command.args(PRAGMAS.iter().flat_map(|pragma| ["--pragma", pragma]));
    let figures = output(&mut command);
    // If it was not even made, the figures tell why.
    let _ = fs::remove_dir_all(&to);
    serde_json::from_str(&figures?).context("bare-rows told something else than JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_transactions_is_read_from_the_last_line() {
        let said = "INFO ready\nDEBUG store: 120 messages in 8 transactions messages=120 transactions=8\n";
        assert_eq!(group(said, 120).expect("it is told"), 15.0);
        assert!(group(said, 121).is_err() && group("INFO ready", 120).is_err());
    }
}
