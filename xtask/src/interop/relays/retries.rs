//! A real mail server that is refused at first must come back as often as it takes: Postfix meets a fault plan that fails
//! the first attempts of every pair of sender and recipient, and brings its letters in the end, each once and whole.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::intake::{Answer, Intake};
use super::jail::Jail;
use super::postfix::Postfix;
use super::{Agent, Door, Route, below_fields};
use crate::interop::corpus::{self, Letter};
use crate::interop::program::Transport;
use crate::interop::site::{self, Site, fields};
use crate::shell::output;

/// As the trial is called.
pub(in crate::interop) const NAME: &str = "postfix-retries";
/// Attempts that fail, of each letter.
const REFUSED: u64 = 2;
/// A usual letter, and one that is hard to send twice alike.
const LETTERS: [&str; 2] = ["plain-ascii", "dots"];
const PATIENCE: Duration = Duration::from_secs(60);

/// Try it, where Postfix is at hand.
pub(in crate::interop) fn run(binary: &Path) -> Result<()> {
    if let Err(why) = Postfix::PACKAGE.version() {
        println!("{NAME}: left out, {why}");
        return Ok(());
    }
    let folder = std::env::temp_dir().join(format!("postkeep-retries-{}", std::process::id()));
    let place = folder.join("postfix");
    fs::create_dir_all(&place)?;
    let (server, doors, trust) = site::server(binary, &folder)?;
    let site = Site { doors, binary: binary.to_owned(), trust, folder: place };
    let told = tried(&site);
    server.stop()?;
    fs::remove_dir_all(&folder)?;
    println!("{NAME}: {}", told?);
    Ok(())
}

fn tried(site: &Site) -> Result<String> {
    let route = Route::new(site, Door::Smtp, Transport::Plain)?;
    let script = Postfix.configure(&site.folder, &route)?;
    let root = Postfix::PACKAGE.root().map_err(anyhow::Error::msg)?;
    let letters: Vec<Letter> = corpus::letters(NAME, Transport::Plain);
    let letters: Vec<Letter> = letters.into_iter().filter(|letter| LETTERS.contains(&letter.name)).collect();
    fault(site, &["add", "--reply", "451 4.7.1 Greylisted", "--first", &REFUSED.to_string(), "--per", "pair"])?;
    let jail = Jail::start(&root, site, &script, route.intake)?;
    let told = retried(site, &route, &letters).with_context(|| jail.said());
    jail.end()?;
    told
}

fn retried(site: &Site, route: &Route, letters: &[Letter]) -> Result<String> {
    let mut intake = Intake::open(route.intake)?;
    let begin = Instant::now();
    for letter in letters {
        ensure!(matches!(intake.deliver(letter)?, Answer::Taken), "the relay does not take {}", letter.name);
    }
    for letter in letters {
        let kept = site.kept_within(letter, PATIENCE.saturating_sub(begin.elapsed()))?;
        let [one] = &kept[..] else { anyhow::bail!("{} came {} times", letter.name, kept.len()) };
        let end = fields(&one.content, &["Received: "]).context("the relay's field is not on top")?;
        ensure!(one.content[end..] == below_fields(letter)[..], "{} is not what was sent", letter.name);
    }
    let listed: Value = serde_json::from_str(&fault(site, &["list", "--json"])?)?;
    let (attempts, fired) = (listed["items"][0]["attempts"].as_u64(), listed["items"][0]["fired"].as_u64());
    let wanted = letters.len() as u64;
    ensure!(fired == Some(REFUSED * wanted), "the plan refused {fired:?} times, not {REFUSED} of each letter");
    ensure!(attempts == Some((REFUSED + 1) * wanted), "{attempts:?} attempts for {wanted} letters");
    let seconds = begin.elapsed().as_secs_f64();
    Ok(format!("{wanted} letters, each refused {REFUSED} times and kept once, whole, after {seconds:.1} s"))
}

/// `postkeep fault …` at this server.
fn fault(site: &Site, words: &[&str]) -> Result<String> {
    let url = format!("http://{}", site.doors.http);
    output(Command::new(&site.binary).arg("fault").args(words).args(["--server", &url]))
}
