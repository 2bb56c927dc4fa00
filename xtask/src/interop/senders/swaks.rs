//! swaks, the tool that people try SMTP servers with. It works on the message before it sends it; what it claims is what
//! it prints with `--dump-mail`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::interop::corpus::Letter;
use crate::interop::program::{Outcome, Program, Transport};
use crate::interop::site::{HOST, SECRET, Site, USER};
use crate::interop::tools::{apt, finish, program, told};

use super::each::{self, Each};

pub(super) struct Swaks;

impl Program for Swaks {
    fn name(&self) -> &'static str {
        "swaks"
    }

    fn version(&self) -> Result<String, String> {
        let line = told(Command::new(program("swaks")?).arg("--version"))?;
        Ok(line.trim_start_matches("swaks version ").to_owned())
    }

    fn run(&self, site: &Site, transport: Transport, letters: &[Letter]) -> Result<Vec<Outcome>> {
        each::run(self, site, transport, letters)
    }

    fn install(&self) -> Result<()> {
        apt(&["swaks", "libnet-ssleay-perl", "libauthen-sasl-perl"])
    }
}

fn message(command: &mut Command, letter: &Letter, file: &Path) {
    let data = format!("@{}", file.display());
    command.args(["--from", &letter.from, "--to", &letter.to, "--no-strip-from", "--data", &data]);
}

impl Each for Swaks {
    fn call(&self, site: &Site, transport: Transport, letter: &Letter, file: &Path) -> Result<Command> {
        let port = site.doors.sending(transport).port().to_string();
        let mut command = Command::new("swaks");
        message(&mut command, letter, file);
        command.args(["--server", HOST, "--port", &port, "--helo", "client.interop.test", "--suppress-data"]);
        if transport != Transport::Plain {
            let tls = if transport == Transport::Tls { "--tlsc" } else { "--tls" };
            command.args([tls, "--tls-verify", "--tls-ca-path"]).arg(&site.trust);
            command.args(["--auth", "LOGIN", "--auth-user", USER, "--auth-password", SECRET]);
        }
        Ok(command)
    }

    /// It prints the message with the dots that DATA needs, and without its last LF.
    fn claim(&self, site: &Site, letter: &Letter, file: &Path) -> Result<Vec<u8>> {
        let mut command = Command::new("swaks");
        message(&mut command, letter, file);
        let ended = finish(command.arg("--dump-mail"), None, &site.folder, Duration::from_secs(60))?;
        ensure!(ended.status.success(), "swaks --dump-mail failed: {}", ended.stderr);
        let mut claim = Vec::with_capacity(ended.stdout.len());
        for line in ended.stdout.split_inclusive(|byte| *byte == b'\n') {
            claim.extend(if line.starts_with(b"..") { &line[1..] } else { line });
        }
        claim.push(b'\n');
        Ok(claim)
    }

    fn cannot(&self, letter: &Letter) -> Option<&'static str> {
        match letter.name {
            "empty-message" => Some("for empty data it sends a message of its own"),
            "dot-is-all" => Some("it does not double a dot that begins the message, so DATA ends there"),
            _ => None,
        }
    }
}
