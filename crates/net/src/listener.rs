//! Listening sockets: bound early with a clear error, accepting whatever happens to the file table.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use crate::gate::{Gate, Slot};
use crate::lanes::Lanes;
use crate::stop::{Phase, Stop};

/// How many connections the kernel may hold for us before they are accepted.
const BACKLOG: i32 = 4096;
/// How long accepting rests when the process is out of file descriptors or memory (T010).
const REST: Duration = Duration::from_millis(50);

/// A socket that listens.
#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
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

/// A connection that was let in.
#[derive(Debug)]
pub struct Accepted {
    /// The socket; small writes leave at once.
    pub stream: TcpStream,
    /// The other end.
    pub peer: Option<IpAddr>,
    /// Its place; keep it as long as the connection.
    pub slot: Slot,
}

impl Listener {
    /// Listen on `HOST:PORT`.
    pub fn bind(addr: &str) -> Result<Self, Unbound> {
        let bound = resolve(addr).and_then(open).and_then(TcpListener::from_std);
        bound.map(|tcp| Self { tcp }).map_err(|source| Unbound { addr: addr.to_owned(), source })
    }

    /// Where it listens, with the port the system chose.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// The next connection. An error of one connection is that connection's; when the process has no room for another,
    /// the listener rests a moment and tries again, for ever.
    async fn accept(&self) -> (TcpStream, SocketAddr) {
        loop {
            match self.tcp.accept().await {
                Ok(accepted) => return accepted,
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection now; raise the limit of open files if this goes on");
                    tokio::time::sleep(REST).await;
                }
            }
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

fn resolve(addr: &str) -> io::Result<SocketAddr> {
    addr.to_socket_addrs()?.next().ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable))
}

fn open(addr: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    // On Windows this option lets two programs share a port, which is the opposite of what is wanted.
    #[cfg(not(windows))]
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&addr.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Accept until the stop. Each connection that the gate admits runs as `handle` says, in a lane; others are sent
/// `turned_away` and closed.
pub async fn serve<F, R>(
    listener: Listener,
    gate: Arc<Gate>,
    lanes: Arc<Lanes>,
    mut stop: Stop,
    turned_away: &[u8],
    handle: F,
) where
    F: Fn(Accepted) -> R + Clone + Send + 'static,
    R: Future<Output = ()> + Send,
{
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.reached(Phase::Draining) => return,
        };
        let peer = peer.ip().to_canonical();
        match gate.admit(Some(peer)) {
            Ok(slot) => settle(&lanes, stream, peer, slot, handle.clone()),
            Err(limit) => {
                tracing::debug!(%peer, ?limit, "connection turned away");
                // One try: a fresh socket has room for it, and nobody is waited for.
                let _ = stream.try_write(turned_away);
            }
        }
    }
}

/// Take a connection over to its lane, whose event loop watches it from then on. It holds the lanes: they outlive the
/// listener as long as there is a connection to finish.
fn settle<F, R>(lanes: &Arc<Lanes>, stream: TcpStream, peer: IpAddr, slot: Slot, handle: F)
where
    F: Fn(Accepted) -> R + Send + 'static,
    R: Future<Output = ()> + Send,
{
    // Without it a reply may wait for an acknowledgement; a socket that is gone already fails when read.
    let _ = stream.set_nodelay(true);
    let Ok(stream) = stream.into_std() else { return };
    let held = Arc::clone(lanes);
    lanes.spawn(async move {
        if let Ok(stream) = TcpStream::from_std(stream) {
            handle(Accepted { stream, peer: Some(peer), slot }).await;
        }
        drop(held);
    });
}
