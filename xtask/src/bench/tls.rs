//! What TLS costs on kept connections, and POP3 beside the most that this TLS can do. Mail in with STARTTLS is held
//! against mail in without it, by the same load generator to the same server; RETR against a bare server on the same
//! runtime that writes the same bytes. Server and client each have a core of their own.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{Plan, Report};
use crate::load::figures::{Goal, grouped, median};
use crate::load::process::cpu;
use crate::load::server::Server;
use crate::load::smtp::{Client, message};
use crate::load::tools::{Place, build, figures, to, tool};

const BYTES: usize = 20_480;
const CONNECTIONS: &str = "64";
/// Few enough that what they hold stays below the bounds of the engine: mail comes and goes at a steady size.
const MAILBOXES: &str = "16";
/// What RETR goes through in turn.
const MESSAGES: usize = 10;
const SERVER_CORE: &str = "0";
const CLIENT_CORE: &str = "1";
const COLUMNS: &[&str] = &[
    "work",
    "beside",
    "yardstick, msg/s",
    "Postkeep, msg/s",
    "ratio",
    "goal",
    "yardstick, CPU µs/msg",
    "Postkeep, CPU µs/msg",
];

/// One side of a comparison.
struct Side<'a> {
    who: &'static str,
    server: &'a Server,
    /// The load generator, and what it needs besides the time.
    tool: &'static str,
    listener: &'static str,
    words: Vec<&'static str>,
}

/// A yardstick and what is held against it.
struct Work<'a> {
    name: &'static str,
    beside: &'static str,
    goal: f64,
    sides: [Side<'a>; 2],
}

/// What the rounds of one side showed.
#[derive(Default)]
struct Rounds {
    rates: Vec<f64>,
    cpus: Vec<f64>,
}

pub(super) fn run(plan: &Plan) -> Result<()> {
    build()?;
    let place = Place::new("bench-tls")?;
    let ours = place.secured(&plan.binary, "certificate", Some(SERVER_CORE))?;
    fill(ours.address("smtp")?)?;
    let bare = bare(&place, &ours)?;
    let mut report = Report::new("bench tls", COLUMNS);
    for work in works(&ours, &bare) {
        let [yardstick, ours] = work.measure(plan, &mut report)?;
        let [rate, our_rate, cpu, our_cpu] =
            [&yardstick.rates, &ours.rates, &yardstick.cpus, &ours.cpus].map(|figures| median(figures));
        let ratio = our_rate / rate;
        report.row(vec![
            work.name.into(),
            work.beside.into(),
            grouped(rate),
            grouped(our_rate),
            format!("{ratio:.2}"),
            Goal::AtLeast(work.goal).judged(ratio),
            format!("{cpu:.1}"),
            format!("{our_cpu:.1}"),
        ]);
    }
    ours.stop()?;
    plan.done(&report)
}

fn works<'a>(ours: &'a Server, bare: &'a Server) -> Vec<Work<'a>> {
    let send = |who, listener, mode| {
        let words = vec!["--mode", mode, "--size", "20480", "--mailboxes", MAILBOXES];
        Side { who, server: ours, tool: "smtp-load", listener, words }
    };
    let read = |who, server, listener, mode| {
        let words = vec!["--mode", mode, "--user", "shelf"];
        Side { who, server, tool: "pop3-load", listener, words }
    };
    let work = |name, beside, goal, sides| Work { name, beside, goal, sides };
    vec![
        work(
            "20 KB in with STARTTLS",
            "the same without TLS",
            0.8,
            [send("plain", "smtp", "plain"), send("STARTTLS", "smtp", "starttls")],
        ),
        work(
            "20 KB in over smtps",
            "the same without TLS",
            0.8,
            [send("plain", "smtp", "plain"), send("smtps", "smtps", "tls")],
        ),
        work(
            "RETR of 20 KB",
            "a bare server",
            0.5,
            [read("bare", bare, "pop3", "plain"), read("Postkeep", ours, "pop3", "plain")],
        ),
        work(
            "RETR of 20 KB over TLS",
            "a bare server with TLS",
            0.5,
            [read("bare", bare, "pop3s", "tls"), read("Postkeep", ours, "pop3s", "tls")],
        ),
    ]
}

impl Work<'_> {
    /// All rounds; who goes first changes from round to round.
    fn measure(&self, plan: &Plan, report: &mut Report) -> Result<[Rounds; 2]> {
        let mut rounds = [Rounds::default(), Rounds::default()];
        // Warms both.
        self.sides.iter().try_for_each(|side| side.load("0.5").map(drop))?;
        for round in 0..plan.rounds {
            let mut order = [0, 1];
            order.rotate_left(round % 2);
            for place in order {
                let (side, seconds) = (&self.sides[place], plan.time.as_secs_f64().to_string());
                let (rate, cpu, line) = side.load(&seconds)?;
                report.raw(format!("{}, round {}: {:<9} {line}", self.name, round + 1, side.who));
                rounds[place].rates.push(rate);
                rounds[place].cpus.push(cpu);
            }
        }
        Ok(rounds)
    }
}

impl Side<'_> {
    /// Messages a second, the server's CPU for each in microseconds, and both with more as a line. Any error ends it.
    fn load(&self, seconds: &str) -> Result<(f64, f64, String)> {
        let mut command = tool(self.tool, Some(CLIENT_CORE))?;
        to(&mut command, self.server.address(self.listener)?).args(&self.words);
        command.args(["--connections", CONNECTIONS, "--seconds", seconds, "--json"]);
        let before = cpu(self.server.pid())?;
        let told = figures(&mut command)?.sound()?;
        let spent = (cpu(self.server.pid())? - before).as_secs_f64();
        let [count, rate, p99] = [told.number("messages")?, told.number("rate")?, told.number("p99_ms")?];
        let [each, client] = [spent, told.number("cpu_seconds")?].map(|seconds| seconds * 1e6 / count);
        let line = format!(
            "{count:>7} messages, {rate:>7.0} msg/s, p99 {p99:>6.2} ms, CPU {each:>5.1} µs/msg, client {client:>5.1} µs/msg"
        );
        Ok((rate, each, line))
    }
}

/// The messages that RETR goes through.
fn fill(smtp: SocketAddr) -> Result<()> {
    let mut client = Client::open(Ipv4Addr::LOCALHOST, smtp)?;
    for number in 0..MESSAGES {
        client.deliver("shelf@client.test", &message(&format!("Message number {number}"), BYTES))?;
    }
    client.command("QUIT", "221")
}

/// The bare server with our answer to RETR and our certificate.
fn bare(place: &Place, ours: &Server) -> Result<Server> {
    let answer = place.file("answer");
    fs::write(&answer, retrieved(ours.address("pop3")?)?)?;
    let mut command: Command = tool("bare-pop3", Some(SERVER_CORE))?;
    command.arg("--answer").arg(&answer).args(["--messages", &MESSAGES.to_string()]);
    for (name, file) in [("--cert", "cert.pem"), ("--key", "key.pem")] {
        command.arg(name).arg(place.file("certificate").join(file));
    }
    Server::announced(command)
}

/// Our answer to RETR, whole.
fn retrieved(pop3: SocketAddr) -> Result<Vec<u8>> {
    use std::io::{Read, Write};
    let mut stream = TcpStream::connect(pop3)?;
    stream.write_all(b"USER shelf\r\nPASS secret\r\nRETR 1\r\nQUIT\r\n")?;
    let mut said = Vec::new();
    stream.read_to_end(&mut said)?;
    // A greeting and two replies come before it, and one behind.
    let lines: Vec<_> = said.split_inclusive(|byte| *byte == b'\n').collect();
    ensure!(lines.len() > 5 && lines[3].starts_with(b"+OK"), "to RETR: {}", String::from_utf8_lossy(&said));
    let end = lines.iter().rposition(|line| *line == b".\r\n").context("the answer to RETR has no end")?;
    Ok(lines[3..=end].concat())
}
