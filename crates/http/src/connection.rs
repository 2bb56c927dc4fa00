//! One connection and its clock: how long a client may take to send a head, to be silent, and to take its answer.
//!
//! It knows bytes and moments, and of HTTP only when a request begins, when its answer is ready, and whether more of the
//! answer is still being made. The parser's own timer would count the silence between two requests as a slow head, so
//! the clock is kept here.

use std::io;
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use net::Stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::live::monitor::Talk;
use crate::settings::Settings;

/// Bytes in a second: a client that takes its answer more slowly only holds a place.
const PACE_MIN: u128 = 8 << 10;

/// What a connection is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Nothing came yet, or a head is coming.
    Head = 0,
    /// A request is being answered; it has a time limit of its own.
    Busy = 1,
    /// An answer leaves.
    Sending = 2,
    /// Nothing is under way.
    Idle = 3,
}

/// What the clock needs to know, shared by the socket, the service and the clock. All three live in one task: the
/// atomics are for the compiler.
#[derive(Clone)]
pub(crate) struct Pulse(Arc<Beat>);

struct Beat {
    /// The stage in the lowest two bits, above them how often it changed.
    stage: AtomicU64,
    /// Bytes sent since the connection began.
    sent: AtomicU64,
    /// Whether the answer is still being made while it is sent: then silence is ours, not the client's.
    streaming: AtomicBool,
    /// Of an answer that goes on while things happen: milliseconds in which the client must take something of what is
    /// sent. 0: it is no such answer.
    patience: AtomicU64,
    /// What the connection becomes behind the answer.
    talk: Mutex<Option<Talk>>,
}

impl Pulse {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Beat {
            stage: AtomicU64::new(Stage::Head as u64),
            sent: AtomicU64::new(0),
            streaming: AtomicBool::new(false),
            patience: AtomicU64::new(0),
            talk: Mutex::default(),
        }))
    }

    /// A request has arrived.
    pub(crate) fn begin(&self) {
        self.enter(Stage::Busy);
    }

    /// Its answer is ready to leave. One whose length is not known is still being made.
    pub(crate) fn answer(&self, response: Response) -> Response {
        self.enter(Stage::Sending);
        if response.body().size_hint().exact().is_some() {
            return response;
        }
        self.0.streaming.store(true, Relaxed);
        let pulse = self.clone();
        response.map(|body| Body::new(Streamed { body, pulse }))
    }

    /// The answer goes on as long as things happen, and the connection ends with it. What is sent must be taken, some of
    /// it each time this is over.
    pub(crate) fn stay(&self, patience: Duration) {
        self.0.patience.store(u64::try_from(patience.as_millis()).unwrap_or(u64::MAX).max(1), Relaxed);
    }

    fn patience(&self) -> Option<Duration> {
        Some(self.0.patience.load(Relaxed)).filter(|patience| *patience > 0).map(Duration::from_millis)
    }

    /// The connection leaves HTTP when the answer is out.
    pub(crate) fn become_talk(&self, talk: Talk) {
        *self.0.talk.lock().unwrap_or_else(PoisonError::into_inner) = Some(talk);
    }

    /// What the connection has become.
    pub(crate) fn talk(&self) -> Option<Talk> {
        self.0.talk.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn is_streaming(&self) -> bool {
        self.0.streaming.load(Relaxed)
    }

    fn received(&self) {
        // What is sent ahead while an answer is still being made waits for its end.
        if self.stage() == Stage::Idle && !self.is_streaming() {
            self.enter(Stage::Head);
        }
    }

    fn sent(&self, bytes: usize) {
        self.0.sent.fetch_add(bytes as u64, Relaxed);
        if self.stage() == Stage::Idle {
            self.enter(Stage::Sending);
        }
    }

    fn flushed(&self) {
        if self.stage() == Stage::Sending {
            self.enter(Stage::Idle);
        }
    }

    fn enter(&self, stage: Stage) {
        let changes = (self.0.stage.load(Relaxed) >> 2).wrapping_add(1);
        self.0.stage.store(changes << 2 | stage as u64, Relaxed);
    }

    fn stage(&self) -> Stage {
        match self.0.stage.load(Relaxed) & 3 {
            0 => Stage::Head,
            1 => Stage::Busy,
            2 => Stage::Sending,
            _ => Stage::Idle,
        }
    }
}

/// The body of an answer that is made while it is sent; its end, or its being given up, is the end of that.
struct Streamed {
    body: Body,
    pulse: Pulse,
}

impl HttpBody for Streamed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Streamed {
    fn drop(&mut self) {
        self.pulse.0.streaming.store(false, Relaxed);
    }
}

/// The clock of a connection.
pub(crate) struct Clock {
    pulse: Pulse,
    alarm: Pin<Box<Sleep>>,
    /// The stage that is timed, as the pulse counts it; since when, and what was sent until then.
    timed: u64,
    since: Instant,
    sent: u64,
    head: Duration,
    answer: Duration,
    idle: Duration,
}

/// Which patience is at its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Late {
    /// A head did not arrive whole.
    Head,
    /// Nothing came, or what was sent was not taken.
    Silent,
}

impl Clock {
    pub(crate) fn new(pulse: Pulse, settings: &Settings) -> Self {
        Self {
            timed: pulse.0.stage.load(Relaxed),
            pulse,
            alarm: Box::pin(tokio::time::sleep(settings.header_timeout)),
            since: Instant::now(),
            sent: 0,
            head: settings.header_timeout,
            answer: settings.request_timeout,
            idle: settings.idle_timeout,
        }
    }

    /// Ready when the client has taken too long for what it is doing. To be asked after each step of the connection: a
    /// stage is timed from when it is first seen here, so one that has passed already costs nothing. The alarm mostly
    /// stands early enough and is moved only when it rings.
    pub(crate) fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<Late> {
        loop {
            let stage = self.pulse.stage();
            let Some(limit) = self.limit(stage) else { return Poll::Pending };
            if self.pulse.0.stage.load(Relaxed) != self.timed {
                self.restart();
            }
            let until = self.since + limit;
            if self.alarm.deadline() > until {
                self.alarm.as_mut().reset(until);
            }
            ready!(self.alarm.as_mut().poll(context));
            if Instant::now() < until {
                self.alarm.as_mut().reset(until);
            } else if stage == Stage::Sending && self.is_fair() {
                self.restart();
            } else {
                return Poll::Ready(if stage == Stage::Head { Late::Head } else { Late::Silent });
            }
        }
    }

    fn restart(&mut self) {
        self.timed = self.pulse.0.stage.load(Relaxed);
        self.since = Instant::now();
        self.sent = self.pulse.0.sent.load(Relaxed);
    }

    /// Whether the client took enough of its answer for the time that it had.
    fn is_fair(&self) -> bool {
        let bytes = self.pulse.0.sent.load(Relaxed) - self.sent;
        if self.pulse.patience().is_some() {
            return bytes > 0;
        }
        u128::from(bytes) * 1000 > PACE_MIN * self.answer.as_millis()
    }

    fn limit(&self, stage: Stage) -> Option<Duration> {
        match stage {
            Stage::Head => Some(self.head),
            Stage::Busy => None,
            Stage::Sending => Some(self.pulse.patience().unwrap_or(self.answer)),
            Stage::Idle if self.pulse.is_streaming() => None,
            Stage::Idle => Some(self.idle),
        }
    }
}

/// The socket, which tells the pulse what passes through it.
pub(crate) struct Socket {
    pub(crate) stream: Stream,
    pub(crate) pulse: Pulse,
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = into.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, into);
        if into.filled().len() > before {
            this.pulse.received();
        }
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.count(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        if flushed.is_ready() {
            this.pulse.flushed();
        }
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

impl Socket {
    fn count(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = written {
            self.pulse.sent(bytes);
        }
        written
    }
}
