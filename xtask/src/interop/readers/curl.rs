//! curl, which prints a message as it comes over the wire, dots undone.

use std::fs;
use std::process::Command;

use anyhow::Result;

use super::{Ends, Errand, Reader, Then, files, version_word};
use crate::interop::program::Transport;
use crate::interop::site::{HOST, SECRET};

pub(super) struct Curl;

impl Reader for Curl {
    const NAME: &'static str = "curl-pop3";
    const PACKAGES: &'static [&'static str] = &["curl"];
    const ENDS: Ends = Ends::CrLf;
    const REMEMBERS: bool = false;

    fn version(&self) -> Result<String, String> {
        version_word(Command::new("curl").arg("--version"), 1)
    }

    fn fetch(&self, errand: &Errand<'_>) -> Result<Vec<Vec<u8>>> {
        let folder = errand.folder.join("stored");
        fs::create_dir(&folder)?;
        let output = folder.join("#1").display().to_string();
        errand.run(curl(errand).arg(url(errand, &format!("[1-{}]", errand.count))).args(["-o", &output]))?;
        if errand.then == Then::Delete {
            errand.run(&mut deletions(errand))?;
        }
        files(&folder)
    }
}

fn curl(errand: &Errand<'_>) -> Command {
    let mut command = Command::new("curl");
    command.arg("-q");
    options(&mut command, errand);
    command
}

/// What stands before each address.
fn options(command: &mut Command, errand: &Errand<'_>) {
    command.args(["-sS", "--fail-early", "--user", &format!("{}:{SECRET}", errand.user)]);
    command.arg("--cacert").arg(errand.trust());
    if errand.transport == Transport::StartTls {
        command.arg("--ssl-reqd");
    }
}

fn url(errand: &Errand<'_>, message: &str) -> String {
    let scheme = if errand.transport == Transport::Tls { "pop3s" } else { "pop3" };
    format!("{scheme}://{HOST}:{}/{message}", errand.port())
}

/// One command for each message over one connection. Without `--head` it would wait for an answer of several lines.
fn deletions(errand: &Errand<'_>) -> Command {
    let mut command = Command::new("curl");
    command.arg("-q");
    for number in 1..=errand.count {
        if number > 1 {
            command.arg("--next");
        }
        options(&mut command, errand);
        command.args(["--head", "--request", &format!("DELE {number}")]).arg(url(errand, ""));
    }
    command
}
