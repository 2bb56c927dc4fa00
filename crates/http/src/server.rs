//! Connections in, until the stop: HTTP/1 only, in the clear and under TLS. HTTP/2 is not offered (T061).

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use mailroom::Mailroom;
use net::{Accepted, Hall, Listener, Phase, Stop};

use crate::asked::Peer;
use crate::connection::{Clock, Late, Pulse, Socket};
use crate::counters::Render;
use crate::door::Door;
use crate::host::Scheme;
use crate::page::Page;
use crate::settings::Settings;
use crate::shared::Shared;

/// What a client reads when there is no place for its connection.
const TURNED_AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n\
    Content-Length: 138\r\nRetry-After: 2\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n\
    {\"type\":\"urn:postkeep:problem:overloaded\",\"title\":\"Overloaded\",\"status\":503,\
    \"detail\":\"Too many connections are open. Try again shortly.\"}\n";
/// What a client reads that was too slow to say what it wants.
const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
/// The parser's least buffer.
const BUFFER_MIN: usize = 8 << 10;

/// What all connections share.
pub struct Server {
    shared: Arc<Shared>,
}

impl Server {
    /// A server in front of a mailroom, until the stop, which shows this page, and tells the program's counters if it is
    /// given any.
    pub fn new(
        settings: Arc<Settings>,
        mailroom: Arc<Mailroom>,
        stop: Stop,
        page: Page,
        counters: Option<Render>,
    ) -> Self {
        let mut shared = Shared::new(settings, mailroom, stop, page);
        shared.counters = counters;
        Self::over(shared)
    }

    /// Forget the addresses that have been quiet: to be called now and then.
    pub fn forget_idle(&self) {
        self.shared.forget_idle();
    }

    pub(crate) fn over(shared: Shared) -> Self {
        Self { shared: Arc::new(shared) }
    }
}

/// Serve until the stop. On draining every connection ends with the answer it is at; on ending, at once.
pub async fn serve(listener: Listener, server: Arc<Server>, hall: Arc<Hall>) {
    let stop = hall.stop.clone();
    net::serve(listener, hall, TURNED_AWAY, move |accepted| {
        serve_one(accepted, Arc::clone(&server.shared), stop.clone())
    })
    .await;
}

async fn serve_one(accepted: Accepted, shared: Arc<Shared>, stop: Stop) {
    let Accepted { stream, peer: ip, secured, slot: _slot } = accepted;
    let peer = Peer { ip, scheme: if secured.is_some() { Scheme::Https } else { Scheme::Http } };
    let pulse = Pulse::new();
    let mut clock = Clock::new(pulse.clone(), &shared.settings);
    let builder = builder(&shared.settings);
    let socket = TokioIo::new(Socket { stream, pulse: pulse.clone() });
    let mut connection = builder.serve_connection(socket, Door { shared, peer, pulse: pulse.clone() });
    let (mut draining, mut ending) = (pin!(reached(&stop, Phase::Draining)), pin!(reached(&stop, Phase::Ending)));
    let mut told = false;
    let late = loop {
        tokio::select! {
            // First the connection: what it does decides how long may be waited for it.
            biased;
            ended = poll_fn(|context| connection.poll_without_shutdown(context)) => match ended {
                Ok(()) => break None,
                // A request that could not be read was answered too; who sent it may still be sending.
                Err(error) => {
                    tracing::debug!(?peer, %error, "a connection broke");
                    break None;
                }
            },
            late = poll_fn(|context| clock.poll_late(context)) => break Some(late),
            () = &mut draining, if !told => {
                told = true;
                std::pin::Pin::new(&mut connection).graceful_shutdown();
            }
            () = &mut ending, if told => return,
        }
    };
    let parts = connection.into_parts();
    let mut stream = parts.io.into_inner().stream;
    if let (None, Some(talk)) = (late, pulse.talk()) {
        // Not in the task itself, where every connection would carry it.
        return Box::pin(talk.run(stream, parts.read_buf, stop)).await;
    }
    match late {
        None => net::linger(stream, stop).await,
        Some(Late::Head) => stream.offer(TOO_SLOW),
        Some(Late::Silent) => {}
    }
}

fn builder(settings: &Settings) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .header_read_timeout(None)
        .max_header_size(settings.header_max.max(BUFFER_MIN))
        .max_buf_size(settings.header_max.max(BUFFER_MIN));
    builder
}

fn reached(stop: &Stop, phase: Phase) -> impl Future<Output = ()> + use<> {
    let mut stop = stop.clone();
    async move { stop.reached(phase).await }
}
