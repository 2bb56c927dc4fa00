//! As many full TLS handshakes as one thread makes, a few under way at once, each connection closed when its handshake
//! is done. Nothing is resumed, and the client does as little as it can, so that the server has the larger part.
//!
//! With `--starttls` each begins as an SMTP session that asks for TLS.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use std::time::{Duration, Instant};

use anyhow::Result;
use futures_util::future::join_all;
use postkeep_bench::smtp::Client;
use postkeep_bench::tls::thrifty_client;
use postkeep_bench::{Asked, Door, Mode};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "tls-storm --to HOST:PORT --seconds S [--starttls] [--in-flight N]";
/// After a connection that was refused; else a server that listens no more would be asked without end.
const REST: Duration = Duration::from_millis(1);

/// What one of them did.
#[derive(Default)]
struct Count {
    handshakes: u64,
    errors: Vec<String>,
}

fn main() -> Result<()> {
    let mut asked = Asked::from_env(USAGE);
    let mode = if asked.flag("--starttls") { Mode::Upgrade } else { Mode::Tls };
    let time = Duration::from_secs_f64(asked.must("--seconds")?);
    let in_flight = asked.value("--in-flight")?.unwrap_or(8);
    let door = Door { to: asked.must("--to")?, mode, tls: thrifty_client()? };
    asked.finish()?;
    let begin = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let counts = runtime.block_on(join_all((0..in_flight).map(|_| storm(&door, begin + time))));
    let (seconds, handshakes) =
        (begin.elapsed().as_secs_f64(), counts.iter().map(|count| count.handshakes).sum::<u64>());
    let errors: Vec<_> = counts.iter().flat_map(|count| &count.errors).collect();
    let told = json!({
        "handshakes": handshakes,
        "seconds": (seconds * 1e3).round() / 1e3,
        "rate": (handshakes as f64 / seconds).round(),
        "errors": errors.len(),
        "first_error": errors.first(),
    });
    println!("{told}");
    Ok(())
}

async fn storm(door: &Door, end: Instant) -> Count {
    let mut count = Count::default();
    while Instant::now() < end {
        match handshake(door).await {
            Ok(()) => count.handshakes += 1,
            Err(error) => {
                count.errors.push(format!("{error:#}"));
                tokio::time::sleep(REST).await;
            }
        }
    }
    count
}

/// One handshake, and the end of its connection. It is reset, so that no port stays taken for a minute after it.
async fn handshake(door: &Door) -> Result<()> {
    let stream = door.dial(None).await?;
    stream.set_zero_linger()?;
    let mut wire = match door.mode {
        Mode::Tls => door.enter(stream).await?,
        _ => Client::upgrade(door, door.enter(stream).await?).await?,
    };
    wire.end().await
}
