//! A small SMTP client that takes nothing for granted: any reply but the expected one is an error.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use socket2::{Domain, Socket, Type};

const PATIENCE: Duration = Duration::from_secs(30);

/// A connection from one of the loopback addresses; the greeting has not been read.
pub(crate) fn connect(from: Ipv4Addr, to: SocketAddr) -> Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((from, 0)).into())?;
    socket.connect_timeout(&to.into(), PATIENCE).with_context(|| format!("cannot connect from {from} to {to}"))?;
    socket.set_tcp_nodelay(true)?;
    Ok(socket.into())
}

/// One of many loopback addresses, so that no single one holds too many connections.
pub(crate) fn source(number: usize, per_address: usize) -> Ipv4Addr {
    let place = 2 + number / per_address;
    Ipv4Addr::new(127, 0, (place / 250) as u8, (place % 250) as u8)
}

/// A client that has been greeted and has said EHLO.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn open(from: Ipv4Addr, to: SocketAddr) -> Result<Self> {
        Self::named("client.test", from, to)
    }

    /// One that says this name in its EHLO.
    pub(crate) fn named(name: &str, from: Ipv4Addr, to: SocketAddr) -> Result<Self> {
        let stream = connect(from, to)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        // Lines of replies are short, and there may be thousands of clients.
        let mut client = Self { stream: BufReader::with_capacity(512, stream) };
        client.expect("220")?;
        client.command(&format!("EHLO {name}"), "250")?;
        Ok(client)
    }

    /// Send a line and read its reply, which must begin with this code.
    pub(crate) fn command(&mut self, line: &str, code: &str) -> Result<()> {
        self.send(format!("{line}\r\n").as_bytes())?;
        self.expect(code).with_context(|| format!("to {line}"))
    }

    /// One mail; `message` has CRLF at the end of each line and no line that begins with a dot.
    pub(crate) fn deliver(&mut self, recipient: &str, message: &[u8]) -> Result<()> {
        self.command("MAIL FROM:<sender@client.test>", "250")?;
        self.command(&format!("RCPT TO:<{recipient}>"), "250")?;
        self.command("DATA", "354")?;
        self.send(&[message, b".\r\n"].concat())?;
        self.expect("250").context("to the message")
    }

    /// Send a line and hand back the last line of its reply, whatever it says.
    pub(crate) fn ask(&mut self, line: &str) -> Result<String> {
        self.send(format!("{line}\r\n").as_bytes())?;
        self.reply()
    }

    /// Send bytes as they are; an error when not all of them left.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.get_mut().write_all(bytes).context("the connection broke while sending")
    }

    /// The last line of the next reply. One that is cut off is none.
    pub(crate) fn reply(&mut self) -> Result<String> {
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).context("the connection broke while a reply was due")?;
            ensure!(line.ends_with('\n'), "the connection ended while a reply was due");
            if line.as_bytes().get(3) != Some(&b'-') {
                return Ok(line.trim_end().to_owned());
            }
        }
    }

    fn expect(&mut self, code: &str) -> Result<()> {
        let line = self.reply()?;
        ensure!(line.starts_with(code), "the reply was {line:?} instead of {code}");
        Ok(())
    }
}

/// A plain message of about so many bytes.
pub(crate) fn message(subject: &str, bytes: usize) -> Vec<u8> {
    let head = format!("From: Sender <sender@client.test>\r\nTo: somebody@client.test\r\nSubject: {subject}\r\n\r\n");
    let line = "The quick brown fox jumps over the lazy dog, again and again and again.\r\n";
    let lines = bytes.saturating_sub(head.len()).div_ceil(line.len());
    [head, line.repeat(lines)].concat().into_bytes()
}
