//! Mail over kept SMTP connections, with TLS or without: how many a second, and how long each took from its MAIL to its
//! 250. One thread, so that it uses one core at most.
//!
//! MAIL, RCPT and DATA are sent together where the server offers that (RFC 2920). With `--mailboxes` the mailboxes are
//! NAME-0, NAME-1, … in turn.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use anyhow::Result;
use postkeep_bench::letter::letter;
use postkeep_bench::smtp::Client;
use postkeep_bench::{Asked, Door, Work};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "smtp-load --to HOST:PORT [--mode plain|starttls|tls] [--trust FILE] [--connections N] [--messages N] \
    [--seconds S] [--rate N] [--size BYTES] [--mailbox NAME] [--mailboxes N] [--json]";

fn main() -> Result<()> {
    let mut asked = Asked::from_env(USAGE);
    let (door, work) = (Door::asked(&mut asked)?, Work::asked(&mut asked)?);
    let size = asked.value("--size")?.unwrap_or(20_480);
    let name: String = asked.value("--mailbox")?.unwrap_or_else(|| "load".into());
    let mailboxes: Option<usize> = asked.value("--mailboxes")?;
    asked.finish()?;
    let message = letter("Your order", size);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let told = runtime.block_on(work.run(
        async |_| Client::open(&door).await,
        async |client, number| {
            let number = mailboxes.map(|count| format!("-{}", number % count)).unwrap_or_default();
            client.deliver(&format!("{name}{number}@client.test"), &message).await?;
            Ok(message.len())
        },
    ))?;
    println!("{told}");
    Ok(())
}
