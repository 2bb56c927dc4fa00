//! Where a server listens and how it is spoken to there: plainly, plainly until it is asked for TLS, or with TLS from
//! the first byte.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use rustls::ClientConfig;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::Asked;
use crate::tls;
use crate::wire::{PATIENCE, Wire};

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// No TLS.
    Plain,
    /// STARTTLS, or STLS.
    Upgrade,
    /// TLS from the first byte.
    Tls,
}

impl FromStr for Mode {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "plain" => Ok(Self::Plain),
            "starttls" | "stls" => Ok(Self::Upgrade),
            "tls" => Ok(Self::Tls),
            _ => bail!("a mode is plain, starttls or tls"),
        }
    }
}

/// Where a server listens, and how to speak there.
#[derive(Debug, Clone)]
pub struct Door {
    /// Its address.
    pub to: SocketAddr,
    /// How.
    pub mode: Mode,
    /// What a client brings to a handshake.
    pub tls: Arc<ClientConfig>,
}

impl Door {
    /// `--to HOST:PORT [--mode plain|starttls|tls] [--trust FILE]`.
    pub fn asked(asked: &mut Asked) -> Result<Self> {
        let trust: Option<std::path::PathBuf> = asked.value("--trust")?;
        let mode = asked.value("--mode")?.unwrap_or(Mode::Plain);
        Ok(Self { to: asked.must("--to")?, mode, tls: tls::client(trust.as_deref())? })
    }

    /// `NAME HOST:PORT,HOST:PORT,…`: one or more without TLS, the nodes of a cluster for instance.
    pub fn several(asked: &mut Asked, name: &str) -> Result<Vec<Self>> {
        let (text, tls): (String, _) = (asked.must(name)?, tls::client(None)?);
        let door = |to: &str| Ok(Self { to: to.parse()?, mode: Mode::Plain, tls: Arc::clone(&tls) });
        text.split(',').map(door).collect::<Result<_>>().with_context(|| format!("{name} {text}"))
    }

    /// The same place, spoken to in another way.
    #[must_use]
    pub fn spoken(&self, mode: Mode) -> Self {
        Self { mode, ..self.clone() }
    }

    /// A connection, with TLS where that comes first.
    pub async fn open(&self) -> Result<Wire> {
        self.enter(self.dial(None).await?).await
    }

    /// A connection from one of many loopback addresses, so that no single one has too many.
    pub async fn open_from(&self, from: Ipv4Addr) -> Result<Wire> {
        self.enter(self.dial(Some(from)).await?).await
    }

    /// Connect, and no more.
    pub async fn dial(&self, from: Option<Ipv4Addr>) -> Result<TcpStream> {
        let socket = if self.to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        if let Some(from) = from {
            socket.bind(SocketAddr::new(IpAddr::V4(from), 0))?;
        }
        let stream = timeout(PATIENCE, socket.connect(self.to)).await.context("no connection in time")?;
        let stream = stream.with_context(|| format!("cannot connect to {}", self.to))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// What comes first on a connection that was made.
    pub async fn enter(&self, stream: TcpStream) -> Result<Wire> {
        let wire = Wire::plain(stream);
        if self.mode == Mode::Tls { wire.secure(&self.tls).await } else { Ok(wire) }
    }
}

/// One of many loopback addresses: so many connections share one.
#[must_use]
pub fn source(number: usize, per_address: usize) -> Ipv4Addr {
    let place = 2 + number / per_address;
    Ipv4Addr::new(127, 0, (place / 250) as u8, (place % 250) as u8)
}
