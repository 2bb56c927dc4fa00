//! Mail in: Postfix's `smtp-source` sends the same work to Postfix's `smtp-sink`, which throws it away, and to us, who
//! keep it. The rate is mostly the sender's; the CPU that a server spends on one message is the steadier figure.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::{Plan, Report};
use crate::load::figures::{Goal, grouped, median};
use crate::load::process::cpu;
use crate::load::server::Server;
use crate::shell::{run as must, which};

const SESSIONS: &str = "16";

/// One kind of traffic.
pub(super) struct Work {
    pub(super) name: &'static str,
    /// For `smtp-source`.
    pub(super) flags: &'static [&'static str],
    /// So many messages are sent by one run of `smtp-source`; with `-N` that is the number of mailboxes.
    pub(super) batch: usize,
    pub(super) cpu_goal: Goal,
}

const WORKS: &[Work] = &[
    Work { name: "1 KB, kept connections", flags: &["-d", "-l", "1024"], batch: 0, cpu_goal: Goal::AtMost(1.3) },
    Work { name: "20 KB, kept connections", flags: &["-d", "-l", "20480"], batch: 0, cpu_goal: Goal::AtMost(0.8) },
    Work { name: "20 KB, a connection each", flags: &["-l", "20480"], batch: 0, cpu_goal: Goal::None },
    Work { name: "1 KB over 4,000 mailboxes", flags: &["-d", "-N", "-l", "1024"], batch: 4000, cpu_goal: Goal::None },
];
const RATE_GOAL: Goal = Goal::AtLeast(0.9);

const COLUMNS: &[&str] = &[
    "work",
    "smtp-sink, msg/s",
    "Postkeep, msg/s",
    "rate ratio",
    "goal",
    "smtp-sink, CPU µs/msg",
    "Postkeep, CPU µs/msg",
    "CPU ratio",
    "goal",
];

/// What one round showed.
#[derive(Default)]
pub(super) struct Figures {
    pub(super) rates: Vec<f64>,
    pub(super) cpus: Vec<f64>,
}

pub(super) fn run(plan: &Plan) -> Result<()> {
    let source = which("smtp-source").context("smtp-source is missing: install the Debian package postfix")?;
    let mut report = Report::new("bench smtp", COLUMNS);
    for work in WORKS {
        let (sink, ours) = measure(plan, &source, work, &mut report)?;
        let [sink_rate, our_rate, sink_cpu, our_cpu] =
            [&sink.rates, &ours.rates, &sink.cpus, &ours.cpus].map(|figures| median(figures));
        let (rate, cpu) = (our_rate / sink_rate, our_cpu / sink_cpu);
        report.row(vec![
            work.name.into(),
            grouped(sink_rate),
            grouped(our_rate),
            format!("{rate:.2}"),
            RATE_GOAL.judged(rate),
            format!("{sink_cpu:.1}"),
            format!("{our_cpu:.1}"),
            format!("{cpu:.2}"),
            work.cpu_goal.judged(cpu),
        ]);
    }
    plan.done(&report)
}

/// All rounds of one work; who goes first changes from round to round.
fn measure(plan: &Plan, source: &PathBuf, work: &Work, report: &mut Report) -> Result<(Figures, Figures)> {
    let (sink, ours) = (Server::sink()?, Server::postkeep(&plan.binary, &[])?);
    let (mut sink_figures, mut our_figures) = (Figures::default(), Figures::default());
    // Warms both, and tells how many messages fill the time.
    let trial = send(source, work, &sink, 2_000)?.max(send(source, work, &ours, 2_000)?);
    let count = (2_000.0 * plan.time.as_secs_f64() / trial.as_secs_f64()) as usize;
    let count = count.next_multiple_of(work.batch.max(1_000));
    for round in 0..plan.rounds {
        let mut pair = [("smtp-sink", &sink, &mut sink_figures), ("Postkeep", &ours, &mut our_figures)];
        pair.rotate_left(round % 2);
        for (name, server, figures) in pair {
            let before = cpu(server.pid())?;
            let time = send(source, work, server, count)?;
            let rate = count as f64 / time.as_secs_f64();
            let spent = (cpu(server.pid())? - before).as_secs_f64() * 1e6 / count as f64;
            figures.rates.push(rate);
            figures.cpus.push(spent);
            let name = format!("{}, round {}: {name:<9}", work.name, round + 1);
            report.raw(format!("{name} {count} messages, {rate:>7.0} msg/s, CPU {spent:>6.1} µs/msg"));
        }
    }
    ours.stop()?;
    Ok((sink_figures, our_figures))
}

/// Send so many messages; how long it took. A reply that is not positive ends `smtp-source` with an error.
pub(super) fn send(source: &PathBuf, work: &Work, server: &Server, count: usize) -> Result<Duration> {
    let batch = if work.batch == 0 { count } else { work.batch };
    let begin = Instant::now();
    for _ in 0..count.div_ceil(batch) {
        let mut command = Command::new(source);
        command.args(work.flags).args(["-s", SESSIONS, "-m", &batch.min(count).to_string()]);
        command.args(["-M", "client.test", "-f", "sender@client.test", "-t", "box@client.test"]);
        must(command.arg(server.address("smtp")?.to_string()))?;
    }
    Ok(begin.elapsed())
}
