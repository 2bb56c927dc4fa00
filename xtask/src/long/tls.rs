//! TLS in numbers: thousands of connections that are there and say nothing, and what each costs; and a storm of
//! handshakes, as many as one core makes, which those who are at work may hardly feel.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::measure::Measure;
use crate::bench::Report;
use crate::load::figures::{Goal, grouped, median, megabytes};
use crate::load::process::{allow_files, memory};
use crate::load::server::Server;
use crate::load::tools::{Figures, Place, build, figures, to, tool};
use crate::shell::Parts;
use anyhow::{Context, Result, bail, ensure};

/// The parts by name.
const NAMES: [&str; 2] = ["hold", "storm"];

/// `long tls`, or one part of it.
pub(super) fn run(measure: &Measure<'_>, part: Option<&str>, rounds: Option<u32>, parts: &mut Parts) -> Result<()> {
    if let Some(part) = part.filter(|part| !NAMES.contains(part)) {
        bail!("`long tls {part}` is unknown; there are {}", NAMES.join(" and "));
    }
    build()?;
    let wanted = |name: &str| part.is_none_or(|part| part == name);
    if wanted("hold") {
        parts.part("tls hold", || hold(measure));
    }
    if wanted("storm") {
        parts.part("tls storm", || storm(measure, rounds.unwrap_or(ROUNDS) as usize));
    }
    Ok(())
}

// ---- thousands of connections that are held

const HELD: usize = 5_000;
const HOLD_COLUMNS: &[&str] =
    &["held", "connections", "RSS before", "RSS with them", "KB each", "mail meanwhile, p50 / p99", "at most"];

/// How connections are held: what to call it, the listener, the mode, the protocol.
const HOLDS: [(&str, &str, &str, &str); 5] = [
    ("SMTP, plain", "smtp", "plain", "smtp"),
    ("SMTP with STARTTLS", "smtp", "starttls", "smtp"),
    ("smtps", "smtps", "tls", "smtp"),
    ("HTTP, plain", "http", "plain", "http"),
    ("https", "https", "tls", "http"),
];

fn hold(measure: &Measure<'_>) -> Result<()> {
    allow_files(20_000)?;
    let mut report = Report::new("long tls hold", HOLD_COLUMNS);
    let count = measure.scaled(HELD);
    for (name, listener, mode, protocol) in HOLDS {
        let held = held(measure.binary, [listener, mode, protocol], count)?;
        let Held { up_after, before, with, peak, meanwhile } = &held;
        report.raw(format!("{name}: up after {up_after:.1?}, RSS {before} to {with} bytes, mail {}", meanwhile.json()));
        report.row(vec![
            name.into(),
            grouped(count as f64),
            megabytes(*before),
            megabytes(*with),
            format!("{:.1}", with.saturating_sub(*before) as f64 / count as f64 / 1e3),
            format!("{:.2} / {:.2} ms", meanwhile.number("p50_ms")?, meanwhile.number("p99_ms")?),
            megabytes(*peak),
        ]);
    }
    measure.done(&report)
}

/// What one kind of connection costs, in bytes.
struct Held {
    up_after: Duration,
    before: u64,
    with: u64,
    peak: u64,
    /// Figures of the mail that flowed beside them.
    meanwhile: Figures,
}

/// One kind of connection on a server of its own.
fn held(binary: &Path, [listener, mode, protocol]: [&str; 3], count: usize) -> Result<Held> {
    let place = Place::new("hold")?;
    let server = place.secured(binary, "certificate", None)?;
    // What is made once, by the first of them, is not counted.
    mail(&server, "20")?;
    let before = memory(server.pid())?.now;
    let mut command = tool("tls-hold", None)?;
    to(&mut command, server.address(listener)?).args(["--mode", mode, "--protocol", protocol]);
    command.args(["--connections", &count.to_string()]);
    let holder = Server::announced(command).context("not all connections came up")?;
    let (with, up_after) = (memory(server.pid())?.now, holder.ready_after);
    let meanwhile = mail(&server, "2000")?;
    holder.stop().context("a connection that was held did not answer")?;
    let peak = memory(server.pid())?.peak;
    server.stop()?;
    Ok(Held { up_after, before, with, peak, meanwhile })
}

/// Mail with STARTTLS by 20 clients; an error of any is one.
fn mail(server: &Server, messages: &str) -> Result<Figures> {
    let mut command = tool("smtp-load", None)?;
    to(&mut command, server.address("smtp")?).args(["--mode", "starttls", "--connections", "20", "--size", "2048"]);
    figures(command.args(["--messages", messages, "--json"]))?.sound()
}

// ---- a storm of handshakes

const ROUNDS: u32 = 5;
const STORM_TIME: Duration = Duration::from_secs(30);
const STORM_GOAL: Goal = Goal::AtMost(3.0);
/// The server has a core, the clients another. The storm takes what the clients at work leave of theirs: they would be
/// on other machines.
const SERVER_CORE: &str = "0";
const CLIENT_CORE: &str = "1";
const STORM_COLUMNS: &[&str] = &[
    "sessions at work",
    "p50 / p99 without, ms",
    "p50 / p99 in the storm, ms",
    "p99 ratio",
    "goal",
    "at most, ms",
    "handshakes/s",
];

/// Who is at work: the load generator, the listener, and its words.
const AT_WORK: [(&str, &str, &str, &[&str]); 3] = [
    (
        "SMTP with STARTTLS, 200 messages/s of 2 KB over 20 connections",
        "smtp-load",
        "smtp",
        &["--mode", "starttls", "--connections", "20", "--rate", "200", "--size", "2048", "--mailboxes", "20"],
    ),
    (
        "https, 50 lists/s over 5 connections",
        "rest-load",
        "https",
        &["--mode", "tls", "--connections", "5", "--rate", "50", "--path", "/api/v1/mailbox/shelf"],
    ),
    (
        "pop3s, 50 RETR/s of 2 KB over 5 connections",
        "pop3-load",
        "pop3s",
        &["--mode", "tls", "--connections", "5", "--rate", "50", "--user", "shelf"],
    ),
];

/// What one round showed: a line of figures for each at work, and the handshakes a second.
struct Round {
    at_work: Vec<Figures>,
    handshakes: f64,
}

fn storm(measure: &Measure<'_>, rounds: usize) -> Result<()> {
    let place = Place::new("storm")?;
    let server = place.secured(measure.binary, "certificate", Some(SERVER_CORE))?;
    let mut shelf = tool("smtp-load", None)?;
    to(&mut shelf, server.address("smtp")?).args(["--messages", "20", "--size", "2048", "--json"]);
    figures(shelf.args(["--mailbox", "shelf"]))?.sound()?;
    let time = measure.scaled_time(STORM_TIME, Duration::from_secs(2));
    let mut report = Report::new("long tls storm", STORM_COLUMNS);
    let (mut calm, mut stormy) = (Vec::new(), Vec::new());
    at_work(&server, Duration::from_secs(2), false)?;
    for round in 0..rounds {
        let mut order = [false, true];
        order.rotate_left(round % 2);
        for storm in order {
            let seen = at_work(&server, time, storm)?;
            for ((name, ..), figures) in AT_WORK.iter().zip(&seen.at_work) {
                report.raw(raw(round, storm, name, figures, seen.handshakes));
            }
            if storm { &mut stormy } else { &mut calm }.push(seen);
        }
    }
    server.stop()?;
    for (number, (name, ..)) in AT_WORK.iter().enumerate() {
        report.row(row(name, number, &calm, &stormy)?);
    }
    measure.done(&report)
}

fn raw(round: usize, storm: bool, name: &str, figures: &Figures, handshakes: f64) -> String {
    let weather = if storm { format!("{handshakes:.0} handshakes/s") } else { "no storm".into() };
    let told = figures.json();
    let [p50, p99, max, count] = ["p50_ms", "p99_ms", "max_ms", "messages"].map(|name| told[name].to_string());
    format!("round {}, {weather}: {name}: {count}, p50 {p50}, p99 {p99}, at most {max} ms", round + 1)
}

fn row(name: &str, number: usize, calm: &[Round], stormy: &[Round]) -> Result<Vec<String>> {
    let middle = |rounds: &[Round], figure: &str| -> Result<f64> {
        let figures: Result<Vec<_>> = rounds.iter().map(|round| round.at_work[number].number(figure)).collect();
        Ok(median(&figures?))
    };
    let [calm_p99, stormy_p99] = [middle(calm, "p99_ms")?, middle(stormy, "p99_ms")?];
    let ratio = stormy_p99 / calm_p99;
    let worst = stormy.iter().map(|round| round.at_work[number].number("max_ms")).collect::<Result<Vec<_>>>()?;
    let handshakes: Vec<_> = stormy.iter().map(|round| round.handshakes).collect();
    Ok(vec![
        name.into(),
        format!("{:.2} / {calm_p99:.2}", middle(calm, "p50_ms")?),
        format!("{:.2} / {stormy_p99:.2}", middle(stormy, "p50_ms")?),
        format!("{ratio:.2}"),
        STORM_GOAL.judged(ratio),
        format!("{:.1}", worst.into_iter().fold(0.0, f64::max)),
        grouped(median(&handshakes)),
    ])
}

/// All at work for so long, in a storm or not. An error of anybody at work ends it.
fn at_work(server: &Server, time: Duration, storm: bool) -> Result<Round> {
    let seconds = time.as_secs_f64().to_string();
    let storming = storm.then(|| blow(server, time + Duration::from_secs(1))).transpose()?;
    let mut children = Vec::new();
    for (_, name, listener, words) in AT_WORK {
        let mut command = tool(name, Some(CLIENT_CORE))?;
        to(&mut command, server.address(listener)?).args(words).args(["--seconds", &seconds, "--json"]);
        children.push(started(command)?);
    }
    let at_work = children.into_iter().map(|child| ended(child)?.sound()).collect::<Result<Vec<_>>>()?;
    let handshakes = storming.map(|child| ended(child)?.number("rate")).transpose()?.unwrap_or(0.0);
    ensure!(!storm || handshakes > 0.0, "there was no storm");
    Ok(Round { at_work, handshakes })
}

/// The storm, on the clients' core, with what they leave of it.
fn blow(server: &Server, time: Duration) -> Result<Child> {
    let tool = tool("tls-storm", Some(CLIENT_CORE))?;
    let mut command = Command::new("nice");
    command.args(["-n", "19"]).arg(tool.get_program()).args(tool.get_args());
    to(&mut command, server.address("smtps")?).args(["--seconds", &time.as_secs_f64().to_string()]);
    started(command)
}

fn started(mut command: Command) -> Result<Child> {
    command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot run {:?}", command.get_program()))
}

fn ended(child: Child) -> Result<Figures> {
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "a load generator ended with {}", output.status);
    Figures::of(&String::from_utf8(output.stdout)?)
}
