//! RETR of every message of a mailbox, one after the other and over again, over kept POP3 connections with TLS or
//! without. One thread, so that it uses one core at most. With `--mailboxes` the mailboxes are USER0, USER1, … in turn.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use anyhow::{Result, ensure};
use postkeep_bench::pop3::Client;
use postkeep_bench::{Asked, Door, Work};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "pop3-load --to HOST:PORT --user NAME [--mode plain|stls|tls] [--trust FILE] [--connections N] \
    [--messages N] [--seconds S] [--rate N] [--mailboxes N] [--json]";

/// A session, and the message that it read last.
struct Reader {
    client: Client,
    count: usize,
    last: usize,
}

fn main() -> Result<()> {
    let mut asked = Asked::from_env(USAGE);
    let (door, work) = (Door::asked(&mut asked)?, Work::asked(&mut asked)?);
    let (user, mailboxes): (String, Option<usize>) = (asked.must("--user")?, asked.value("--mailboxes")?);
    asked.finish()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let told = runtime.block_on(work.run(
        async |number| {
            let user = mailboxes.map_or(user.clone(), |count| format!("{user}{}", number % count));
            let mut client = Client::open(&door, &user).await?;
            let count = client.count().await?;
            ensure!(count > 0, "the mailbox {user} holds nothing to read");
            Ok(Reader { client, count, last: 0 })
        },
        async |reader, _| {
            reader.last = reader.last % reader.count + 1;
            Ok(reader.client.retrieve(reader.last).await?.len())
        },
    ))?;
    println!("{told}");
    Ok(())
}
