//! What scripts cost: Postfix's `smtp-source` sends the same mail to a server without scripts and to servers with one, in
//! turns. The yardstick is the server without.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::smtp::{Figures, Work, send};
use super::{Plan, Report};
use crate::load::figures::{Goal, grouped, median};
use crate::load::process::cpu;
use crate::load::server::Server;
use crate::shell::which;

const WORK: Work =
    Work { name: "1 KB, kept connections", flags: &["-d", "-l", "1024"], batch: 0, cpu_goal: Goal::None };

/// The scripts, by what they do.
const SCRIPTS: [(&str, &str, Goal); 4] = [
    ("a trivial before.message", "function postkeep.before.message(message) end", Goal::AtLeast(0.8)),
    (
        "sender, recipient and message",
        "function postkeep.before.mail_from(session) end function postkeep.before.rcpt_to(session) end \
         function postkeep.before.message(message) end",
        Goal::None,
    ),
    (
        "reads header and subject, tags",
        "function postkeep.before.message(message) if message:header('X-None') == nil and message.subject ~= 'x' then \
         message:tag('seen') end end",
        Goal::None,
    ),
    (
        "reads the body",
        "function postkeep.before.message(message) if message:body():find('nothing', 1, true) then message:tag('x') end end",
        Goal::None,
    ),
];

const COLUMNS: &[&str] =
    &["script", "without, msg/s", "with, msg/s", "ratio", "goal", "without, CPU µs/msg", "with, CPU µs/msg"];

pub(super) fn run(plan: &Plan) -> Result<()> {
    let mut report = Report::new("bench script", COLUMNS);
    let folder = std::env::temp_dir().join(format!("postkeep-xtask-scripts-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    for (number, (name, text, goal)) in SCRIPTS.into_iter().enumerate() {
        let path = folder.join(format!("{number}.lua"));
        fs::write(&path, text)?;
        let [without, with] = measure(plan, name, &path, &mut report)?;
        let [plain_rate, rate, plain_cpu, cpu] =
            [&without.rates, &with.rates, &without.cpus, &with.cpus].map(|figures| median(figures));
        let ratio = rate / plain_rate;
        report.row(vec![
            name.into(),
            grouped(plain_rate),
            grouped(rate),
            format!("{ratio:.2}"),
            goal.judged(ratio),
            format!("{plain_cpu:.1}"),
            format!("{cpu:.1}"),
        ]);
    }
    fs::remove_dir_all(&folder)?;
    plan.done(&report)
}

/// All rounds with one script; who goes first changes from round to round.
fn measure(plan: &Plan, name: &str, path: &Path, report: &mut Report) -> Result<[Figures; 2]> {
    let source = which("smtp-source").context("smtp-source is missing: install the Debian package postfix")?;
    let script = format!("script.path={}", path.display());
    let servers = [Server::postkeep(&plan.binary, &[])?, Server::postkeep(&plan.binary, &[&script])?];
    let mut figures = [Figures::default(), Figures::default()];
    let mut slowest = 0.0f64;
    for server in &servers {
        slowest = slowest.max(send(&source, &WORK, server, 4_000)?.as_secs_f64());
    }
    let count = ((4_000.0 * plan.time.as_secs_f64() / slowest) as usize).next_multiple_of(1_000);
    for round in 0..plan.rounds {
        let mut order = [0, 1];
        order.rotate_left(round % 2);
        for which in order {
            let (server, word) = (&servers[which], ["without", "with"][which]);
            let before = cpu(server.pid())?;
            let time = send(&source, &WORK, server, count)?;
            let rate = count as f64 / time.as_secs_f64();
            let spent = (cpu(server.pid())? - before).as_secs_f64() * 1e6 / count as f64;
            figures[which].rates.push(rate);
            figures[which].cpus.push(spent);
            let name = format!("{name}, round {}: {word:<7}", round + 1);
            report.raw(format!("{name} {count} messages, {rate:>7.0} msg/s, CPU {spent:>6.1} µs/msg"));
        }
    }
    servers.into_iter().try_for_each(Server::stop)?;
    Ok(figures)
}
