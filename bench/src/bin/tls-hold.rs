//! Many connections with TLS that are there and say nothing. It says `ready` when all are up, and holds them until it is
//! told to end (SIGTERM, or Ctrl-C); then each must still answer, else it ends with an error.
//!
//! `--protocol http` makes one request on each, and holds it as browsers do between two.

#![allow(clippy::print_stdout, reason = "the ready line is how the measurement knows")]

use anyhow::{Context, Result, bail, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use postkeep_bench::door::source;
use postkeep_bench::{Asked, Door, Wire, rest, smtp};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str =
    "tls-hold --to HOST:PORT --connections N [--mode starttls|tls|plain] [--trust FILE] [--protocol smtp|http]";
/// Handshakes under way at once.
const AT_ONCE: usize = 16;
/// Connections from one address, below the usual limits.
const PER_ADDRESS: usize = 400;

/// A connection that is held.
enum Held {
    Smtp(smtp::Client),
    Http(Wire),
}

fn main() -> Result<()> {
    let mut asked = Asked::from_env(USAGE);
    let (door, count) = (Door::asked(&mut asked)?, asked.must::<usize>("--connections")?);
    let protocol: String = asked.value("--protocol")?.unwrap_or_else(|| "smtp".into());
    asked.finish()?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(hold(&door, count, &protocol))
}

async fn hold(door: &Door, count: usize, protocol: &str) -> Result<()> {
    let (mut end, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let opening = stream::iter(0..count).map(|number| open(door, number, protocol)).buffer_unordered(AT_ONCE);
    let mut held: Vec<Held> = opening.try_collect().await?;
    println!("ready {}", json!({ "held": held.len().to_string() }));
    tokio::select! {
        _ = end.recv() => {}
        _ = interrupt.recv() => {}
    }
    for (number, one) in held.iter_mut().enumerate() {
        still_there(one, door).await.with_context(|| format!("connection {} was lost", number + 1))?;
    }
    Ok(())
}

async fn open(door: &Door, number: usize, protocol: &str) -> Result<Held> {
    let wire = door.open_from(source(number, PER_ADDRESS)).await.with_context(|| format!("connection {number}"))?;
    match protocol {
        "smtp" => Ok(Held::Smtp(smtp::Client::greet(door, wire).await?)),
        "http" => {
            let mut held = Held::Http(wire);
            still_there(&mut held, door).await?;
            Ok(held)
        }
        _ => bail!("a protocol is smtp or http"),
    }
}

async fn still_there(held: &mut Held, door: &Door) -> Result<()> {
    match held {
        Held::Smtp(client) => client.command("NOOP", "250").await,
        Held::Http(wire) => {
            let (status, _) = rest::ask(wire, &door.to.to_string(), "GET", "/livez").await?;
            ensure!(status == 200, "it answered {status}");
            Ok(())
        }
    }
}
