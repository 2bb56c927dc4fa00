//! GET of one path over kept HTTP connections, with TLS or without. One thread, so that it uses one core at most.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use anyhow::Result;
use postkeep_bench::rest::Client;
use postkeep_bench::{Asked, Door, Work};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "rest-load --to HOST:PORT --path PATH [--mode plain|tls] [--trust FILE] [--connections N] \
    [--messages N] [--seconds S] [--rate N] [--json]";

fn main() -> Result<()> {
    let mut asked = Asked::from_env(USAGE);
    let (door, work) = (Door::asked(&mut asked)?, Work::asked(&mut asked)?);
    let path: String = asked.must("--path")?;
    asked.finish()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let told = runtime.block_on(
        work.run(async |_| Client::open(&door).await, async |client, _| Ok(client.get(&path).await?.len())),
    )?;
    println!("{told}");
    Ok(())
}
