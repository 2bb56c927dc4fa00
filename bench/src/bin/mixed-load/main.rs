//! Everybody at once: owners who send mail to a mailbox of their own and hold what they can read and delete there
//! against what they were told; clients that break off anywhere; slow ones; sessions that are kept all the time; and a
//! certificate that changes on disk meanwhile. At the end one line of JSON: what was done, and what went wrong.
//!
//! It knows the server by its protocols alone, and leaves every mailbox empty.

#![allow(clippy::print_stdout, reason = "what it found is what it is for")]

mod breaker;
mod keeper;
mod owner;
mod site;
mod slow;
mod swap;

use std::future::Future;
use std::pin::Pin;

use anyhow::Result;
use futures_util::future::join_all;
use postkeep_bench::Asked;

use crate::site::Site;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "mixed-load --smtp ADDR --smtps ADDR --pop3 ADDR --pop3s ADDR --http ADDR --https ADDR --seconds S \
    [--seed N] [--owners N] [--breakers N] [--slow N] [--swap-every S --swap-in FOLDER --pairs FOLDER,FOLDER]";

/// Everything that one client does.
type Client<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

fn main() -> Result<()> {
    let mut asked = Asked::from_env(USAGE);
    let site = Site::asked(&mut asked)?;
    let count = |asked: &mut Asked, name: &str, usual| Ok::<usize, anyhow::Error>(asked.value(name)?.unwrap_or(usual));
    let (owners, breakers) = (count(&mut asked, "--owners", 24)?, count(&mut asked, "--breakers", 8)?);
    let slow = count(&mut asked, "--slow", 16)?;
    let swap = swap::Swap::asked(&mut asked)?;
    asked.finish()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut clients: Vec<Client<'_>> = Vec::new();
        clients.extend((0..owners).map(|number| Box::pin(owner::run(&site, number)) as Client<'_>));
        clients.extend((0..breakers).map(|number| Box::pin(breaker::run(&site, number)) as Client<'_>));
        clients.extend((0..slow).map(|number| Box::pin(slow::run(&site, number)) as Client<'_>));
        clients.extend(keeper::all(&site));
        if let Some(swap) = &swap {
            clients.push(Box::pin(swap.run(&site)));
        }
        join_all(clients).await;
    });
    println!("{}", site.told());
    Ok(())
}
