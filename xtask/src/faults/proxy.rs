//! A way between nodes and a broker that can lose what the broker says: bytes go through as they come until it is told to
//! swallow those of one direction, and all connections can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;

const PATIENCE: Duration = Duration::from_secs(2);

/// The way to one broker. Its threads end with the connections, and the last with the process.
pub(super) struct Proxy {
    pub(super) address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    target: Mutex<Option<SocketAddr>>,
    /// Whether what the broker says is lost.
    deaf: AtomicBool,
    lines: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// One that leads nowhere yet.
    pub(super) fn new() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, shared) = (listener.local_addr()?, Arc::new(Shared::default()));
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A client that cannot be led on is dropped, as if nobody listened.
                let _ = own.lead(client);
            }
        });
        Ok(Self { address, shared })
    }

    pub(super) fn lead_to(&self, target: SocketAddr) {
        *self.shared.target.lock().unwrap_or_else(PoisonError::into_inner) = Some(target);
    }

    /// From now on what the broker says is lost, or is not.
    pub(super) fn swallow(&self, lost: bool) {
        self.shared.deaf.store(lost, Ordering::SeqCst);
    }

    /// End all connections.
    pub(super) fn cut(&self) {
        let mut lines = self.shared.lines.lock().unwrap_or_else(PoisonError::into_inner);
        for line in lines.drain(..) {
            // It may have ended already.
            let _ = line.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn lead(self: &Arc<Self>, client: TcpStream) -> Result<()> {
        let target = *self.target.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(target) = target else { return Ok(()) };
        let broker = TcpStream::connect_timeout(&target, PATIENCE)?;
        broker.set_nodelay(true)?;
        client.set_nodelay(true)?;
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend([client.try_clone()?, broker.try_clone()?]);
        drop(lines);
        let (up, down) = ((client.try_clone()?, broker.try_clone()?), (broker, client));
        thread::spawn(move || pump(up.0, up.1, || false));
        let own = Arc::clone(self);
        thread::spawn(move || pump(down.0, down.1, || own.deaf.load(Ordering::SeqCst)));
        Ok(())
    }
}

/// Carry bytes until either side ends; then both have.
fn pump(mut from: TcpStream, mut to: TcpStream, lost: impl Fn() -> bool) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(_) if lost() => {}
            Ok(count) => {
                if to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
        }
    }
    // They may have ended already.
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_lost_as_told_and_a_cut_ends_it() {
        let broker = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy::new().unwrap();
        proxy.lead_to(broker.local_addr().unwrap());
        let mut app = TcpStream::connect(proxy.address).unwrap();
        let (mut broker, _) = broker.accept().unwrap();
        let mut word = [0; 3];
        let mut say = |from: &mut TcpStream, to: &mut TcpStream, what: &[u8; 3]| {
            from.write_all(what).unwrap();
            to.read_exact(&mut word).unwrap();
            assert_eq!(&word, what);
        };
        say(&mut app, &mut broker, b"one");
        say(&mut broker, &mut app, b"two");
        proxy.swallow(true);
        broker.write_all(b"lost").unwrap();
        say(&mut app, &mut broker, b"yes");
        // What was lost must have been read before the next is let through.
        app.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        assert!(app.read(&mut [0; 8]).is_err());
        proxy.swallow(false);
        say(&mut broker, &mut app, b"now");
        proxy.cut();
        assert_eq!(app.read(&mut [0; 1]).unwrap(), 0);
    }
}
