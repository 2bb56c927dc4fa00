//! Programs that are called once for each letter, with its octets in a file.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::interop::corpus::Letter;
use crate::interop::program::{Outcome, Transport};
use crate::interop::site::Site;
use crate::interop::tools::{Ended, finish, first_line};

use super::unsent;

/// So many lines of what it printed last are told when it fails.
const LINES: usize = 10;
const PATIENCE: Duration = Duration::from_secs(60);

/// How such a program is called, and what is to be known about it.
pub(super) trait Each {
    /// The call that sends the letter in the file; the file is also its stdin.
    fn call(&self, site: &Site, transport: Transport, letter: &Letter, file: &Path) -> Result<Command>;

    /// The letter as such a program is handed it.
    fn input(&self, letter: &Letter) -> Vec<u8> {
        letter.raw.clone()
    }

    /// What it says it sends.
    fn claim(&self, _site: &Site, letter: &Letter, _file: &Path) -> Result<Vec<u8>> {
        Ok(letter.terminated())
    }

    /// Why it cannot send such a letter, if so; then it is not tried.
    fn cannot(&self, _letter: &Letter) -> Option<&'static str> {
        None
    }

    /// Why it is known to fail with such a letter when it is tried, if so.
    fn fails(&self, _letter: &Letter, _said: &str) -> Option<&'static str> {
        None
    }
}

/// Send all of them.
pub(super) fn run(program: &impl Each, site: &Site, transport: Transport, letters: &[Letter]) -> Result<Vec<Outcome>> {
    letters.iter().map(|letter| one(program, site, transport, letter)).collect()
}

fn one(program: &impl Each, site: &Site, transport: Transport, letter: &Letter) -> Result<Outcome> {
    if let Some(why) = program.cannot(letter) {
        return Ok(Outcome::Unable(why.into()));
    }
    let file = site.folder.join("letter.eml");
    std::fs::write(&file, program.input(letter))?;
    let mut command = program.call(site, transport, letter, &file)?;
    let ended = finish(&mut command, Some(&file), &site.folder, PATIENCE)?;
    if ended.status.success() {
        return site.verdict_signed_in(transport, letter, &program.claim(site, letter, &file)?);
    }
    let said = said(&ended);
    unsent(site, letter, &said, program.fails(letter, &said))
}

/// How it ended, in a line.
fn said(ended: &Ended) -> String {
    let stdout = String::from_utf8_lossy(&ended.stdout);
    let text = if ended.stderr.trim().is_empty() { &stdout } else { ended.stderr.as_str() };
    let lines: Vec<_> = text.trim().lines().map(first_line).collect();
    format!("{}: {}", ended.status, lines[lines.len().saturating_sub(LINES)..].join(" / "))
}
