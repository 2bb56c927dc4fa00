//! The smallest SMTP client that can carry any octets: one letter by BDAT, without TLS and without AUTH. With it letters
//! are put in place for programs that read.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Result, ensure};

use super::corpus::Letter;

const PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Wire(BufReader<TcpStream>);

impl Wire {
    pub(super) fn open(door: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(door)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut wire = Self(BufReader::new(stream));
        wire.expect("220")?;
        wire.say("EHLO client.interop.test\r\n", "250")?;
        Ok(wire)
    }

    pub(super) fn send_letter(&mut self, letter: &Letter) -> Result<()> {
        let utf8 = if letter.has.utf8 { " SMTPUTF8" } else { "" };
        self.say(&format!("MAIL FROM:<{}> BODY=8BITMIME{utf8}\r\n", letter.from), "250")?;
        self.say(&format!("RCPT TO:<{}>\r\n", letter.to), "250")?;
        write!(self.0.get_mut(), "BDAT {} LAST\r\n", letter.raw.len())?;
        self.0.get_mut().write_all(&letter.raw)?;
        self.expect("250")?;
        self.say("QUIT\r\n", "221")
    }

    fn say(&mut self, line: &str, code: &str) -> Result<()> {
        self.0.get_mut().write_all(line.as_bytes())?;
        self.expect(code)
    }

    fn expect(&mut self, code: &str) -> Result<()> {
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line)?;
            ensure!(line.starts_with(code), "{code} was expected, and {line:?} came");
            if line.as_bytes().get(3) != Some(&b'-') {
                return Ok(());
            }
        }
    }
}
