//! Brokers and nodes on this machine, by one command: to try things out, as the ground for checks from outside, and with
//! a hand to kill a broker and to bring it back.
//!
//! One process has the cluster, the `site`. It attends to its terminal and to a socket in the cluster's folder, over
//! which other commands give it `orders`; when it ends, nodes stop first and brokers then.

mod command;
mod control;
mod orders;
mod signals;
mod site;
mod table;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, channel};
use std::{fs, io};

use anyhow::{Context, Result, bail, ensure};

use crate::args::Args;
use crate::shell::built;
use command::Running;
use control::Order;
use orders::Which;
use site::{Options, Site};

/// What the process with the cluster waits for.
enum Event {
    /// A signal to end.
    Stop,
    /// A word from another process.
    Order(Order),
    /// The command that the cluster is for came to its end.
    Ended(io::Result<ExitStatus>),
}

/// `cargo xtask cluster up|down|status|wipe|run|broker …`.
pub(crate) fn run(mut args: Args) -> Result<()> {
    match args.word().as_deref() {
        Some("up") => up(args),
        Some("run") => run_command(args),
        Some("down") => down(args),
        Some("status") => tell(args, "status".to_owned()),
        Some("wipe") => wipe(args),
        Some("broker") => broker(args),
        _ => bail!("cluster takes up, down, status, wipe, run or broker; `cargo xtask help` says what they do"),
    }
}

/// A cluster for people, until they end it.
fn up(mut args: Args) -> Result<()> {
    let folder = folder(&mut args)?;
    let options = Options::new(&mut args, Some(folder), 3)?;
    args.finish()?;
    let (mut site, events, _control) = open(&options)?;
    print!("{}", site.addresses()?);
    println!("Data and logs are in {}.", site.folder().display());
    println!("Ctrl-C stops it, and so does `cargo xtask cluster down` elsewhere.");
    let last = attend(&mut site, &events)?;
    println!("stopping");
    let outcome = site.stop();
    if let Event::Order(order) = last {
        order.answer(&outcome.as_ref().map(|()| "stopped".to_owned()));
    }
    outcome
}

/// A cluster for one command, which is told where it is.
fn run_command(mut args: Args) -> Result<()> {
    let words = args.behind_dashes();
    ensure!(!words.is_empty(), "a command is missing: cargo xtask cluster run -- COMMAND…");
    let named = args.value("--folder")?;
    let options = Options::new(&mut args, named, 0)?;
    args.finish()?;
    let (mut site, events, control) = open(&options)?;
    let command = Running::start(&words, &site, control.sender())?;
    let last = attend(&mut site, &events)?;
    let status = match last {
        Event::Ended(status) => status?,
        Event::Stop | Event::Order(_) => command.end(&events)?,
    };
    site.stop()?;
    ensure!(status.success(), "{} ended with {status}", words[0]);
    Ok(())
}

/// Start it, and listen to what it is told.
fn open(options: &Options) -> Result<(Site, Receiver<Event>, control::Listening)> {
    if let Some(folder) = &options.folder {
        ensure!(!control::is_there(folder), "a cluster runs in {} already: `cluster down` stops it", folder.display());
    }
    let (sender, events) = channel();
    signals::listen(sender.clone())?;
    let site = Site::start(options)?;
    let control = control::listen(site.folder(), sender)?;
    Ok((site, events, control))
}

/// Do what is asked until it is to end; that event is handed back.
fn attend(site: &mut Site, events: &Receiver<Event>) -> Result<Event> {
    loop {
        match events.recv().context("nobody is left who could say anything")? {
            Event::Order(order) if order.words != "down" => {
                let outcome = orders::obey(site, &order.words);
                order.answer(&outcome);
            }
            end => return Ok(end),
        }
    }
}

fn down(mut args: Args) -> Result<()> {
    let folder = folder(&mut args)?;
    args.finish()?;
    match control::ask(&folder, "down")? {
        Some(answer) => println!("{answer}"),
        None => println!("no cluster runs in {}", folder.display()),
    }
    Ok(())
}

fn wipe(mut args: Args) -> Result<()> {
    let folder = folder(&mut args)?;
    args.finish()?;
    ensure!(!control::is_there(&folder), "a cluster runs in {}: `cluster down` stops it", folder.display());
    site::wipe(&folder)
}

/// `broker kill [NAME | --leader STREAM] [--seed N]` and `broker back`.
fn broker(mut args: Args) -> Result<()> {
    match args.word().as_deref() {
        Some("kill") => {
            let which = Which::new(&mut args)?;
            tell(args, format!("kill {which}"))
        }
        Some("back") => tell(args, "back".to_owned()),
        _ => bail!("broker takes kill or back"),
    }
}

/// Have the process with the cluster do something, and print what it says.
fn tell(mut args: Args, words: String) -> Result<()> {
    let folder = folder(&mut args)?;
    args.finish()?;
    let answer = control::ask(&folder, &words)?;
    let answer = answer.with_context(|| format!("no cluster runs in {}: `cluster up` starts one", folder.display()))?;
    println!("{}", answer.trim_end());
    Ok(())
}

/// The folder of a cluster: the one that was named, or `target/cluster`.
fn folder(args: &mut Args) -> Result<PathBuf> {
    let named = args.value::<PathBuf>("--folder")?;
    let folder = named.map_or_else(|| Ok(built()?.with_file_name("cluster")), Ok::<_, anyhow::Error>)?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder.canonicalize()?)
}
