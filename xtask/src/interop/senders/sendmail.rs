//! Our own `postkeep sendmail`, as PHP and cron call it: the message on stdin, with ends of lines as Unix has them.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::interop::corpus::Letter;
use crate::interop::program::{Outcome, Program, Transport};
use crate::interop::site::{Site, fields};

use super::each::{self, Each};

/// What it adds where it is missing, in this order.
const ADDED: [&str; 3] = ["From: ", "Date: ", "Message-ID: "];

pub(super) struct Sendmail;

impl Program for Sendmail {
    fn name(&self) -> &'static str {
        "postkeep-sendmail"
    }

    fn version(&self) -> Result<String, String> {
        Ok(env!("CARGO_PKG_VERSION").into())
    }

    fn run(&self, site: &Site, transport: Transport, letters: &[Letter]) -> Result<Vec<Outcome>> {
        each::run(self, site, transport, letters)
    }

    fn refuses(&self, transport: Transport) -> Option<&'static str> {
        (transport != Transport::Plain).then_some("it has no TLS: it is for the server on the same machine")
    }

    fn install(&self) -> Result<()> {
        Ok(())
    }
}

impl Each for Sendmail {
    fn call(&self, site: &Site, transport: Transport, letter: &Letter, _: &Path) -> Result<Command> {
        let mut command = Command::new(&site.binary);
        let server = site.doors.sending(transport).to_string();
        command.args(["sendmail", "-i", "-f", &letter.from, "-S", &server, "--", &letter.to]);
        Ok(command)
    }

    fn input(&self, letter: &Letter) -> Vec<u8> {
        let mut input = letter.raw.clone();
        input.retain(|byte| *byte != b'\r');
        input
    }

    /// To a letter without a header it says to add three fields, whose values only it knows, and an empty line before
    /// the body, if there is one.
    fn claim(&self, site: &Site, letter: &Letter, _: &Path) -> Result<Vec<u8>> {
        let claim = if letter.has.empty { Vec::new() } else { letter.crlf() };
        if claim.starts_with(b"From: ") || claim.starts_with(b"Return-Path: ") {
            return Ok(claim);
        }
        let kept = site.kept(letter)?;
        let content = kept.first().map(|kept| kept.content.as_slice()).unwrap_or_default();
        let added = &content[..fields(content, &ADDED).unwrap_or(0)];
        let empty_line: &[u8] = if claim.is_empty() || claim.starts_with(b"\r\n") { b"" } else { b"\r\n" };
        Ok([added, empty_line, &claim].concat())
    }
}
