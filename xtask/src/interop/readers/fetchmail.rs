//! fetchmail, which hands each message to a program and remembers by UIDL. What it is to leave on the server it fetches by
//! TOP, what it is to delete by RETR.

use std::process::Command;

use anyhow::{Result, ensure};

use super::{Ends, Errand, Reader, Then, files, pigeonhole, private, version_word, with_ended_header};
use crate::interop::corpus::Letter;
use crate::interop::program::Transport;
use crate::interop::site::{HOST, SECRET};

pub(super) struct Fetchmail;

/// Its exit code when there was nothing to fetch.
const NOTHING: i32 = 1;

impl Reader for Fetchmail {
    const NAME: &'static str = "fetchmail";
    const PACKAGES: &'static [&'static str] = &["fetchmail"];
    const ENDS: Ends = Ends::CrLf;
    const REMEMBERS: bool = true;

    fn version(&self) -> Result<String, String> {
        let word = version_word(Command::new("fetchmail").args(["-V", "-f", "/dev/null"]), 4)?;
        Ok(word.split('+').next().unwrap_or_default().to_owned())
    }

    fn fetch(&self, errand: &Errand<'_>) -> Result<Vec<Vec<u8>>> {
        let (folder, program) = pigeonhole(errand)?;
        let file = errand.folder.join("fetchmailrc");
        private(&file, &configuration(errand, &program.display().to_string()))?;
        let ended = errand.end(Command::new("fetchmail").args(["--nodetach", "--nosyslog", "-f"]).arg(&file))?;
        let code = ended.status.code();
        ensure!(matches!(code, Some(0 | NOTHING)), "it ended with {}: {}", ended.status, ended.stderr.trim());
        files(&folder)
    }

    fn claims(&self, _letter: &Letter, source: Vec<u8>) -> Vec<u8> {
        with_ended_header(source)
    }

    fn spoils(&self, letter: &Letter) -> Option<&'static str> {
        match letter.name {
            "line-100000" => Some("it breaks a line of more than 8 KiB into several"),
            "dot-is-all" => Some("in a header it leaves the dot that POP3 puts before a dot"),
            _ => None,
        }
    }
}

fn configuration(errand: &Errand<'_>, program: &str) -> String {
    let security = match errand.transport {
        Transport::Plain => "sslproto ''",
        Transport::StartTls => "sslproto 'TLS1.2+' sslcertck",
        Transport::Tls => "ssl sslcertck",
    };
    let keep = if errand.then == Then::Keep { "keep" } else { "no keep" };
    format!(
        "set idfile \"{memory}/ids\"
set pidfile \"{memory}/pid\"
set invisible
set no bouncemail
poll {HOST} port {} protocol POP3 uidl timeout 30 bad-header accept
  user \"{}\" password \"{SECRET}\" {keep} {security} sslcertfile \"{}\"
  no rewrite no mimedecode no dropstatus no dropdelivered pass8bits no stripcr
  mda \"{program}\"
",
        errand.port(),
        errand.user,
        errand.trust().display(),
        memory = errand.memory.display(),
    )
}
