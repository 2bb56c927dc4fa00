//! OpenSMTPD. It relays by DATA without pipelining, writes fields that a letter lacks, and refuses what has no header.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use super::jail::{PACKAGE, WORK};
use super::package::Package;
use super::{Agent, HOSTNAME, Onward, Route};
use crate::interop::corpus::Letter;
use crate::interop::program::Transport;
use crate::interop::site::HOST;

pub(super) struct OpenSmtpd;

/// Where it lies below its root.
const PROGRAM: &str = "usr/sbin/smtpd";
/// A line that is longer ends the connection.
const LINE_MAX: usize = 65_535;

impl Agent for OpenSmtpd {
    const PACKAGE: Package = Package("opensmtpd");
    const LMTP_STARTTLS: bool = false;

    fn configure(&self, folder: &Path, route: &Route) -> Result<String> {
        fs::write(folder.join("smtpd.conf"), configuration(route)?)?;
        Ok(format!(
            "mkdir -p /var/lib/opensmtpd/empty /var/spool/smtpd
             chmod 711 /var/spool/smtpd
             exec {PACKAGE}/{PROGRAM} -d -f {WORK}/smtpd.conf"
        ))
    }

    fn cannot(&self, letter: &Letter, _onward: &Onward) -> Option<&'static str> {
        if letter.has.nul {
            return Some("it takes a NUL for the end of a line");
        }
        if letter.raw.split(|byte| *byte == b'\n').any(|line| line.len() > LINE_MAX) {
            return Some("it takes lines of at most 65,535 octets");
        }
        letter.has.bare.then_some("its queue ends every line with LF, so one that stands alone becomes CRLF")
    }

    fn adds(&self, letter: &Letter) -> &'static [&'static str] {
        match letter.name {
            "no-header" | "empty-message" => &["Received: ", "Date: ", "Message-ID: "],
            _ => &["Received: "],
        }
    }
}

fn configuration(route: &Route) -> Result<String> {
    let Route { intake, onward, .. } = route;
    let onward = match onward {
        Onward::Smtp(port) => format!("{}://{HOST}:{port}", protocol(route.transport)),
        Onward::Lmtp(port) => format!("lmtp://{HOST}:{port}"),
        Onward::LmtpSocket(_) => bail!("it relays over LMTP to ports alone"),
    };
    Ok(format!(
        "smtp max-message-size 100M
listen on 127.0.0.1 port {intake} hostname {HOSTNAME}
action \"onward\" relay host {onward} helo {HOSTNAME}
match from any for any action \"onward\"
"
    ))
}

/// With the last two it verifies the certificate.
fn protocol(transport: Transport) -> &'static str {
    match transport {
        Transport::Plain => "smtp+notls",
        Transport::StartTls => "smtp+tls",
        Transport::Tls => "smtps",
    }
}
