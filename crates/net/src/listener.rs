//! Listening sockets: bound early with a clear error, accepting whatever happens to the file table.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use crate::place::Place;
use crate::stream::Raw;
use crate::tls::Tls;
#[cfg(unix)]
use crate::unix;

/// How many connections the kernel may hold for us before they are accepted.
const BACKLOG: i32 = 4096;
/// Who may connect to a Unix socket unless it is said: its owner and the owner's group.
const SOCKET_MODE: u32 = 0o660;
/// How long accepting rests when the process is out of file descriptors or memory (T010).
const REST: Duration = Duration::from_millis(50);

/// A socket that listens.
#[derive(Debug)]
pub struct Listener {
    socket: Bound,
    /// With it a connection begins with a handshake.
    tls: Option<Arc<Tls>>,
}

#[derive(Debug)]
enum Bound {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(unix::Bound),
}

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {addr}: {}", told(source))]
pub struct Unbound {
    /// As configured.
    pub addr: String,
    /// Why.
    pub source: io::Error,
}

/// The operating system's reason in words that say what to do.
fn told(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program uses this port; stop it or choose another (port 0 takes a free one)".into()
        }
        io::ErrorKind::PermissionDenied => "ports below 1024 need a privilege; choose a higher one".into(),
        io::ErrorKind::AddrNotAvailable => "this machine has no such address".into(),
        io::ErrorKind::InvalidInput => "write it as HOST:PORT, such as 127.0.0.1:1025 or [::1]:1025".into(),
        _ => error.to_string(),
    }
}

impl Listener {
    /// Listen at every place, Unix sockets with these permissions. `[::]` takes IPv4 clients as well, unless `0.0.0.0`
    /// stands beside it with the same port.
    pub fn bind_all(places: &[Place], socket_mode: u32) -> Result<Vec<Self>, Unbound> {
        places.iter().map(|place| Self::bind_as(place, shares_port(place, places), socket_mode)).collect()
    }

    /// Listen at one place.
    pub fn bind(place: &Place) -> Result<Self, Unbound> {
        Self::bind_as(place, false, SOCKET_MODE)
    }

    fn bind_as(place: &Place, only_v6: bool, socket_mode: u32) -> Result<Self, Unbound> {
        let bound = match place {
            Place::Tcp(addr) => {
                resolve(addr).and_then(|addr| open(addr, only_v6)).and_then(TcpListener::from_std).map(Bound::Tcp)
            }
            #[cfg(unix)]
            Place::Unix(path) => unix::Bound::bind(path, socket_mode).map(Bound::Unix),
            #[cfg(not(unix))]
            Place::Unix(_) => {
                let _ = socket_mode;
                Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no Unix sockets"))
            }
        };
        match bound {
            Ok(socket) => Ok(Self { socket, tls: None }),
            Err(source) => Err(Unbound { addr: place.to_string(), source }),
        }
    }

    /// Begin every connection with a handshake.
    pub fn secured(self, tls: Arc<Tls>) -> Self {
        Self { tls: Some(tls), ..self }
    }

    /// The TLS that every connection begins with, if they do.
    pub(crate) fn tls(&self) -> Option<&Arc<Tls>> {
        self.tls.as_ref()
    }

    /// Where it listens, with the port the system chose: `127.0.0.1:1025` or `unix:/path`.
    pub fn local(&self) -> io::Result<String> {
        match &self.socket {
            Bound::Tcp(tcp) => tcp.local_addr().map(|addr| addr.to_string()),
            #[cfg(unix)]
            Bound::Unix(bound) => Ok(bound.local()),
        }
    }

    /// The address it listens on; none for a Unix socket.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        match &self.socket {
            Bound::Tcp(tcp) => tcp.local_addr().ok(),
            #[cfg(unix)]
            Bound::Unix(_) => None,
        }
    }

    /// The next connection. An error of one connection is that connection's; when the process has no room for another,
    /// the listener rests a moment and tries again, for ever.
    pub(crate) async fn accept(&self) -> (Raw, Option<IpAddr>) {
        loop {
            match self.accept_one().await {
                Ok(accepted) => return accepted,
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection now; raise the limit of open files if this goes on");
                    tokio::time::sleep(REST).await;
                }
            }
        }
    }

    async fn accept_one(&self) -> io::Result<(Raw, Option<IpAddr>)> {
        match &self.socket {
            Bound::Tcp(tcp) => {
                let (stream, peer) = tcp.accept().await?;
                // Without it a reply may wait for an acknowledgement; a socket that is gone already fails when read.
                let _ = stream.set_nodelay(true);
                Ok((Raw::Tcp(stream), Some(peer.ip().to_canonical())))
            }
            #[cfg(unix)]
            Bound::Unix(bound) => Ok((Raw::Unix(bound.accept().await?), None)),
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// Whether this is `[::]` and `0.0.0.0` with the same port is among the others.
fn shares_port(place: &Place, places: &[Place]) -> bool {
    let Some(("[::]", port)) = place.parts() else { return false };
    port != "0" && places.iter().any(|other| other.parts() == Some(("0.0.0.0", port)))
}

fn resolve(addr: &str) -> io::Result<SocketAddr> {
    addr.to_socket_addrs()?.next().ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable))
}

fn open(addr: SocketAddr, only_v6: bool) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    if addr.is_ipv6() {
        // Systems differ in what they do when nothing is said.
        socket.set_only_v6(only_v6)?;
    }
    // On Windows this option lets two programs share a port, which is the opposite of what is wanted.
    #[cfg(not(windows))]
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&addr.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests;
