//! Mail out: `wrk` reads from us and from a bare handler that has the very same answers ready in memory. The ratio is
//! what it costs to look the answer up and to write it.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{Plan, Report};
use crate::load::figures::{Goal, grouped, median};
use crate::load::http::{Answer, get};
use crate::load::process::cpu;
use crate::load::server::Server;
use crate::load::smtp::{Client, message};
use crate::shell::{built, cargo, output, run as must, which};

/// What is read, and how close to the bare handler it shall come.
const WORKS: &[(&str, &str, Goal)] = &[
    ("list of 100 messages", "/api/v1/mailbox/hundred", Goal::AtLeast(0.5)),
    ("read of one message of 20 KB", "/api/v1/mailbox/one/latest", Goal::AtLeast(0.3)),
    ("source of it", "/api/v1/mailbox/one/latest/source", Goal::AtLeast(0.8)),
];
const COLUMNS: &[&str] = &["work", "answer", "bare handler, req/s", "Postkeep, req/s", "ratio", "goal"];

pub(super) fn run(plan: &Plan) -> Result<()> {
    let wrk = which("wrk").context("wrk is missing: install the Debian package wrk")?;
    let ours = Server::postkeep(&plan.binary, &[])?;
    fill(ours.address("smtp")?)?;
    let answers: Vec<Answer> =
        WORKS.iter().map(|(_, path, _)| get(ours.address("http")?, path)).collect::<Result<_>>()?;
    let bare = bare(&answers)?;

    let mut report = Report::new("bench http", COLUMNS);
    for (number, (name, path, goal)) in WORKS.iter().enumerate() {
        let same = get(bare.address("http")?, &format!("/{number}"))?;
        ensure!(same.body == answers[number].body, "the bare handler answers something else");
        let (mut bare_rates, mut our_rates) = (Vec::new(), Vec::new());
        for round in 0..plan.rounds {
            let bare_url = (format!("/{number}"), "bare", &bare, &mut bare_rates);
            let mut pair = [bare_url, ((*path).to_owned(), "Postkeep", &ours, &mut our_rates)];
            pair.rotate_left(round % 2);
            for (path, who, server, rates) in pair {
                let before = cpu(server.pid())?;
                let (rate, count) = load(plan, &wrk, server.address("http")?, &path)?;
                let spent = (cpu(server.pid())? - before).as_secs_f64() * 1e6 / count;
                rates.push(rate);
                report.raw(format!("{name}, round {}: {who:<8} {rate:>8.0} req/s, CPU {spent:>6.1} µs/req", round + 1));
            }
        }
        let (bare_rate, our_rate) = (median(&bare_rates), median(&our_rates));
        let ratio = our_rate / bare_rate;
        let size = format!("{} bytes", grouped(answers[number].body.len() as f64));
        let judged = goal.judged(ratio);
        report.row(vec![(*name).into(), size, grouped(bare_rate), grouped(our_rate), format!("{ratio:.2}"), judged]);
    }
    ours.stop()?;
    plan.done(&report)
}

/// A hundred small messages in one mailbox, one of 20 KB in another.
fn fill(smtp: SocketAddr) -> Result<()> {
    let mut client = Client::open(std::net::Ipv4Addr::LOCALHOST, smtp)?;
    for number in 0..100 {
        client.deliver("hundred@client.test", &message(&format!("Message number {number}"), 2_000))?;
    }
    client.deliver("one@client.test", &letter(20_000))?;
    client.command("QUIT", "221")
}

/// A message as programs send them: a text and an HTML part, about so many bytes together.
fn letter(bytes: usize) -> Vec<u8> {
    let text = "Your order has been shipped and will arrive within the next three days.\r\n";
    let html = "<p style=3D\"margin:0\">Your order has been <b>shipped</b>.</p>\r\n";
    let (texts, htmls) = (bytes / 4 / text.len(), bytes * 3 / 4 / html.len());
    let type_of = |kind: &str| format!("--frontier\r\nContent-Type: text/{kind}; charset=utf-8\r\n");
    [
        "From: Shop <shop@client.test>\r\nTo: one@client.test\r\nSubject: Your order\r\nMIME-Version: 1.0\r\n",
        "Content-Type: multipart/alternative; boundary=frontier\r\n\r\n",
        &format!("{}\r\n{}\r\n", type_of("plain"), text.repeat(texts)),
        &format!("{}Content-Transfer-Encoding: quoted-printable\r\n\r\n{}\r\n", type_of("html"), html.repeat(htmls)),
        "--frontier--\r\n",
    ]
    .concat()
    .into_bytes()
}

/// The bare handler with these answers at `/0`, `/1`, ….
fn bare(answers: &[Answer]) -> Result<Server> {
    must(&mut cargo(["build", "--release", "--package", "postkeep-bench"]))?;
    let mut command = Command::new(built()?.join("bare-http"));
    let folder = std::env::temp_dir();
    let mut files = Vec::new();
    for (number, answer) in answers.iter().enumerate() {
        let path = folder.join(format!("postkeep-bench-{}-{number}", std::process::id()));
        fs::write(&path, [answer.head.as_bytes(), b"\r\n\r\n", &answer.body].concat())?;
        command.arg(&path);
        files.push(path);
    }
    let server = Server::announced(command);
    files.iter().try_for_each(fs::remove_file)?;
    server
}

/// Requests per second, and how many there were. Anything but 200 is an error.
fn load(plan: &Plan, wrk: &Path, address: SocketAddr, path: &str) -> Result<(f64, f64)> {
    let time = format!("{}s", plan.time.as_secs());
    let text =
        output(Command::new(wrk).args(["-t", "1", "-c", "32", "-d", &time, &format!("http://{address}{path}")]))?;
    ensure!(!text.contains("Non-2xx") && !text.contains("Socket errors"), "wrk met errors:\n{text}");
    let rate = text.lines().find_map(|line| line.trim().strip_prefix("Requests/sec:")).context("wrk told no rate")?;
    let count = text.lines().find_map(|line| line.trim().split_once(" requests in ")).context("wrk told no count")?;
    Ok((rate.trim().parse()?, count.0.parse()?))
}
