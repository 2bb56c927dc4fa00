//! The client that hands letters to a relay: SMTP with DATA, and of the extensions 8BITMIME and SMTPUTF8 where the relay
//! offers them. A refusal is an answer, anything else that is unexpected an error.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use crate::interop::corpus::Letter;

const PATIENCE: Duration = Duration::from_secs(30);

/// What became of one letter.
pub(super) enum Answer {
    Taken,
    /// In the words of the relay.
    Refused(String),
}

pub(super) struct Intake {
    stream: BufReader<TcpStream>,
    eight_bit: bool,
    utf8: bool,
}

impl Intake {
    pub(super) fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let mut intake = Self { stream: BufReader::new(stream), eight_bit: false, utf8: false };
        intake.expect("220")?;
        let offered = intake.ask("EHLO client.interop.test")?.to_ascii_uppercase();
        ensure!(offered.starts_with("250"), "EHLO was answered {offered:?}");
        intake.eight_bit = offered.contains("8BITMIME");
        intake.utf8 = offered.contains("SMTPUTF8");
        Ok(intake)
    }

    pub(super) fn deliver(&mut self, letter: &Letter) -> Result<Answer> {
        if !self.utf8 && !(letter.from.is_ascii() && letter.to.is_ascii()) {
            return Ok(Answer::Refused("it does not offer SMTPUTF8".into()));
        }
        let body = if self.eight_bit && letter.has.eight_bit { " BODY=8BITMIME" } else { "" };
        let utf8 = if self.utf8 && letter.has.utf8 { " SMTPUTF8" } else { "" };
        self.ask(&format!("MAIL FROM:<{}>{body}{utf8}", letter.from)).and_then(accepted)?;
        self.ask(&format!("RCPT TO:<{}>", letter.to)).and_then(accepted)?;
        ensure!(self.ask("DATA")?.starts_with("354"), "DATA was not answered with 354");
        self.stream.get_mut().write_all(&stuffed(&letter.terminated()))?;
        let reply = self.reply()?;
        match reply.as_bytes().first() {
            Some(b'2') => Ok(Answer::Taken),
            Some(b'5') => Ok(Answer::Refused(format!("it refuses: {reply}"))),
            _ => bail!("{} was answered {reply:?}", letter.name),
        }
    }

    fn ask(&mut self, line: &str) -> Result<String> {
        self.stream.get_mut().write_all(format!("{line}\r\n").as_bytes())?;
        self.reply()
    }

    fn expect(&mut self, code: &str) -> Result<()> {
        let reply = self.reply()?;
        ensure!(reply.starts_with(code), "{code} was expected, and {reply:?} came");
        Ok(())
    }

    /// A reply of one or of several lines.
    fn reply(&mut self) -> Result<String> {
        let mut reply = String::new();
        loop {
            let begin = reply.len();
            self.stream.read_line(&mut reply)?;
            ensure!(reply.ends_with('\n'), "the relay closed the connection");
            if reply.as_bytes().get(begin + 3) != Some(&b'-') {
                return Ok(reply.trim_end().to_owned());
            }
        }
    }
}

fn accepted(reply: String) -> Result<()> {
    ensure!(reply.starts_with("250"), "the envelope was answered {reply:?}");
    Ok(())
}

/// The content with a dot before each dot that begins a line, and the final dot. RFC 5321 §4.5.2.
pub(super) fn stuffed(content: &[u8]) -> Vec<u8> {
    let mut sent = Vec::with_capacity(content.len() + 64);
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b".") {
            sent.push(b'.');
        }
        sent.extend(line);
    }
    sent.extend(b".\r\n");
    sent
}
