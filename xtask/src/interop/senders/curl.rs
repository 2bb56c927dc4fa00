//! curl's SMTP.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::interop::corpus::Letter;
use crate::interop::program::{Outcome, Program, Transport};
use crate::interop::site::{HOST, SECRET, Site, USER};
use crate::interop::tools::{apt, program, told};

use super::each::{self, Each};

pub(super) struct Curl;

impl Program for Curl {
    fn name(&self) -> &'static str {
        "curl"
    }

    fn version(&self) -> Result<String, String> {
        let line = told(Command::new(program("curl")?).arg("--version"))?;
        Ok(line.split(' ').nth(1).unwrap_or_default().to_owned())
    }

    fn run(&self, site: &Site, transport: Transport, letters: &[Letter]) -> Result<Vec<Outcome>> {
        each::run(self, site, transport, letters)
    }

    fn install(&self) -> Result<()> {
        apt(&["curl"])
    }
}

impl Each for Curl {
    fn call(&self, site: &Site, transport: Transport, letter: &Letter, file: &Path) -> Result<Command> {
        let scheme = if transport == Transport::Tls { "smtps" } else { "smtp" };
        let url = format!("{scheme}://{HOST}:{}/client.interop.test", site.doors.sending(transport).port());
        let mut command = Command::new("curl");
        command.args(["--silent", "--verbose", "--url", &url, "--mail-from", &letter.from, "--mail-rcpt", &letter.to]);
        command.arg("--upload-file").arg(file);
        if transport != Transport::Plain {
            command.args(["--ssl-reqd", "--user", &format!("{USER}:{SECRET}"), "--cacert"]).arg(&site.trust);
        }
        Ok(command)
    }

    /// It ends the last line, but gives none to a message of no octets.
    fn claim(&self, _: &Site, letter: &Letter, _: &Path) -> Result<Vec<u8>> {
        Ok(if letter.has.empty { Vec::new() } else { letter.terminated() })
    }
}
