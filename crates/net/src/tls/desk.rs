//! Where handshakes are made: a thread with an event loop of its own, which gives way to all others.

use std::io;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::ahead::Ahead;
use crate::stream::Raw;

/// A thread that makes handshakes.
#[derive(Debug)]
pub(super) struct Desk {
    runtime: Handle,
    /// Dropping it ends the thread.
    _open: oneshot::Sender<()>,
}

/// Ends a handshake that nobody waits for any more.
struct Awaited<T>(JoinHandle<T>);

impl<T> Drop for Awaited<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Desk {
    pub(super) fn open() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (open, closed) = oneshot::channel::<()>();
        thread::Builder::new().name("handshakes".into()).spawn(move || {
            give_way();
            // It ends with an error when the sender is dropped, which is what is waited for.
            let _ = runtime.block_on(closed);
        })?;
        Ok(Self { runtime: handle, _open: open })
    }

    /// Make a handshake here, and bring the connection back to the event loop of whoever waits.
    pub(super) async fn run(&self, mut raw: Raw, acceptor: TlsAcceptor) -> io::Result<Box<TlsStream<Ahead>>> {
        raw.loosen()?;
        let handshake = self.runtime.spawn(async move {
            raw.settle()?;
            let mut stream = acceptor.accept(Ahead::new(raw)).await?;
            stream.get_mut().0.raw().loosen()?;
            io::Result::Ok(Box::new(stream))
        });
        let mut handshake = Awaited(handshake);
        let mut stream = (&mut handshake.0).await.map_err(io::Error::other)??;
        stream.get_mut().0.raw().settle()?;
        Ok(stream)
    }
}

/// Sessions that run come before those that begin.
#[cfg(target_os = "linux")]
fn give_way() {
    const NICE: i32 = 10;
    // Without it all is well but for a storm.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
}

#[cfg(not(target_os = "linux"))]
fn give_way() {}
