//! mpop, which stores in a maildir and remembers by UIDL.

use std::fs;
use std::process::Command;

use anyhow::Result;

use super::{Ends, Errand, Reader, Then, files, private, version_word};
use crate::interop::program::Transport;
use crate::interop::site::{HOST, SECRET};

pub(super) struct Mpop;

impl Reader for Mpop {
    const NAME: &'static str = "mpop";
    const PACKAGES: &'static [&'static str] = &["mpop"];
    const ENDS: Ends = Ends::Lf;
    const REMEMBERS: bool = true;

    fn version(&self) -> Result<String, String> {
        version_word(Command::new("mpop").arg("--version"), 2)
    }

    fn fetch(&self, errand: &Errand<'_>) -> Result<Vec<Vec<u8>>> {
        let (maildir, file) = (errand.folder.join("maildir"), errand.folder.join("mpoprc"));
        for part in ["cur", "new", "tmp"] {
            fs::create_dir_all(maildir.join(part))?;
        }
        private(&file, &configuration(errand))?;
        errand.run(Command::new("mpop").arg("--quiet").arg("-C").arg(&file))?;
        files(&maildir.join("new"))
    }
}

fn configuration(errand: &Errand<'_>) -> String {
    let security = match errand.transport {
        Transport::Plain => "tls off",
        Transport::StartTls => "tls on\ntls_starttls on",
        Transport::Tls => "tls on\ntls_starttls off",
    };
    let keep = if errand.then == Then::Keep { "on" } else { "off" };
    format!(
        "account default
host {HOST}
port {}
auth user
user {}
password {SECRET}
{security}
tls_trust_file {}
delivery maildir {}
uidls_file {}
received_header off
keep {keep}
",
        errand.port(),
        errand.user,
        errand.trust().display(),
        errand.folder.join("maildir").display(),
        errand.memory.join("uidls").display(),
    )
}
