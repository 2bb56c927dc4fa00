//! msmtp, as a drop-in for sendmail: the message on stdin, the server in a configuration file.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::interop::corpus::Letter;
use crate::interop::program::{Outcome, Program, Transport};
use crate::interop::site::{HOST, SECRET, Site, USER};
use crate::interop::tools::{apt, program, told};

use super::each::{self, Each};

pub(super) struct Msmtp;

impl Program for Msmtp {
    fn name(&self) -> &'static str {
        "msmtp"
    }

    fn version(&self) -> Result<String, String> {
        let line = told(Command::new(program("msmtp")?).arg("--version"))?;
        Ok(line.trim_start_matches("msmtp version ").to_owned())
    }

    fn run(&self, site: &Site, transport: Transport, letters: &[Letter]) -> Result<Vec<Outcome>> {
        fs::write(site.folder.join("msmtprc"), settings(site, transport))?;
        each::run(self, site, transport, letters)
    }

    fn install(&self) -> Result<()> {
        apt(&["msmtp"])
    }
}

/// It adds what it thinks is missing unless it is told not to.
fn settings(site: &Site, transport: Transport) -> String {
    let port = site.doors.sending(transport).port();
    let tls = match transport {
        Transport::Plain => "tls off\nauth off\n".to_owned(),
        _ => {
            let starttls = if transport == Transport::StartTls { "on" } else { "off" };
            let trust = site.trust.display();
            format!(
                "tls on\ntls_starttls {starttls}\ntls_trust_file {trust}\nauth plain\nuser {USER}\npassword {SECRET}\n"
            )
        }
    };
    format!(
        "defaults\nset_from_header off\nset_date_header off\nset_msgid_header off\nremove_bcc_headers off\n\
         account default\nhost {HOST}\nport {port}\n{tls}"
    )
}

impl Each for Msmtp {
    fn call(&self, site: &Site, _: Transport, letter: &Letter, _: &Path) -> Result<Command> {
        let mut command = Command::new("msmtp");
        command.arg("-C").arg(site.folder.join("msmtprc")).args(["-f", &letter.from, "--", &letter.to]);
        Ok(command)
    }

    /// It makes every LF an end of line, and gives none to a message of no octets.
    fn claim(&self, _: &Site, letter: &Letter, _: &Path) -> Result<Vec<u8>> {
        Ok(if letter.has.empty { Vec::new() } else { letter.crlf() })
    }
}
