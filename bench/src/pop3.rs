//! A client of POP3.

use anyhow::{Context, Result, ensure};

use crate::door::{Door, Mode};
use crate::wire::Wire;

/// A client that has signed in.
#[derive(Debug)]
pub struct Client {
    /// The connection.
    pub wire: Wire,
}

impl Client {
    /// Open a session of this mailbox.
    pub async fn open(door: &Door, user: &str) -> Result<Self> {
        Self::greet(door, door.open().await?, user).await
    }

    /// Begin a session on a connection that was just made.
    pub async fn greet(door: &Door, wire: Wire, user: &str) -> Result<Self> {
        let mut client = Self { wire };
        client.positive().await?;
        if door.mode == Mode::Upgrade {
            client.command("STLS").await?;
            client.wire = client.wire.secure(&door.tls).await?;
        }
        client.command(&format!("USER {user}")).await?;
        client.command("PASS secret").await?;
        Ok(client)
    }

    /// How many messages there are.
    pub async fn count(&mut self) -> Result<usize> {
        let reply = self.command("STAT").await?;
        let count = reply.split(' ').nth(1).and_then(|number| number.parse().ok());
        count.with_context(|| format!("STAT told no number: {reply}"))
    }

    /// The whole answer to RETR, from `+OK` to the line with the dot.
    pub async fn retrieve(&mut self, number: usize) -> Result<&[u8]> {
        self.wire.send(format!("RETR {number}\r\n").as_bytes()).await?;
        let answer = self.wire.answer(b"\r\n.\r\n").await?;
        ensure!(answer.starts_with(b"+OK"), "to RETR: {}", String::from_utf8_lossy(answer));
        Ok(answer)
    }

    /// Send a line and read its one-line reply, which must be positive.
    pub async fn command(&mut self, line: &str) -> Result<String> {
        self.wire.send(format!("{line}\r\n").as_bytes()).await?;
        self.positive().await.with_context(|| format!("to {line}"))
    }

    async fn positive(&mut self) -> Result<String> {
        let line = self.wire.line().await?;
        ensure!(line.starts_with("+OK"), "{line:?} instead of +OK");
        Ok(line)
    }

    /// End the session; what was marked is deleted.
    pub async fn quit(mut self) -> Result<()> {
        self.command("QUIT").await.map(drop)
    }
}
