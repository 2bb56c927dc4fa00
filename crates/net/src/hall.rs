//! From the socket to the session: a place in the gate, a lane, the word of a proxy, the handshake.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::time::Instant;

use crate::counters::COUNTERS;
use crate::gate::{Full, Gate, Slot};
use crate::lanes::Lanes;
use crate::listener::Listener;
use crate::network::Network;
use crate::proxy;
use crate::rate::Rates;
use crate::stop::{Phase, Stop};
use crate::stream::{Raw, Stream};
use crate::tls::{Secured, Tls};

/// A proxy has so long to say whom it speaks for: it says so with its first packet.
const PROXY_TIME: Duration = Duration::from_secs(5);

/// What the listeners of one protocol share.
#[derive(Debug)]
pub struct Hall {
    /// How many may be in it.
    pub gate: Arc<Gate>,
    /// Where they are served.
    pub lanes: Arc<Lanes>,
    /// When it closes.
    pub stop: Stop,
    /// Proxies that say whom they speak for, and must.
    pub proxy_from: Vec<Network>,
    /// How often one address may come; none: as often as it likes.
    pub arrivals: Option<Arc<Rates>>,
}

/// A connection that was let in.
#[derive(Debug)]
pub struct Accepted {
    /// Its bytes; small writes leave at once.
    pub stream: Stream,
    /// The other end; none for a Unix socket.
    pub peer: Option<IpAddr>,
    /// What the handshake agreed on, when it began with one.
    pub secured: Option<Secured>,
    /// Its place; keep it as long as the connection.
    pub slot: Slot,
}

/// Why a connection is not let in.
#[derive(Debug, thiserror::Error)]
enum Away {
    #[error("too many connections: {0:?}")]
    Full(Full),
    #[error("connections come too often from there")]
    TooOften,
    #[error("what the proxy said was not understood: {0}")]
    Proxy(#[from] proxy::BadHeader),
    #[error("the handshake failed: {0}")]
    Handshake(io::Error),
    #[error("the server is being stopped")]
    Stopping,
}

impl Away {
    /// Whether there is something to be said about it to a client that hears us.
    fn is_told(&self) -> bool {
        matches!(self, Self::Full(_) | Self::TooOften)
    }

    fn count(&self) {
        let counter = match self {
            Self::Full(Full::Connections) => &COUNTERS.full,
            Self::Full(Full::PerIp) => &COUNTERS.full_per_ip,
            Self::TooOften => &COUNTERS.too_often,
            Self::Proxy(_) => &COUNTERS.bad_proxy_header,
            Self::Handshake(_) => &COUNTERS.bad_handshake,
            Self::Stopping => &COUNTERS.stopping,
        };
        counter.increment(1);
    }
}

/// A connection whose peer is known and whose handshake is done.
type Entered = (Stream, Option<IpAddr>, Option<Secured>);

/// A listener's part of what is on its way in.
struct Entrance {
    hall: Arc<Hall>,
    tls: Option<Arc<Tls>>,
    turned_away: Box<[u8]>,
}

/// Accept until the stop. Each connection that is let in runs as `handle` says, in a lane; one that is too many is sent
/// `turned_away` and closed.
pub async fn serve<F, R>(listener: Listener, hall: Arc<Hall>, turned_away: &[u8], handle: F)
where
    F: Fn(Accepted) -> R + Clone + Send + 'static,
    R: Future<Output = ()> + Send,
{
    // All of them are there to be read from the start.
    LazyLock::force(&COUNTERS);
    let mut stop = hall.stop.clone();
    let entrance = Entrance { hall, tls: listener.tls().cloned(), turned_away: turned_away.into() };
    let entrance = Arc::new(entrance);
    loop {
        let (raw, peer) = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.reached(Phase::Draining) => return,
        };
        match entrance.admit(peer) {
            Ok(slot) => settle(&entrance, raw, peer, slot, handle.clone()),
            Err(away) => {
                away.count();
                tracing::debug!(?peer, %away, "connection turned away");
                entrance.turn_away(&mut Stream::Plain(raw), &away);
            }
        }
    }
}

/// Take a connection over to its lane, whose event loop watches it from then on. It holds the lanes: they outlive the
/// listener as long as there is a connection to finish.
fn settle<F, R>(entrance: &Arc<Entrance>, mut raw: Raw, peer: Option<IpAddr>, mut slot: Slot, handle: F)
where
    F: Fn(Accepted) -> R + Send + 'static,
    R: Future<Output = ()> + Send,
{
    if raw.loosen().is_err() {
        return;
    }
    let (entrance, lanes) = (Arc::clone(entrance), Arc::clone(&entrance.hall.lanes));
    let held = Arc::clone(&lanes);
    lanes.spawn(async move {
        if raw.settle().is_ok()
            && let Some((stream, peer, secured)) = entrance.enter(raw, peer, &mut slot).await
        {
            drop(entrance);
            COUNTERS.accepted.increment(1);
            handle(Accepted { stream, peer, secured, slot }).await;
        }
        drop(held);
    });
}

impl Entrance {
    /// A place for a connection. Whom a proxy speaks for is counted when it has said so.
    fn admit(&self, peer: Option<IpAddr>) -> Result<Slot, Away> {
        let known = peer.filter(|peer| !self.is_proxy(*peer));
        let slot = self.hall.gate.admit(known).map_err(Away::Full)?;
        known.map_or(Ok(()), |peer| self.count(peer))?;
        Ok(slot)
    }

    fn is_proxy(&self, peer: IpAddr) -> bool {
        self.hall.proxy_from.iter().any(|network| network.contains(peer))
    }

    fn count(&self, peer: IpAddr) -> Result<(), Away> {
        match &self.hall.arrivals {
            Some(rates) => rates.take(peer, 1).map_err(|_| Away::TooOften),
            None => Ok(()),
        }
    }

    /// What comes before the first word of the protocol. A stop does not wait for it: nothing was promised yet.
    async fn enter(&self, raw: Raw, peer: Option<IpAddr>, slot: &mut Slot) -> Option<Entered> {
        let stream = Stream::Plain(raw);
        if self.tls.is_none() && !peer.is_some_and(|peer| self.is_proxy(peer)) {
            return Some((stream, peer, None));
        }
        let mut stop = self.hall.stop.clone();
        let entered = tokio::select! {
            entered = self.introduce(stream, peer, slot) => entered,
            () = stop.reached(Phase::Draining) => Err(Away::Stopping),
        };
        let ended = |away: &Away| {
            away.count();
            tracing::debug!(?peer, %away, "a connection ended before it began");
        };
        entered.inspect_err(ended).ok()
    }

    /// Whom the connection is from, and the handshake.
    async fn introduce(&self, mut stream: Stream, peer: Option<IpAddr>, slot: &mut Slot) -> Result<Entered, Away> {
        let named = self.name(&mut stream, peer, slot).await;
        let peer = named.inspect_err(|away| self.turn_away(&mut stream, away))?;
        match &self.tls {
            None => Ok((stream, peer, None)),
            Some(tls) => {
                let (stream, secured) = tls.accept(stream).await.map_err(Away::Handshake)?;
                Ok((stream, peer, Some(secured)))
            }
        }
    }

    /// Whom the connection is from.
    async fn name(&self, stream: &mut Stream, peer: Option<IpAddr>, slot: &mut Slot) -> Result<Option<IpAddr>, Away> {
        if !peer.is_some_and(|peer| self.is_proxy(peer)) {
            return Ok(peer);
        }
        // A proxy that looks after our health speaks for itself.
        let Some(client) = proxy::read(stream, Instant::now() + PROXY_TIME).await? else { return Ok(peer) };
        slot.count(client).map_err(Away::Full)?;
        self.count(client)?;
        Ok(Some(client))
    }

    fn turn_away(&self, stream: &mut Stream, away: &Away) {
        if away.is_told() && self.tls.is_none() {
            stream.offer(&self.turned_away);
        }
    }
}
