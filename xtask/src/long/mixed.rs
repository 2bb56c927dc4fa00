//! Everybody at once for an hour: mail in and out over every listener, clients that break off and slow ones, sessions
//! that are kept while the certificate changes. Afterwards memory, files and threads of the server must be where they
//! were after a short time of the same, and every message where its owner was told that it is.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::load::figures::megabytes;
use crate::load::http;
use crate::load::process::{Used, memory, used};
use crate::load::server::{Server, Starting};
use crate::load::tools::{Figures, Place, build, tool};
use anyhow::{Context, Result, bail, ensure};

/// How long, and how much of it.
struct Plan {
    warm: Duration,
    time: Duration,
    swap_every: Duration,
    tell_every: Duration,
    seed: u64,
}

/// So much more memory than after the warm-up is allowed, and so much on top: allocators keep some of what they had.
const MEMORY_SHARE: f64 = 1.25;
const MEMORY_MORE: u64 = 16 << 20;
/// What was closed is gone within so long.
const SETTLING: Duration = Duration::from_secs(60);
/// With nobody there it ends at once; a task that hangs would keep it until its grace is over.
const STOP_MAX: Duration = Duration::from_secs(2);
const PAIRS: [&str; 2] = ["first", "second"];

/// `cargo xtask long mixed [--minutes N] [--seed S]`.
pub(super) fn run(binary: &Path, minutes: f64, seed: Option<u64>) -> Result<()> {
    build()?;
    let time = Duration::from_secs_f64(minutes * 60.0);
    mixed(
        binary,
        &Plan {
            warm: time.mul_f64(0.1).clamp(Duration::from_secs(10), Duration::from_secs(180)),
            time,
            // Often enough to happen in the warm-up as well.
            swap_every: time.mul_f64(0.02).clamp(Duration::from_secs(5), Duration::from_secs(60)),
            tell_every: Duration::from_secs(60),
            seed: seed.unwrap_or(1),
        },
    )
}

/// The short form that CI runs on what it built: about a minute.
pub(crate) fn short(binary: &Path) -> Result<()> {
    ensure!(binary.is_file(), "there is no {}: the part `tests` builds it", binary.display());
    mixed(
        binary,
        &Plan {
            warm: Duration::from_secs(12),
            time: Duration::from_secs(40),
            swap_every: Duration::from_secs(8),
            tell_every: Duration::from_secs(10),
            seed: 1,
        },
    )
}

fn mixed(binary: &Path, plan: &Plan) -> Result<()> {
    let place = Place::new("mixed")?;
    for pair in PAIRS {
        // Made by the server itself, which is then no longer needed.
        place.secured(binary, pair, None)?.stop()?;
    }
    copy_pair(&place, PAIRS[0])?;
    let mut command = Command::new(binary);
    place.with_certificate(&mut command, "served", &["tls.check_every=1s"]);
    let log = place.file("log");
    let mut server = Starting::new(command, File::create(&log)?)?.ready()?;
    let outcome = watched(&mut server, &place, plan);
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    let outcome = outcome.and_then(|()| {
        let begin = Instant::now();
        server.stop()?;
        let took = begin.elapsed();
        ensure!(took < STOP_MAX, "it took {took:.1?} to stop although nobody was there");
        ensure!(!said.contains("panicked"), "something panicked");
        println!("stopped within {took:.1?}");
        Ok(())
    });
    outcome.with_context(|| format!("its log ends so:\n{}", last_lines(&said)))
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

fn copy_pair(place: &Place, pair: &str) -> Result<()> {
    std::fs::create_dir_all(place.file("served"))?;
    for file in ["cert.pem", "key.pem"] {
        let from = place.file(pair).join(file);
        std::fs::copy(&from, place.file("served").join(file))
            .with_context(|| format!("postkeep made no {}", from.display()))?;
    }
    Ok(())
}

/// Warm up, load, and compare.
fn watched(server: &mut Server, place: &Place, plan: &Plan) -> Result<()> {
    let at_start = used(server.pid())?;
    tell("at the start", at_start);
    load(server, place, plan, plan.warm)?;
    let warm = settled(server, |now| now.sockets <= at_start.sockets)?;
    tell("warmed up and idle", warm);
    load(server, place, plan, plan.time)?;
    let limit = (warm.memory as f64 * MEMORY_SHARE) as u64 + MEMORY_MORE;
    let after = settled(server, |now| back(now, warm, limit))?;
    tell("idle again", after);
    println!("at most: {}", megabytes(memory(server.pid())?.peak));
    ensure!(after.files == warm.files, "{} open files instead of {}", after.files, warm.files);
    ensure!(after.threads <= warm.threads, "{} threads instead of {}", after.threads, warm.threads);
    ensure!(after.memory <= limit, "{} is more than {}", megabytes(after.memory), megabytes(limit));
    Ok(())
}

fn back(now: Used, warm: Used, memory_max: u64) -> bool {
    now.files == warm.files && now.threads <= warm.threads && now.memory <= memory_max
}

fn tell(when: &str, used: Used) {
    let Used { memory, files, sockets, threads } = used;
    println!("{when}: {}, {files} open files, {sockets} of them sockets, {threads} threads", megabytes(memory));
}

/// Run the load for so long, and tell now and then what the server uses.
fn load(server: &mut Server, place: &Place, plan: &Plan, time: Duration) -> Result<()> {
    // Each run begins with the pair that it thinks is there.
    copy_pair(place, PAIRS[0])?;
    let mut child = start(server, place, plan, time)?;
    let (begin, mut told) = (Instant::now(), 1);
    while child.try_wait()?.is_none() {
        if let Some(status) = server.ended()? {
            // Nobody is left to talk to.
            child.kill()?;
            bail!("the server ended with {status}");
        }
        if begin.elapsed() >= plan.tell_every * told {
            tell(&format!("after {:>4.0} s", begin.elapsed().as_secs_f64()), used(server.pid())?);
            told += 1;
        }
        sleep(Duration::from_millis(100));
    }
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "mixed-load ended with {}", output.status);
    sound(&Figures::of(&String::from_utf8(output.stdout)?)?)
}

fn start(server: &Server, place: &Place, plan: &Plan, time: Duration) -> Result<Child> {
    let mut command = tool("mixed-load", None)?;
    for listener in ["smtp", "smtps", "pop3", "pop3s", "http", "https"] {
        command.args([&format!("--{listener}"), &server.address(listener)?.to_string()]);
    }
    command.args(["--seconds", &time.as_secs_f64().to_string(), "--seed", &plan.seed.to_string()]);
    command.args(["--swap-every", &plan.swap_every.as_secs_f64().to_string()]);
    command.arg("--swap-in").arg(place.file("served"));
    let pairs = PAIRS.map(|pair| place.file(pair).display().to_string());
    command.args(["--pairs", &pairs.join(",")]);
    command.stdout(Stdio::piped()).spawn().context("cannot run mixed-load")
}

/// Nothing failed, and everything that it consists of happened.
fn sound(told: &Figures) -> Result<()> {
    let (counts, failures) = (&told.json()["counts"], &told.json()["failures"]);
    println!("{counts}");
    ensure!(failures.as_array().is_some_and(Vec::is_empty), "{}", serde_json::to_string_pretty(failures)?);
    for what in ["delivered", "retrieved", "read", "deleted", "broken off", "certificates swapped"] {
        ensure!(counts[what].as_u64().is_some_and(|count| count > 0), "nothing was {what}");
    }
    Ok(())
}

/// What it uses once this holds, or after a while: sockets of clients that have left are closed in a moment.
fn settled(server: &Server, enough: impl Fn(Used) -> bool) -> Result<Used> {
    let begin = Instant::now();
    loop {
        let now = used(server.pid())?;
        if enough(now) || begin.elapsed() > SETTLING {
            return Ok(now);
        }
        // Threads give back what they no longer need when they have something to do.
        http::get(server.address("http")?, "/livez")?;
        sleep(Duration::from_millis(500));
    }
}
