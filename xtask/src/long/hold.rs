//! Ten thousand clients that are there and say nothing must cost little, and must not be in the way of fifty that work.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::load::figures::megabytes;
use crate::load::http;
use crate::load::process::{allow_files, memory};
use crate::load::server::Server;
use crate::load::smtp::{Client, message, source};

const IDLE: usize = 10_000;
const BUSY: usize = 50;
const MESSAGES_EACH: usize = 100;
const MESSAGE_BYTES: usize = 2_000;
const MEMORY_MAX: u64 = 250_000_000;
/// Below `smtp.connections_per_ip_max`: all settings stay at their defaults.
const PER_ADDRESS: usize = 400;

pub(super) fn run(binary: &Path) -> Result<()> {
    allow_files(20_000)?;
    let server = Server::postkeep(binary, &[])?;
    let smtp = server.address("smtp")?;
    println!("at start: {}", megabytes(memory(server.pid())?.now));

    let mut idle = Vec::with_capacity(IDLE);
    for number in 0..IDLE {
        let client = Client::open(source(number, PER_ADDRESS), smtp);
        idle.push(client.with_context(|| format!("connection {} of {IDLE}", number + 1))?);
    }
    println!("with {IDLE} idle connections: {}", megabytes(memory(server.pid())?.now));

    let begin = Instant::now();
    deliver(smtp)?;
    let (time, used) = (begin.elapsed(), memory(server.pid())?);
    println!("{BUSY} clients delivered {} messages in {time:.1?} without an error", BUSY * MESSAGES_EACH);
    println!("after that: {}, at most {}", megabytes(used.now), megabytes(used.peak));

    kept(&server)?;
    for (number, client) in idle.iter_mut().enumerate() {
        client.command("NOOP", "250").with_context(|| format!("idle connection {} was lost", number + 1))?;
    }
    println!("all {IDLE} idle connections still answer");
    drop(idle);
    server.stop()?;
    ensure!(used.peak <= MEMORY_MAX, "{} is more than {}", megabytes(used.peak), megabytes(MEMORY_MAX));
    Ok(())
}

/// Fifty clients at once, each with a mailbox of its own; the first error ends it.
fn deliver(smtp: SocketAddr) -> Result<()> {
    thread::scope(|scope| {
        let busy: Vec<_> = (0..BUSY)
            .map(|number| {
                scope.spawn(move || -> Result<()> {
                    let mut client = Client::open(Ipv4Addr::LOCALHOST, smtp)?;
                    for count in 0..MESSAGES_EACH {
                        let mail = message(&format!("message {count}"), MESSAGE_BYTES);
                        client.deliver(&format!("busy-{number}@client.test"), &mail)?;
                    }
                    client.command("QUIT", "221")
                })
            })
            .collect();
        busy.into_iter().try_for_each(|client| client.join().expect("a client does not panic"))
    })
}

/// Every message that was taken is in its mailbox.
fn kept(server: &Server) -> Result<()> {
    let http = server.address("http")?;
    for number in 0..BUSY {
        let body = http::get(http, &format!("/api/v1/mailbox/busy-{number}"))?.body;
        let list: Vec<serde_json::Value> = serde_json::from_slice(&body)?;
        ensure!(list.len() == MESSAGES_EACH, "busy-{number} holds {} of {MESSAGES_EACH} messages", list.len());
    }
    Ok(())
}
