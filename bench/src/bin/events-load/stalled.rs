//! A client that asks for events and never reads: it watches as many mailboxes as it may, with as little room as the
//! system gives it.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::future::join_all;
use postkeep_bench::Wire;
use postkeep_bench::door::source;
use socket2::SockRef;
use tokio::net::TcpSocket;

use crate::Plan;

/// The default of `events.mailboxes_max`.
const MAILBOXES: usize = 16;
const ROOM: u32 = 4_096;
/// With small segments the server's side of the connection has little room too; on loopback it would take megabytes.
const SEGMENT: u32 = 536;
const PER_ADDRESS: usize = 400;

/// Connect and ask, and no more.
pub(crate) async fn open(plan: &Plan, number: usize) -> Result<Wire> {
    let door = plan.site.door(number);
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(ROOM)?;
    SockRef::from(&socket).set_tcp_mss(SEGMENT)?;
    // Not from the addresses of the good ones.
    socket.bind(SocketAddr::new(IpAddr::V4(source(number + 100_000, PER_ADDRESS)), 0))?;
    let stream = socket.connect(door.to).await.with_context(|| format!("stalled {number}"))?;
    let mut wire = Wire::plain(stream);
    let names = (0..MAILBOXES.min(plan.mailboxes))
        .map(|place| format!("mailbox={}", Plan::mailbox((number * MAILBOXES + place) % plan.mailboxes)));
    let path = format!("/api/v2/events?{}", names.collect::<Vec<_>>().join("&"));
    wire.send(format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", door.to).as_bytes()).await?;
    Ok(wire)
}

/// How many of them the server has ended, looking for so long; what they were sent is dropped now.
pub(crate) async fn ended(stalled: Vec<Wire>, time: Duration) -> usize {
    tokio::time::sleep(time).await;
    let looking = stalled.into_iter().map(async |mut wire| wire.closed_within(Duration::from_secs(2)).await);
    join_all(looking).await.into_iter().filter(|ended| *ended).count()
}
