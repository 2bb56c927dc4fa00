//! getmail, which hands each message to a program and remembers by UIDL. It reads a message and writes it anew with
//! Python's `email`, so that some headers come out with the same meaning in other octets.

use std::process::Command;

use anyhow::{Result, bail, ensure};

use super::{Ends, Errand, Reader, Then, files, pigeonhole, private, version_word, with_ended_header};
use crate::interop::corpus::Letter;
use crate::interop::program::Transport;
use crate::interop::site::{HOST, SECRET};

pub(super) struct Getmail;

/// It misses the end of a program that ends before it waits for it, and gives up after its timeout. The next run goes on
/// with what is left.
const TRIES_MAX: usize = 5;

impl Reader for Getmail {
    const NAME: &'static str = "getmail";
    const PACKAGES: &'static [&'static str] = &["getmail6"];
    const ENDS: Ends = Ends::Lf;
    const REMEMBERS: bool = true;

    fn version(&self) -> Result<String, String> {
        version_word(Command::new("getmail").arg("--version"), 1)
    }

    fn refuses(&self, transport: Transport) -> Option<&'static str> {
        (transport == Transport::StartTls).then_some("it knows POP3 without TLS and over TLS, but not STLS")
    }

    fn fetch(&self, errand: &Errand<'_>) -> Result<Vec<Vec<u8>>> {
        let (folder, program) = pigeonhole(errand)?;
        let file = errand.folder.join("getmailrc");
        private(&file, &configuration(errand, &program.display().to_string()))?;
        let memory = format!("--getmaildir={}", errand.memory.display());
        for _ in 0..TRIES_MAX {
            let ended = errand.end(Command::new("getmail").arg(&memory).arg(format!("--rcfile={}", file.display())))?;
            if ended.status.success() {
                return files(&folder);
            }
            ensure!(ended.stderr.contains("timed out"), "it ended with {}: {}", ended.status, ended.stderr.trim());
        }
        bail!("it timed out {TRIES_MAX} times");
    }

    fn claims(&self, _letter: &Letter, source: Vec<u8>) -> Vec<u8> {
        with_ended_header(source)
    }

    fn spoils(&self, letter: &Letter) -> Option<&'static str> {
        match letter.name {
            "nothing-of-both" | "dot-is-all" => Some("it parts the trace from the text by an empty line"),
            "foreign-trace" => Some("it keeps one Return-Path and drops the second"),
            "folded-header" | "odd-fields" => Some("it writes one blank behind the colon of each field"),
            "utf8-address" => Some("it writes question marks for what is beyond ASCII in Return-Path"),
            "long-header" | "header-line-998" | "header-line-3000" => Some("it folds the lines of a header anew"),
            _ => None,
        }
    }
}

fn configuration(errand: &Errand<'_>, program: &str) -> String {
    let retriever = match errand.transport {
        Transport::Tls => format!("SimplePOP3SSLRetriever\nca_certs = {}", errand.trust().display()),
        _ => "SimplePOP3Retriever".to_owned(),
    };
    let delete = if errand.then == Then::Delete { "true" } else { "false" };
    format!(
        "[retriever]
type = {retriever}
server = {HOST}
port = {}
username = {}
password = {SECRET}
timeout = 5
[destination]
type = MDA_external
path = {program}
allow_root_commands = true
[options]
delivered_to = false
received = false
read_all = false
delete = {delete}
verbose = 0
",
        errand.port(),
        errand.user,
    )
}
