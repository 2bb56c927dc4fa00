//! A raw SMTP client: bytes out, replies in.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use crate::program::PATIENCE;

/// One connection; the greeting has been read.
pub(crate) struct Smtp {
    stream: BufReader<TcpStream>,
    pub(crate) greeting: String,
}

impl Smtp {
    pub(crate) fn connect(addr: SocketAddr) -> Self {
        let mut smtp = Self::dial(addr);
        smtp.greeting = smtp.reply();
        smtp
    }

    /// A connection whose greeting has not been read.
    pub(crate) fn dial(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), greeting: String::new() }
    }

    /// A connection that has said EHLO.
    pub(crate) fn session(addr: SocketAddr) -> Self {
        let mut smtp = Self::connect(addr);
        smtp.must("250", "EHLO client.test");
        smtp
    }

    pub(crate) fn send(&mut self, raw: &[u8]) {
        self.stream.get_mut().write_all(raw).unwrap();
    }

    /// The first line, or none when the server closed without a word.
    pub(crate) fn heard(&mut self) -> Option<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line).ok().filter(|bytes| *bytes > 0).map(|_| line)
    }

    /// A whole reply, its lines joined by LF.
    pub(crate) fn reply(&mut self) -> String {
        let mut reply = String::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let text = line.strip_suffix("\r\n").unwrap_or_else(|| panic!("no reply: {reply:?} {line:?}"));
            reply.push_str(text);
            if text.as_bytes().get(3) != Some(&b'-') {
                return reply;
            }
            reply.push('\n');
        }
    }

    pub(crate) fn command(&mut self, line: &str) -> String {
        self.send(format!("{line}\r\n").as_bytes());
        self.reply()
    }

    /// A command whose reply begins so.
    pub(crate) fn must(&mut self, start: &str, line: &str) -> String {
        let reply = self.command(line);
        assert!(reply.starts_with(start), "{line}: {reply}");
        reply
    }

    /// From MAIL to the reply to DATA.
    pub(crate) fn begin(&mut self, sender: &str, recipients: &[&str]) {
        self.must("250", &format!("MAIL FROM:<{sender}>"));
        for recipient in recipients {
            self.must("250", &format!("RCPT TO:<{recipient}>"));
        }
        self.must("354", "DATA");
    }

    /// One mail; the reply to it.
    pub(crate) fn mail(&mut self, sender: &str, recipients: &[&str], message: &[u8]) -> String {
        self.begin(sender, recipients);
        self.send(&stuffed(message));
        self.reply()
    }

    /// Say that nothing follows, and read all that comes.
    pub(crate) fn finish(mut self) -> String {
        let mut rest = Vec::new();
        let _ = self.stream.get_ref().shutdown(Shutdown::Write);
        let _ = self.stream.read_to_end(&mut rest);
        String::from_utf8_lossy(&rest).into_owned()
    }
}

/// Send one mail that must be taken.
pub(crate) fn deliver(addr: SocketAddr, recipient: &str, message: &[u8]) {
    let mut smtp = Smtp::session(addr);
    let reply = smtp.mail("ann@sender.test", &[recipient], message);
    assert!(reply.starts_with("250"), "{reply}");
    smtp.must("221", "QUIT");
}

/// A small message.
pub(crate) fn message(subject: &str) -> Vec<u8> {
    format!("From: Ann <ann@sender.test>\r\nSubject: {subject}\r\n\r\nHello.\r\n").into_bytes()
}

/// As DATA carries it: dots doubled, end mark added (RFC 5321 §4.5.2).
pub(crate) fn stuffed(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 5);
    let mut line_begins = true;
    for &byte in message {
        if line_begins && byte == b'.' {
            out.push(b'.');
        }
        out.push(byte);
        line_begins = byte == b'\n';
    }
    assert!(line_begins, "a message ends with CRLF");
    out.extend_from_slice(b".\r\n");
    out
}
