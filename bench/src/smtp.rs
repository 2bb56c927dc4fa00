//! A client of SMTP over a kept connection.

use anyhow::{Context, Result, ensure};

use crate::door::{Door, Mode};
use crate::wire::Wire;

/// A client that has been greeted, has TLS where that was asked for, and has said EHLO.
#[derive(Debug)]
pub struct Client {
    /// The connection.
    pub wire: Wire,
    /// Whether commands may be sent before the replies to those before them have come.
    pipelining: bool,
}

impl Client {
    /// Open a session.
    pub async fn open(door: &Door) -> Result<Self> {
        Self::greet(door, door.open().await?).await
    }

    /// Begin a session on a connection that was just made.
    pub async fn greet(door: &Door, wire: Wire) -> Result<Self> {
        let wire = if door.mode == Mode::Upgrade { Self::upgrade(door, wire).await? } else { wire };
        let mut client = Self { wire, pipelining: false };
        if door.mode != Mode::Upgrade {
            client.expect("220").await?;
        }
        client.hello().await?;
        Ok(client)
    }

    /// From the greeting to TLS, on a connection that was just made.
    pub async fn upgrade(door: &Door, wire: Wire) -> Result<Wire> {
        let mut client = Self { wire, pipelining: false };
        client.expect("220").await?;
        client.hello().await?;
        client.command("STARTTLS", "220").await?;
        client.wire.secure(&door.tls).await
    }

    async fn hello(&mut self) -> Result<()> {
        self.wire.send(b"EHLO client.test\r\n").await?;
        let reply = self.reply().await?;
        ensure!(reply.starts_with("250"), "to EHLO: {reply}");
        self.pipelining = reply.lines().any(|line| line[4..].eq_ignore_ascii_case("PIPELINING"));
        Ok(())
    }

    /// One mail, from its MAIL to its 250. The message comes with the dot at its end, and no other line begins with one.
    pub async fn deliver(&mut self, recipient: &str, message: &[u8]) -> Result<()> {
        self.envelope(recipient).await?;
        self.wire.send(message).await?;
        self.expect("250").await.context("to the message")
    }

    /// From MAIL to the invitation to send the message.
    pub async fn envelope(&mut self, recipient: &str) -> Result<()> {
        let commands = ["MAIL FROM:<sender@client.test>\r\n", &format!("RCPT TO:<{recipient}>\r\n"), "DATA\r\n"];
        let codes = ["250", "250", "354"];
        if self.pipelining {
            self.wire.send(commands.concat().as_bytes()).await?;
        }
        for (command, code) in commands.iter().zip(codes) {
            if !self.pipelining {
                self.wire.send(command.as_bytes()).await?;
            }
            self.expect(code).await.with_context(|| format!("to {}", command.trim_end()))?;
        }
        Ok(())
    }

    /// Send a line and read its reply, which must begin with this code.
    pub async fn command(&mut self, line: &str, code: &str) -> Result<()> {
        self.wire.send(format!("{line}\r\n").as_bytes()).await?;
        self.expect(code).await.with_context(|| format!("to {line}"))
    }

    /// The next reply, its lines joined by LF.
    pub async fn reply(&mut self) -> Result<String> {
        let mut reply = String::new();
        loop {
            let line = self.wire.line().await?;
            ensure!(line.len() >= 4 && line.is_ascii(), "no reply: {line:?}");
            let last = line.as_bytes()[3] != b'-';
            reply.push_str(&line);
            if last {
                return Ok(reply);
            }
            reply.push('\n');
        }
    }

    /// The next reply must begin with this code.
    pub async fn expect(&mut self, code: &str) -> Result<()> {
        let reply = self.reply().await?;
        ensure!(reply.starts_with(code), "{reply:?} instead of {code}");
        Ok(())
    }

    /// Take leave.
    pub async fn quit(mut self) -> Result<()> {
        self.command("QUIT", "221").await
    }
}
