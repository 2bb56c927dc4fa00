//! Python's `poplib`, by a script of ours that stores the lines as they come, with CRLF behind each.

use std::fs;
use std::process::Command;

use anyhow::Result;

use super::{Ends, Errand, Reader, Then, files, version_word};
use crate::interop::corpus::Letter;
use crate::interop::site::{HOST, SECRET};
use crate::interop::tools::scripts;

pub(super) struct Poplib;

impl Reader for Poplib {
    const NAME: &'static str = "poplib";
    const PACKAGES: &'static [&'static str] = &["python3"];
    const ENDS: Ends = Ends::CrLf;
    const REMEMBERS: bool = false;

    fn version(&self) -> Result<String, String> {
        Ok(format!("Python {}", version_word(Command::new("python3").arg("--version"), 1)?))
    }

    fn fetch(&self, errand: &Errand<'_>) -> Result<Vec<Vec<u8>>> {
        let folder = errand.folder.join("stored");
        fs::create_dir(&folder)?;
        let mut command = Command::new("python3");
        command.arg(scripts().join("python/pop.py")).args([HOST, &errand.port().to_string(), errand.transport.word()]);
        command.arg(errand.trust()).args([errand.user, SECRET]).arg(&folder);
        command.arg(if errand.then == Then::Delete { "delete" } else { "keep" });
        errand.run(&mut command)?;
        files(&folder)
    }

    fn spoils(&self, letter: &Letter) -> Option<&'static str> {
        matches!(letter.name, "header-line-3000" | "line-100000")
            .then_some("it refuses lines of more than 2,048 octets")
    }
}
