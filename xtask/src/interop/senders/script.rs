//! Libraries, each behind a small script of `xtask/interop` that is handed all letters at once as a job. What a job is and
//! what a script answers is told in the README there.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::interop::corpus::Letter;
use crate::interop::program::{Outcome, Program, Transport};
use crate::interop::site::{HOST, SECRET, Site, USER};
use crate::interop::tools::finish;

use super::unsent;

const PATIENCE: Duration = Duration::from_secs(180);

/// A library and how its script is called and installed.
pub(super) struct Script {
    pub(super) name: &'static str,
    pub(super) version: fn() -> Result<String, String>,
    /// The call, without the path of the job.
    pub(super) call: fn() -> Command,
    pub(super) install: fn() -> Result<()>,
    /// Why the library is known to fail with such a letter, saying this, if so.
    pub(super) fails: fn(&Letter, &str) -> Option<&'static str>,
    /// What it claims when the script writes no claim.
    pub(super) claim: fn(&Letter) -> Vec<u8>,
}

/// A library that is not known to fail with anything, and claims what DATA can carry.
pub(super) const PLAIN: Script = Script {
    name: "",
    version: || Err("nobody said how to ask".into()),
    call: || Command::new("false"),
    install: || Ok(()),
    fails: |_, _| None,
    claim: Letter::terminated,
};

impl Program for Script {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> Result<String, String> {
        (self.version)()
    }

    fn run(&self, site: &Site, transport: Transport, letters: &[Letter]) -> Result<Vec<Outcome>> {
        let job = site.folder.join("job.json");
        fs::write(&job, self.job(site, transport, letters)?.to_string())?;
        let ended = finish((self.call)().arg(&job), None, &site.folder, PATIENCE)?;
        ensure!(ended.status.success(), "{} ended with {}: {}", self.name, ended.status, ended.stderr.trim());
        let stdout = String::from_utf8(ended.stdout).context("what it printed is not UTF-8")?;
        let lines: Vec<_> = stdout.lines().collect();
        ensure!(
            lines.len() == letters.len(),
            "{} letters, {} lines: {}",
            letters.len(),
            lines.len(),
            ended.stderr.trim()
        );
        letters.iter().zip(lines).map(|(letter, line)| self.outcome(site, transport, letter, line)).collect()
    }

    fn install(&self) -> Result<()> {
        (self.install)()
    }
}

/// Where the octets of a letter lie, and where the claim may be put.
fn files(site: &Site, letter: &Letter) -> [PathBuf; 2] {
    ["eml", "claim"].map(|ending| site.folder.join(format!("{}.{ending}", letter.name)))
}

impl Script {
    fn job(&self, site: &Site, transport: Transport, letters: &[Letter]) -> Result<Value> {
        let described = letters.iter().map(|letter| {
            let [file, claim] = files(site, letter);
            fs::write(&file, &letter.raw)?;
            Ok(json!({
                "name": letter.name, "file": file, "claim": claim, "from": letter.from, "to": letter.to,
                "utf8": letter.has.utf8, "eight_bit": letter.has.eight_bit,
            }))
        });
        let known = (transport != Transport::Plain).then_some((USER, SECRET));
        Ok(json!({
            "host": HOST, "port": site.doors.sending(transport).port(), "transport": transport.word(),
            "trust": site.trust, "user": known.map(|known| known.0), "secret": known.map(|known| known.1),
            "letters": described.collect::<Result<Vec<_>>>()?,
        }))
    }

    fn outcome(&self, site: &Site, transport: Transport, letter: &Letter, line: &str) -> Result<Outcome> {
        let told: Value = serde_json::from_str(line).with_context(|| format!("{line:?} is no JSON"))?;
        if let Some(said) = told["failed"].as_str() {
            return unsent(site, letter, said, (self.fails)(letter, said));
        }
        ensure!(told["sent"] == true, "{line:?} says neither sent nor failed");
        let [_, file] = files(site, letter);
        let claim = if file.exists() { fs::read(&file)? } else { (self.claim)(letter) };
        site.verdict_signed_in(transport, letter, &claim)
    }
}
